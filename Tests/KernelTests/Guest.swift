import Foundation
import TestSupport

@testable import BluetoothLELinux

/// Tests against a real Linux Bluetooth kernel in the virtual machine of scripts/vm. They may use its adapters, one test at a time.
@Suite(
  .serialized, .timeLimit(.minutes(15)),
  .enabled(if: Guest.isHere, "these run in a virtual machine: scripts/test kernel"))
enum KernelTests {}

/// The virtual machine, from inside.
enum Guest {
  static let isHere = ProcessInfo.processInfo.environment["BLECTL_IN_VM"] != nil
  /// The release of the kernel, such as `6.1.0-56-amd64`.
  static let release = (try? String(contentsOfFile: "/proc/sys/kernel/osrelease", encoding: .utf8)) ?? ""

  /// Runs blectl as on the command line, on the first adapter that is up unless `-i` selects another.
  static func blectl(_ arguments: String..., input: [UInt8]? = nil) throws -> ProcessResult {
    try Blectl.run(arguments, input: input, adapter: nil, virtual: false)
  }

  static func start(_ arguments: String...) throws -> RunningProcess {
    try Blectl.start(arguments, adapter: nil, virtual: false, hasInput: false)
  }

  /// Runs another program until it exits.
  @discardableResult
  static func run(_ command: String...) throws -> ProcessResult {
    try RunningProcess.run(command)
  }

  /// Runs another program that must succeed. - Returns: Its standard output.
  @discardableResult
  static func must(_ command: String...) throws -> String {
    let result = try RunningProcess.run(command)
    guard result.status == 0 else { throw ToolFailed(description: "\(command): \(result.status) \(result.text)\(result.errors)") }
    return result.text
  }

  struct ToolFailed: Error, CustomStringConvertible { let description: String }

  /// Polls every 50 ms for a state that no program reports. The delay does not affect results.
  static func wait(for what: String, until holds: () throws -> Bool) throws {
    let deadline = Date(timeIntervalSinceNow: HangGuard.seconds)
    while try !holds() {
      guard Date() < deadline else { throw ToolFailed(description: "waited in vain for \(what)") }
      usleep(50_000)
    }
  }

  // MARK: What the controller does, asked over HCI

  /// Whether the controller scans: exactly then it refuses new scan parameters (Command Disallowed, Vol 4 Part E §7.8.10).
  static func isScanning(_ adapter: String = "hci0") throws -> Bool {
    let words = try must("hcitool", "-i", adapter, "cmd", "0x08", "0x000b", "01", "10", "00", "10", "00", "00", "00").split(
      whereSeparator: \.isWhitespace)
    guard let status = words.last, let number = UInt8(status, radix: 16), [0, 0x0C].contains(number) else {
      throw ToolFailed(description: "no status: \(words)")
    }
    return number == 0x0C
  }

  static func waitForScanning(_ wanted: Bool, _ adapter: String = "hci0") throws {
    try wait(for: "\(adapter) \(wanted ? "to scan" : "to end its scan")") { try isScanning(adapter) == wanted }
  }

  /// Returns the links of an adapter, as the kernel reports them.
  static func links(_ adapter: String = "hci0") throws -> [String] {
    try must("hcitool", "-i", adapter, "con").split(separator: "\n").filter { $0.contains("handle") }.map(String.init)
  }

  /// Expects the state that every command must leave behind: a controller that does not scan, and no link.
  static func expectQuiet(_ adapter: String = "hci0", sourceLocation: SourceLocation = #_sourceLocation) throws {
    // The kernel ends its own procedures some time after the socket has closed.
    try waitForScanning(false, adapter)
    try expectNoLink(adapter, sourceLocation: sourceLocation)
  }

  /// Waits until no link remains. Some tools leave theirs to the kernel, which keeps it for 2 s.
  static func waitForNoLink(_ adapter: String = "hci0") throws {
    try wait(for: "\(adapter) to have no link") { try links(adapter).isEmpty }
  }

  static func expectNoLink(_ adapter: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    #expect(try links(adapter) == [], sourceLocation: sourceLocation)
  }

  static func switchOn(_ adapter: String) throws { try must("hciconfig", adapter, "up") }
  static func switchOff(_ adapter: String) throws { try must("hciconfig", adapter, "down") }

  /// Switches an adapter off and on by management commands: after `hciconfig up`, it has no Security Manager.
  static func prepareKeys(of adapter: String) throws {
    for isOn in [false, true] {
      _ = ManagementChannel.ask(0x0005, adapter: try #require(UInt16(adapter.dropFirst(3))), [isOn ? 1 : 0])  // Set Powered
      try wait(for: "\(adapter) to be \(isOn ? "on" : "off")") { try must("hciconfig", adapter).contains("UP") == isOn }
    }
  }

  /// Removes the kernel's Bluetooth modules, loads them again, and makes the adapters again as scripts/parts/vm/guest did.
  static func reloadModules() throws {
    let environment = ProcessInfo.processInfo.environment
    guard let kernel = environment["VM_KERNEL"], let count = environment["VM_CONTROLLERS"].flatMap({ Int($0) }) else {
      throw ToolFailed(description: "VM_KERNEL and VM_CONTROLLERS are missing: run scripts/test kernel")
    }
    removeLock()
    removeAir()
    try must("pkill", "-x", "btvirt")
    try wait(for: "the adapters to go") { try FileManager.default.contentsOfDirectory(atPath: "/sys/class/bluetooth").isEmpty }
    try must("rmmod", "hci_vhci", "bluetooth")
    try must("modprobe", "-d", kernel, "hci_vhci")
    unsafe controllers = try RunningProcess(["btvirt", "-L", "-l\(count)"], isLimited: false)
    // `hciconfig up` before the kernel has set an adapter up would leave it half set up.
    try wait(for: "the adapters to be set up") { ManagementChannel.indexes()?.count == count }
    try switchOn("hci0")
  }

  private nonisolated(unsafe) static var controllers: RunningProcess?

  // MARK: The peripheral

  /// Returns Lock-01 on the user channel of hci1, within range of hci0. It is kept from one test to the next.
  @discardableResult
  static func lock() throws -> BumbleAir {
    let air = unsafe try lockInUse ?? BumbleAir(["--transport", "hci-socket:1"])
    unsafe lockInUse = air
    // Other tests may have switched the adapter off.
    try switchOn("hci0")
    return air
  }

  /// Removes Lock-01 from the air.
  static func removeLock() {
    guard let air = unsafe lockInUse else { return }
    try? endLinks()
    air.stop()
    unsafe lockInUse = nil
  }

  /// Ends the links of hci0 before the other end stops, including those of finished tools and failed tests. btvirt does not report that the
  /// other end stopped. A packet that is never completed would occupy its only buffer.
  static func endLinks() throws {
    try switchOff("hci0")
    try switchOn("hci0")
  }

  private nonisolated(unsafe) static var lockInUse: BumbleAir?

  /// Returns a separate adapter with Bumble's controller and Lock-01 in range. Unlike btvirt, it repeats advertisements, can tune a link,
  /// go out of range and be pulled out. It is kept from one test to the next while the options are the same.
  static func air(_ options: String...) throws -> BumbleAir {
    if let (air, old) = unsafe airInUse, old == options { return air }
    removeAir()
    let air = try BumbleAir(["--vhci"] + options)
    unsafe airInUse = (air, options)
    // The kernel sets the adapter up first.
    try wait(for: "\(air.adapter) to be set up") { try run("hciconfig", air.adapter, "up").status == 0 }
    return air
  }

  static func removeAir() {
    unsafe airInUse?.0.stop()
    unsafe airInUse = nil
  }

  private nonisolated(unsafe) static var airInUse: (BumbleAir, [String])?
}
