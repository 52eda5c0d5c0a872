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

  package struct Switch: Sendable, Equatable {
    /// `rfkill2`; rfkill(8) calls it 2.
    package let device: String
    /// `hci0`, or a platform's switch for the whole radio (`tpacpi_bluetooth_sw`).
    package let name: String
    package let state: State

    package init(device: String, name: String, state: State) {
      self.device = device
      self.name = name
      self.state = state
    }
  }

  /// The switches for Bluetooth, sorted by the names of their devices.
  package private(set) var switches: [Switch] = []

  /// - Parameter folder: another one in tests.
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

  /// The one that blocks this adapter; nil when none does.
  package func block(of adapter: String) -> Switch? { switches.first { $0.name == adapter && $0.state != .unblocked } }

  /// A switch that is off and not an adapter's own: the adapter is then not even on its bus.
  package var platformBlock: Switch? { switches.first { !$0.name.hasPrefix("hci") && $0.state != .unblocked } }
}
