/// Something that some versions of the kernel do wrong and that commands of ours run into. Distributions mend it in versions of their own, so that it is
/// a hint and no more.
struct KernelDefect: Sendable {
  /// Of kernel.org's kernels; the last one of each range is the first that is mended, or of which nothing is known.
  let versions: [Range<KernelVersion>]
  let what: String
  /// What to do about it.
  let advice: String
  /// Who has seen it.
  let source: String
  /// Whether it matters on this machine.
  var concerns: @Sendable (Examination) -> Bool = { _ in true }

  private static let realtek: UInt16 = 0x005D

  static func of(_ version: KernelVersion, _ examination: Examination) -> [KernelDefect] {
    all.filter { defect in defect.versions.contains { $0.contains(version) } && defect.concerns(examination) }
  }

  static let all = [
    KernelDefect(
      versions: ["4.0"..<"6.2"],
      what: "it makes links at 1M only, also with devices that ask for 2M",
      advice: "where speed matters, ask for it with --phy 2m", source: "github.com/bluez/bluez/issues/931",
      concerns: { $0.found.contains { $0.features.contains("2m") } }),
    KernelDefect(
      versions: ["6.1"..<"6.2"],
      what: "its Bluetooth may hang when a link that the device has ended is closed (in hci_chan_del)",
      advice: "if nothing goes any more after that, restart the machine; -i user:N goes without that part of the kernel",
      source: "seen by blectl's tests with Debian's 6.1.192"),
    KernelDefect(
      versions: ["5.17"..<"6.0"],
      what: "a connection that cannot be made may break its list of links (`list_del corruption` in dmesg, seen with 5.17.7)",
      advice: "restart the machine then, and take a newer kernel", source: "github.com/bluez/bluez/issues/340"),
    KernelDefect(
      versions: ["6.18.45"..<"6.19", "7.1.9"..<"7.2", "7.2"..<"7.3"],
      what: "dongles with Realtek's RTL8761B may hang and reset when a scan ends (`command 0x200c tx timeout` in dmesg)",
      advice: "use the dongle with -i user:N, or with a kernel before these", source: "github.com/bluez/bluetooth-next/pull/637",
      concerns: { $0.found.contains { $0.manufacturer == realtek } }),
    KernelDefect(
      versions: ["6.15"..<"7.3"],
      what: "connecting to a device that is paired may fail after a long time",
      advice: "where that happens, connect while `bluetoothctl scan on` runs", source: "github.com/bluez/bluez/issues/2503",
      concerns: { !$0.daemons.isEmpty }),
  ]
}
