/// A bug in some kernel versions that affects blectl's commands. Only a hint, because distributions backport fixes.
struct KernelDefect: Sendable {
  /// The affected versions of kernel.org. Each range ends before the first version that is fixed or unknown.
  let versions: [Range<KernelVersion>]
  let what: String
  /// The workaround, in sentences.
  let advice: String
  /// The report of the bug.
  let source: String
  /// Whether the bug can occur on this machine.
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
