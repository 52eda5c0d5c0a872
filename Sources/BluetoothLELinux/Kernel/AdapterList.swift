import CBluetoothLEBlueZ
import Glibc
import SystemPackage

/// Lists the Bluetooth adapters of this machine (HCIGETDEVLIST, HCIGETDEVINFO). Listing needs no capability.
package enum AdapterList {
  /// Lists the adapters in the order of their numbers.
  /// - Throws: AdapterProblem if the kernel has no Bluetooth. An empty list is not an error.
  package static func adapters() throws(AdapterProblem) -> [AdapterInfo] {
    var numbers = [UInt16](repeating: 0, count: Int(HCI_MAX_DEV))
    let count: Int32
    do throws(Errno) {
      let socket = try SystemCall.hciSocket()
      count = try SystemCall.call { unsafe shim_adapter_numbers(socket.rawValue, &numbers) }
    } catch {
      throw AdapterProblem.of(error, adapter: "hci0", .listing)
    }
    let (switches, managed) = (RFKill(), ManagementChannel.indexes())
    return numbers.prefix(Int(count)).sorted().compactMap { info($0, switches, managed) }
  }

  /// Chooses the adapter for a command.
  /// - Parameter index: The number N of `hciN`. Nil means the first usable adapter.
  /// - Throws: The problem of the requested adapter, or of the first adapter.
  package static func choose(_ index: Int?) throws(AdapterProblem) -> AdapterInfo { try choose(index, from: try adapters(), RFKill()) }

  static func choose(_ index: Int?, from all: [AdapterInfo], _ switches: RFKill) throws(AdapterProblem) -> AdapterInfo {
    guard let index else {
      if let usable = all.first(where: { $0.problem == nil }) { return usable }
      throw all.first?.problem ?? .none(platformBlock: switches.platformBlock)
    }
    guard let adapter = all.first(where: { $0.index == index }) else {
      throw AdapterProblem.unknown("hci\(index)", others: all.map(\.name))
    }
    if let problem = adapter.problem { throw problem }
    return adapter
  }

  /// Returns whether the adapter exists and is up now.
  static func isUp(_ index: Int) -> Bool {
    guard let number = UInt16(exactly: index) else { return false }
    return info(number)?.isUp == true
  }

  private static func info(_ number: UInt16, _ switches: RFKill? = nil, _ managed: Set<Int>? = nil) -> AdapterInfo? {
    var device = hci_dev_info()
    // It fails for an adapter that was unplugged since it was listed.
    guard unsafe hci_devinfo(Int32(number), &device) >= 0 else { return nil }
    // Primary controllers only. AMP controllers, which old kernels also list, are different radios.
    guard device.type >> 4 & 3 == 0 else { return nil }
    let address = unsafe withUnsafeBytes(of: device.bdaddr) { unsafe Address(bigEndian: $0.reversed()) }
    let isUp = device.flags & 1 << UInt32(HCI_UP) != 0
    let isTaken = isUp && managed.map { !$0.contains(Int(number)) } ?? false
    return AdapterInfo(
      index: Int(number), address: address?.rawValue == 0 ? nil : address, isUp: isUp, bus: bus(device.type & 0x0F),
      // LE Supported (Controller), bit 38 (Vol 2 Part C §3.2).
      le: device.features.4 & 0x40 != 0, block: switches?.block(of: "hci\(number)"), isTaken: isTaken)
  }

  private static func bus(_ number: UInt8) -> String {
    guard let name = unsafe hci_bustostr(Int32(number)) else { return "unknown" }
    return unsafe String(cString: name).lowercased()
  }
}

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
  /// The rfkill switch that blocks the adapter, in software or hardware. Nil if no switch blocks it.
  package var block: RFKill.Switch?
  /// Whether a program owns the adapter through the HCI user channel.
  package var isTaken = false

  /// The problem that prevents use of the adapter through the kernel's stack. Nil if the adapter is usable.
  package var problem: AdapterProblem? {
    if let block { return .blocked(name, by: block) }
    if isTaken { return .taken(name) }
    if !isUp { return .down(name) }
    return le ? nil : .withoutLE(name)
  }

  /// Asks the controller for its version, commands, LE features and data length. LE commands need CAP_NET_RAW.
  /// Returns only the address if the adapter is down or another program owns it.
  @LoopActor
  package func abilities() async -> ControllerInfo {
    var info = ControllerInfo()
    info.address = address
    guard problem == nil, let hci = try? HCISocket(adapter: index, tap: nil) else { return info }
    defer { hci.close() }
    func ask<C: Command>(_ command: C) async -> C.Return? { try? await hci.send(command, for: .askingAbilities) }
    info.version = await ask(ReadLocalVersion())
    if let returned = await ask(ReadLocalSupportedCommands()) { info.supported = returned.commands }
    if let returned = await ask(LEReadLocalSupportedFeatures()) { info.leFeatures = returned.features }
    if info.leFeatures.contains(.dataLengthExtension), info.supported.contains(LEReadMaximumDataLength.self),
      let most = await ask(LEReadMaximumDataLength())
    {
      info.setDataLength(bytes: most.txOctets, time: most.txTime)
    }
    return info
  }
}

/// A connection of a kernel adapter, which any program may have opened.
package struct AdapterLink: Hashable, Sendable {
  package let address: Address
  /// The type of the peer's address. Nil without CAP_NET_ADMIN, because the kernel then does not report it.
  package let type: AddressType?
}

extension AdapterInfo {
  /// Lists the LE links of this adapter through the management channel, which needs CAP_NET_ADMIN.
  /// Without an answer, this function uses HCIGETCONNLIST, which reports no address types.
  /// - Throws: AdapterProblem.
  package func links() throws(AdapterProblem) -> [AdapterLink] {
    let links =
      if let peers = ManagementChannel.connections(of: index) {
        peers.map { AdapterLink(address: $0.address, type: $0.type) }
      } else {
        try listed().map { AdapterLink(address: $0, type: nil) }
      }
    return links.sorted { $0.address.rawValue < $1.address.rawValue }
  }

  private func listed() throws(AdapterProblem) -> [Address] {
    var addresses = [bdaddr_t](repeating: bdaddr_t(), count: 64)
    do throws(Errno) {
      let socket = try SystemCall.hciSocket()
      let count = try SystemCall.call { unsafe shim_le_links(socket.rawValue, UInt16(clamping: index), &addresses, Int32(addresses.count)) }
      return addresses.prefix(Int(count)).compactMap { unsafe withUnsafeBytes(of: $0) { unsafe Address(bigEndian: $0.reversed()) } }
    } catch {
      throw AdapterProblem.of(error, adapter: name, .listing)
    }
  }
}

extension AdapterInfo {
  /// Lists the devices that the kernel connects to when it receives their advertisements, because a program asked for it (Add Device).
  /// Reads the adapter's device_list in debugfs, which only root may do.
  /// - Parameter folder: The debugfs folder, which tests replace.
  /// - Returns: Nil if this process cannot read the list.
  package func autoConnections(folder: String = "/sys/kernel/debug/bluetooth") -> [PeerAddress]? {
    SmallFile.text(of: "\(folder)/\(name)/device_list", limit: 1 << 18).map { Self.autoConnections($0) }
  }

  /// Parses lines such as `C0:FF:EE:00:00:07 (type 1) 3`. Ignores lines of BR/EDR devices, which have no number at the end.
  static func autoConnections(_ list: String) -> [PeerAddress] {
    list.split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      guard words.count == 4, words[1] == "(type", let address = Address(String(words[0])), let action = Int(words[3]) else { return nil }
      // HCI_AUTO_CONN_DIRECT, HCI_AUTO_CONN_ALWAYS, HCI_AUTO_CONN_LINK_LOSS of the kernel's hci_core.h.
      guard (2...4).contains(action) else { return nil }
      return PeerAddress(address, words[2] == "0)" ? .public : .random)
    }
  }
}

extension AdapterInfo {
  /// Whether the kernel has a Security Manager for the adapter. Without one, it neither pairs nor encrypts: `hciconfig up` may leave that.
  /// Reads the L2CAP channels of all adapters in debugfs, which only root may do.
  /// - Parameter folder: The debugfs folder, which tests replace.
  /// - Returns: Nil if this process cannot read the channels, or the adapter has no public address.
  package func hasSecurityManager(folder: String = "/sys/kernel/debug/bluetooth") -> Bool? {
    SmallFile.text(of: "\(folder)/l2cap", limit: 1 << 18).flatMap { hasSecurityManager(among: $0) }
  }

  /// Parses lines such as `00:AA:01:00:00:00 (1) 00:00:00:00:00:00 (0) 4 0 0x0006 0x0000 672 672 1 0`: source and its type, destination and
  /// its type, state (4: listens), PSM, source channel (6: Security Manager), and others.
  func hasSecurityManager(among channels: String) -> Bool? {
    guard let address else { return nil }
    return channels.split(separator: "\n").contains { line in
      let words = line.split(separator: " ")
      return words.count > 6 && words[4] == "4" && words[6] == "0x0006" && Address(String(words[0])) == address
    }
  }
}

extension AdapterInfo {
  /// Returns the Wi-Fi radio of the same USB device, as an interface (`wlan0`) or a radio without an interface (`phy0`).
  /// Nil if the adapter is not on USB or its USB device has no Wi-Fi radio.
  /// - Parameter folder: The folder of device classes, which tests replace.
  package func wifiOfSameDevice(folder: String = "/sys/class") -> String? {
    guard bus == "usb", let own = Self.parent("\(folder)/bluetooth/\(name)/device") else { return nil }
    for entry in FolderNames.list("\(folder)/ieee80211", home: nil).sorted() {
      let phy = entry.hasSuffix("/") ? String(entry.dropLast()) : entry
      let device = "\(folder)/ieee80211/\(phy)/device"
      guard Self.parent(device) == own else { continue }
      return FolderNames.list("\(device)/net", home: nil).sorted().first.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 } ?? phy
    }
    return nil
  }

  /// Returns the path of the USB device to which an interface belongs. Nil if `path` does not exist.
  private static func parent(_ path: String) -> String? {
    guard let whole = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(whole) }
    return unsafe String(cString: whole).split(separator: "/").dropLast().joined(separator: "/")
  }
}
