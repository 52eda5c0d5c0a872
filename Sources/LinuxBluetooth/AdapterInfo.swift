package import Bluetooth
import EventLoop
package import HCI

/// One radio of this machine as the kernel lists it.
package struct AdapterInfo: Sendable, Equatable {
  /// `hciN`.
  package var index: Int
  package var name: String { "hci\(index)" }
  /// Public address; nil when the controller has none (it then uses a static random one).
  package var address: Address?
  package var isUp: Bool
  /// Lower case: `usb`, `uart`, `pci`, `virtual`…
  package var bus: String
  /// Whether the controller can do Bluetooth LE, as far as its LMP features tell.
  package var le: Bool
  /// What has switched it off, in software or in hardware; nil when nothing has.
  package var block: RFKill.Switch?
  /// A program owns it through the HCI user channel.
  package var isTaken: Bool

  package init(index: Int, address: Address?, isUp: Bool, bus: String, le: Bool, block: RFKill.Switch? = nil, isTaken: Bool = false) {
    self.index = index
    self.address = address
    self.isUp = isUp
    self.bus = bus
    self.le = le
    self.block = block
    self.isTaken = isTaken
  }

  /// What keeps the adapter from being used through the kernel's stack; nil when nothing does.
  package var problem: AdapterProblem? {
    if let block { return .blocked(name, by: block) }
    if isTaken { return .taken(name) }
    if !isUp { return .down(name) }
    return le ? nil : .withoutLE(name)
  }

  /// Asks the controller what it supports, as far as this process may: LE commands need CAP_NET_RAW. Asks nothing of an adapter that is
  /// down or taken by another program.
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
