package import Bluetooth
import LinuxIO

extension AdapterInfo {
  /// The devices that the kernel connects to as soon as they are heard, because bluetoothd, or who else has the management channel, told it to (Add
  /// Device): from the adapter's device_list in debugfs, which only root may read.
  /// - Parameter folder: another one in tests.
  /// - Returns: nil where that cannot be read.
  package func autoConnections(folder: String = "/sys/kernel/debug/bluetooth") -> [PeerAddress]? {
    SmallFile.text(of: "\(folder)/\(name)/device_list", limit: 1 << 18).map { Self.autoConnections($0) }
  }

  /// Lines of it: `C0:FF:EE:00:00:07 (type 1) 3`. Others, without a number at their end, are of the list of BR/EDR devices.
  static func autoConnections(_ list: String) -> [PeerAddress] {
    list.split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ")
      guard words.count == 4, words[1] == "(type", let address = Address(String(words[0])), let action = Int(words[3]) else { return nil }
      // HCI_AUTO_CONN_DIRECT, HCI_AUTO_CONN_ALWAYS, HCI_AUTO_CONN_LINK_LOSS of the kernel's hci_core.h.
      guard (2...4).contains(action) else { return nil }
      return PeerAddress(address, words[2] == "0)" ? .public : .random)
    }
  }
}
