import Bluetooth
import LEHost

extension Failure {
  init(_ error: HostError) {
    let disallowed = ControllerErrorCode.commandDisallowed
    switch error {
    case .cannotConnect(let adapter, let peer):
      self.init(
        .hci,
        "\(adapter) cannot connect to \(peer.address) now: \(disallowed). It may be scanning or connecting for another program",
        status: disallowed)
    case .hasLinkAlready(let adapter, let peer):
      self.init(.hci, "\(adapter) has a link to \(peer.address) already", status: .connectionAlreadyExists)
    case .cannotScan(let adapter, let isExtended):
      self.init(
        .hci,
        "\(adapter) cannot scan now: \(disallowed). It may be connecting, or have been used with \(isExtended ? "legacy" : "extended") "
          + "commands by another program", status: disallowed)
    }
  }
}
