import Glibc
import LinuxIO

extension AdapterInfo {
  /// Returns the Wi-Fi radio of the same USB device: its interface (`wlan0`), or else its own name (`phy0`). Nil if there is none or it is
  /// unknown, because the two halves of a card are mostly on different buses.
  /// - Parameter folder: The folder of device classes, which tests replace.
  package func wifiOfSameDevice(folder: String = "/sys/class") -> String? {
    guard bus == "usb", let own = Self.parent("\(folder)/bluetooth/\(name)/device") else { return nil }
    for entry in FolderNames.list("\(folder)/ieee80211", home: nil).sorted() {
      let phy = entry.hasSuffix("/") ? String(entry.dropLast()) : entry
      let device = "\(folder)/ieee80211/\(phy)/device"
      guard Self.parent(device) == own else { continue }
      return FolderNames.list("\(device)/net", home: nil).sorted().first.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 } ?? phy
    }
    return nil
  }

  /// Returns the path of the USB device to which an interface belongs.
  private static func parent(_ path: String) -> String? {
    guard let whole = unsafe realpath(path, nil) else { return nil }
    defer { unsafe free(whole) }
    return unsafe String(cString: whole).split(separator: "/").dropLast().joined(separator: "/")
  }
}
