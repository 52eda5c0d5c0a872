import Bluetooth
import LEHost

extension Failure {
  init(_ error: HostError) {
    let disallowed = ControllerErrorCode.commandDisallowed
    let reason = "\(disallowed.name) (\(disallowed.tag))"
    switch error {
    case .cannotConnect(let adapter, let peer):
      self.init(
        .hci,
        "\(adapter) cannot connect to \(peer.address) now: \(reason). Another program may be scanning or connecting with it",
        status: disallowed)
    case .hasLinkAlready(let adapter, let peer):
      self.init(.hci, "\(adapter) is already connected to \(peer.address)", status: .connectionAlreadyExists)
    case .cannotScan(let adapter, let isExtended):
      self.init(
        .hci,
        "\(adapter) cannot scan now: \(reason). It may be connecting, or another program may have sent it "
          + "\(isExtended ? "legacy" : "extended") commands.", status: disallowed)
    }
  }
}
