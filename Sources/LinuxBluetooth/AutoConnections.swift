package import Bluetooth
import LinuxIO

extension AdapterInfo {
  /// Lists the devices that the kernel connects to when it receives their advertisements, at the request of bluetoothd or another program
  /// (Add Device). Reads the adapter's device_list in debugfs, which only root may do.
  /// - Parameter folder: The debugfs folder, which tests replace.
  /// - Returns: Nil if the list cannot be read.
  package func autoConnections(folder: String = "/sys/kernel/debug/bluetooth") -> [PeerAddress]? {
    SmallFile.text(of: "\(folder)/\(name)/device_list", limit: 1 << 18).map { Self.autoConnections($0) }
  }

  /// Parses lines such as `C0:FF:EE:00:00:07 (type 1) 3`. Lines without a number at the end list BR/EDR devices.
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
