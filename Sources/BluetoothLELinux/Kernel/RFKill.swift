/// The kernel's Bluetooth switches, which any user may read from /sys/class/rfkill.
package struct RFKill: Sendable, Equatable {
  package enum State: String, Sendable {
    case unblocked
    /// The user blocked the radio, with `rfkill block` or a desktop's flight mode.
    case softBlocked
    /// A switch on the machine or the firmware blocks the radio.
    case hardBlocked
  }

  package struct Switch: Sendable, Equatable {
    /// The name of the switch's device, for example `rfkill2`. rfkill(8) lists this switch as 2.
    package let device: String
    /// The name of the adapter (`hci0`), or of a platform's switch for the whole radio (`tpacpi_bluetooth_sw`).
    package let name: String
    package let state: State
  }

  /// The Bluetooth switches, sorted by device name.
  package private(set) var switches: [Switch] = []

  /// Reads the switches from /sys.
  /// - Parameter folder: The folder in /sys, which tests replace.
  package init(folder: String = "/sys/class/rfkill") {
    for entry in FolderNames.list(folder, home: nil).sorted() where entry.hasSuffix("/") {
      let device = String(entry.dropLast())
      let path = "\(folder)/\(device)"
      guard SmallFile.line(of: "\(path)/type") == "bluetooth", let name = SmallFile.line(of: "\(path)/name") else { continue }
      let state: State =
        SmallFile.line(of: "\(path)/hard") == "1" ? .hardBlocked : SmallFile.line(of: "\(path)/soft") == "1" ? .softBlocked : .unblocked
      switches.append(Switch(device: device, name: name, state: state))
    }
  }

  /// Returns the switch that blocks the adapter with this name. Nil if no switch blocks it.
  package func block(of adapter: String) -> Switch? { switches.first { $0.name == adapter && $0.state != .unblocked } }

  /// The platform's switch that blocks the radio and thereby removes the adapter from its bus. Nil if no such switch blocks it.
  package var platformBlock: Switch? { switches.first { !$0.name.hasPrefix("hci") && $0.state != .unblocked } }
}
