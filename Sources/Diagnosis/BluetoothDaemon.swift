import EventLoop
import LinuxIO

/// Asks bluetoothd over D-Bus, with the system's own tools. The kernel does not report whether a scan is running.
@LoopActor
enum BluetoothDaemon {
  /// Returns whether bluetoothd scans for any program. Nil without a tool, or after 3 s without an answer.
  /// - Throws: CancellationError.
  static func isDiscovering(_ adapter: String) async throws -> Bool? {
    let (object, interface) = ("/org/bluez/\(adapter)", "org.bluez.Adapter1")
    let systemd = "busctl --system --no-pager --timeout=2 get-property org.bluez \(object) \(interface) Discovering"
    let dbus =
      "dbus-send --system --reply-timeout=2000 --print-reply=literal --dest=org.bluez \(object) "
      + "org.freedesktop.DBus.Properties.Get string:\(interface) string:Discovering"
    return try await ChildProcess.output(of: "\(systemd) || \(dbus)", within: 3000).flatMap { answer(String(decoding: $0, as: UTF8.self)) }
  }

  /// Parses the answer: `b true` (busctl) or `   variant       boolean true` (dbus-send).
  nonisolated static func answer(_ text: String) -> Bool? { text.split(whereSeparator: \.isWhitespace).last.flatMap { Bool(String($0)) } }
}
