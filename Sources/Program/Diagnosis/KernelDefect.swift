/// A bug in a range of kernel versions that affects blectl's commands. A distribution may have fixed the bug in its own kernel.
struct KernelDefect: Sendable {
  /// The affected versions of kernel.org. Each range ends before the first version with a fix or the first unknown version.
  let versions: [Range<KernelVersion>]
  let what: String
  /// The workaround for the user, as sentences.
  let advice: String
  /// The address of the bug report, or the test that found the bug.
  let source: String
  /// A function that returns whether the bug can occur on this machine.
  var concerns: @Sendable (Examination) -> Bool = { _ in true }

  private static let realtek: UInt16 = 0x005D

  static func of(_ version: KernelVersion, _ examination: Examination) -> [KernelDefect] {
    all.filter { defect in defect.versions.contains { $0.contains(version) } && defect.concerns(examination) }
  }

  static let all = [
    KernelDefect(
      versions: ["4.0"..<"6.2"],
      what: "it connects at 1M only, even if the device asks for 2M",
      advice: "For speed, use --phy 2m.", source: "github.com/bluez/bluez/issues/931",
      concerns: { $0.found.contains { $0.features.contains("2m") } }),
    KernelDefect(
      versions: ["6.1"..<"6.2"],
      what: "Bluetooth may hang after the device disconnects (in hci_chan_del)",
      advice: "If it does, restart the machine. -i user:N avoids that part of the kernel.",
      source: "tests of blectl on Debian's 6.1.192"),
    KernelDefect(
      versions: ["5.17"..<"6.0"],
      what: "a failed connection may corrupt the list of connections (dmesg: list_del corruption; seen with 5.17.7)",
      advice: "If it does, restart the machine and install a newer kernel.", source: "github.com/bluez/bluez/issues/340"),
    KernelDefect(
      versions: ["6.18.45"..<"6.19", "7.1.9"..<"7.2", "7.2"..<"7.3"],
      what: "dongles with Realtek's RTL8761B may hang and reset when a scan ends (dmesg: command 0x200c tx timeout)",
      advice: "Use -i user:N, or an older kernel.", source: "github.com/bluez/bluetooth-next/pull/637",
      concerns: { $0.found.contains { $0.manufacturer == realtek } }),
    KernelDefect(
      versions: ["6.15"..<"7.3"],
      what: "connecting to a paired device may fail after a long time",
      advice: "If it does, connect while `bluetoothctl scan on` runs.", source: "github.com/bluez/bluez/issues/2503",
      concerns: { !$0.daemons.isEmpty }),
  ]
}

/// A version of Linux, such as `6.1.192`.
struct KernelVersion: Comparable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
  private let numbers: [Int]

  /// Parses the version of kernel.org on which a distribution's kernel is based. Nil if `release` is not a version.
  /// - Parameters:
  ///   - release: /proc/sys/kernel/osrelease (`6.1.0-27-amd64`). Distributions leave the last number at 0.
  ///   - version: /proc/sys/kernel/version, which is exact on Debian (`#1 SMP PREEMPT_DYNAMIC Debian 6.1.115-1 (2024-11-01)`).
  ///   - signature: /proc/version_signature, which is exact on Ubuntu (`Ubuntu 6.8.0-52.53-generic 6.8.12`).
  init?(release: String, version: String = "", signature: String = "") {
    guard let plain = Self.numbers(release[...]) else { return nil }
    let debian = version.split(separator: " ").drop { $0 != "Debian" }.dropFirst().first.map { String($0) }
    let exact = [debian, signature.split(separator: " ").last.map { String($0) }].compactMap { $0.flatMap { Self.numbers($0[...]) } }
    numbers = exact.first { $0.prefix(2) == plain.prefix(2) } ?? plain
  }

  init(stringLiteral text: String) { numbers = Self.numbers(text[...]) ?? [0, 0, 0] }

  /// Returns the first three numbers of a version at the start of a text. Nil if the text starts with fewer than two numbers.
  private static func numbers(_ text: Substring) -> [Int]? {
    let parts = text.prefix { $0 == "." || $0.isASCII && $0.isNumber }.split(separator: ".").prefix(3).compactMap { Int($0) }
    return parts.count < 2 ? nil : parts + [Int](repeating: 0, count: 3 - parts.count)
  }

  static func < (left: KernelVersion, right: KernelVersion) -> Bool { left.numbers.lexicographicallyPrecedes(right.numbers) }

  var description: String { numbers.map(String.init).joined(separator: ".") }
}
