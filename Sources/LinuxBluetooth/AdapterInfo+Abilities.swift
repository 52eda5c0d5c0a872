import Bluetooth
import EventLoop
package import HCI

extension AdapterInfo {
  /// What the controller says about itself, as far as this process may ask: LE commands need CAP_NET_RAW. Nothing is asked of an adapter
  /// that is down or somebody else's.
  @LoopActor
  package func abilities() async -> ControllerInfo {
    var info = ControllerInfo()
    info.address = address
    guard problem == nil, let hci = try? HCISocket(adapter: index, tap: nil) else { return info }
    defer { hci.close() }
    func ask(_ command: HCI.Command) async -> HCI.ReturnParameters? { try? await hci.send(command, purpose: "asking what it can do") }
    if case .localVersion(let version)? = await ask(.readLocalVersion) { info.version = version }
    if case .supportedCommands(let commands)? = await ask(.readLocalSupportedCommands) { info.supported = commands }
    if case .leFeatures(let features)? = await ask(.leReadLocalSupportedFeatures) { info.leFeatures = features }
    if info.leFeatures.contains(.dataLengthExtension), info.supported.contains(.leReadMaximumDataLength),
      case .maximumDataLength(let octets, let time, _, _)? = await ask(.leReadMaximumDataLength)
    {
      info.setDataLength(octets: octets, time: time)
    }
    return info
  }
}
