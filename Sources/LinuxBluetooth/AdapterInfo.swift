package import Bluetooth
import EventLoop
package import HCI

/// A Bluetooth adapter of this machine, as the kernel lists it.
package struct AdapterInfo: Sendable, Equatable {
  /// The number N of `hciN`.
  package var index: Int
  package var name: String { "hci\(index)" }
  /// The public address of the adapter. Nil if the controller has none and uses a static random address.
  package var address: Address?
  package var isUp: Bool
  /// The bus in lower case: `usb`, `uart`, `pci`, `virtual`…
  package var bus: String
  /// Whether the controller supports Bluetooth LE according to its LMP features.
  package var le: Bool
  /// The rfkill switch that blocks the adapter, in software or hardware, or nil.
  package var block: RFKill.Switch?
  /// Whether a program owns the adapter through the HCI user channel.
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

  /// The problem that prevents use of the adapter through the kernel's stack, or nil.
  package var problem: AdapterProblem? {
    if let block { return .blocked(name, by: block) }
    if isTaken { return .taken(name) }
    if !isUp { return .down(name) }
    return le ? nil : .withoutLE(name)
  }

  /// Asks the controller for its abilities, as far as this process may. LE commands need CAP_NET_RAW. Does not ask an adapter that is
  /// down or that another program owns.
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
