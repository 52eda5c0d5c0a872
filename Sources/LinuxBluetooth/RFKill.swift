import Glibc
import LinuxIO

/// The kernel's switches for radios, read from /sys/class/rfkill: that needs no permission and no daemon.
package struct RFKill: Sendable, Equatable {
  package enum State: String, Sendable {
    case unblocked
    /// By `rfkill block` or a desktop's flight mode.
    case softBlocked
    /// By a switch on the machine or the firmware.
    case hardBlocked
  }

  /// By name: `hci0`, or a platform's switch for the whole radio (`tpacpi_bluetooth_sw`).
  var states: [String: State] = [:]

  /// - Parameter folder: another one in tests.
  package init(folder: String = "/sys/class/rfkill") {
    for entry in Self.entries(of: folder) {
      let path = "\(folder)/\(entry)"
      guard SmallFile.line(of: "\(path)/type") == "bluetooth", let name = SmallFile.line(of: "\(path)/name") else { continue }
      states[name] =
        SmallFile.line(of: "\(path)/hard") == "1" ? .hardBlocked : SmallFile.line(of: "\(path)/soft") == "1" ? .softBlocked : .unblocked
    }
  }

  /// Whether a switch that is not an adapter's own is off: the adapter is then not even on its bus.
  package var platformIsBlocked: Bool { states.contains { !$0.key.hasPrefix("hci") && $0.value != .unblocked } }

  private static func entries(of folder: String) -> [String] {
    guard let stream = unsafe opendir(folder) else { return [] }
    defer { unsafe closedir(stream) }
    var names: [String] = []
    while let entry = unsafe readdir(stream) {
      let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted()
  }
}
