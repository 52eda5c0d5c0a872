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
    func ask<C: HCI.Command>(_ command: C) async -> C.Return? { try? await hci.send(command, for: .askingAbilities) }
    info.version = await ask(ReadLocalVersion())
    if let returned = await ask(ReadLocalSupportedCommands()) { info.supported = returned.commands }
    if let returned = await ask(LEReadLocalSupportedFeatures()) { info.leFeatures = returned.features }
    if info.leFeatures.contains(.dataLengthExtension), info.supported.contains(LEReadMaximumDataLength.self),
      let most = await ask(LEReadMaximumDataLength())
    {
      info.setDataLength(octets: most.txOctets, time: most.txTime)
    }
    return info
  }
}
