import EventLoop
import LinuxIO

/// What bluetoothd says over D-Bus, asked by the system's own tools: the kernel tells nobody whether a scan is on.
@LoopActor
enum BluetoothDaemon {
  /// - Returns: whether it scans now, for whichever program; nil where neither tool is there, or nobody answers within 3 s.
  /// - Throws: CancellationError.
  static func isDiscovering(_ adapter: String) async throws -> Bool? {
    let (object, interface) = ("/org/bluez/\(adapter)", "org.bluez.Adapter1")
    let systemd = "busctl --system --no-pager --timeout=2 get-property org.bluez \(object) \(interface) Discovering"
    let dbus =
      "dbus-send --system --reply-timeout=2000 --print-reply=literal --dest=org.bluez \(object) "
      + "org.freedesktop.DBus.Properties.Get string:\(interface) string:Discovering"
    return try await ChildProcess.output(of: "\(systemd) || \(dbus)", within: 3000).flatMap { answer(String(decoding: $0, as: UTF8.self)) }
  }

  /// `b true`, or `   variant       boolean true`.
  nonisolated static func answer(_ text: String) -> Bool? { text.split(whereSeparator: \.isWhitespace).last.flatMap { Bool(String($0)) } }
}
