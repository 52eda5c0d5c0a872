import Bluetooth
import CBluetooth
import Glibc
import LinuxIO
import SystemPackage

/// Lists the Bluetooth adapters of this machine (HCIGETDEVLIST, HCIGETDEVINFO). This needs no capability.
package enum AdapterList {
  /// Lists the adapters in the order of their numbers.
  /// - Throws: AdapterProblem if the kernel has no Bluetooth. An empty list is not an error.
  package static func adapters() throws(AdapterProblem) -> [AdapterInfo] {
    var numbers = [UInt16](repeating: 0, count: Int(HCI_MAX_DEV))
    let count: Int32
    do throws(Errno) {
      let socket = try SystemCall.socket(AF_BLUETOOTH, Int32(SOCK_RAW.rawValue), BTPROTO_HCI)
      count = try SystemCall.call { unsafe shim_adapter_numbers(socket.rawValue, &numbers) }
    } catch {
      throw AdapterProblem.of(error, adapter: "hci0", .listing)
    }
    let (switches, managed) = (RFKill(), ManagementIndexes.read())
    return numbers.prefix(Int(count)).sorted().compactMap { info($0, switches, managed) }
  }

  /// Chooses the adapter for a command.
  /// - Parameter index: N of `hciN`. Nil means the first usable adapter.
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

  /// Whether the adapter exists and is up now.
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
    let isUp = isSet(HCI_UP, device.flags)
    let isTaken = isUp && managed.map { !$0.contains(Int(number)) } ?? false
    return AdapterInfo(
      index: Int(number), address: address?.rawValue == 0 ? nil : address, isUp: isUp, bus: bus(device.type & 0x0F),
      // LE Supported (Controller), bit 38 (Vol 2 Part C §3.2).
      le: device.features.4 & 0x40 != 0, block: switches?.block(of: "hci\(number)"), isTaken: isTaken)
  }

  private static func isSet(_ flag: some BinaryInteger, _ flags: UInt32) -> Bool { flags & 1 << UInt32(flag) != 0 }

  private static func bus(_ number: UInt8) -> String {
    guard let name = unsafe hci_bustostr(Int32(number)) else { return "unknown" }
    return unsafe String(cString: name).lowercased()
  }
}
