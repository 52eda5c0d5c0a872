package import Bluetooth
import Text

/// One line of `mac-from-adv`'s standard input.
package enum OfflineAdvertisement {
  package struct Sender {
    package let peer: PeerAddress
    package let typeIsKnown: Bool
  }

  /// - Returns: nil for empty lines, comments (`#`) and JSON records that are not advertisements.
  /// - Throws: BluetoothError(.input) naming the line.
  package static func parse(_ line: some Collection<UInt8>, number: Int) throws(BluetoothError) -> ([UInt8], Sender?)? {
    let text = String(decoding: line, as: UTF8.self).trimmed
    if text.isEmpty || text.hasPrefix("#") { return nil }
    if text.hasPrefix("{") {
      guard let record = try? JSONTree.parse(Array(text.utf8)) else { throw bad(number, "is not a JSON record") }
      guard let raw = record["raw"]?.string else { return nil }
      guard let data = Hex.decode(raw) else { throw bad(number, "has a \"raw\" that is not hex") }
      let type = record["address_type"]?.string.flatMap { AddressType(rawValue: $0) }
      let address = record["address"]?.string.flatMap { Address($0) }
      return (data, address.map { Sender(peer: PeerAddress($0, type ?? .public), typeIsKnown: type != nil) })
    }
    let words = text.split(separator: " ", maxSplits: 1)
    if words.count == 2, case .address(let address, let type)? = PeerSelector(String(words[0])) {
      guard let data = Hex.decode(String(words[1])) else { throw bad(number, "is not hex after the address") }
      return (data, Sender(peer: PeerAddress(address, type ?? .public), typeIsKnown: type != nil))
    }
    guard let data = Hex.decode(text) else { throw bad(number, "is neither AD structures in hex, nor ADDRESS HEX, nor a JSON record") }
    return (data, nil)
  }

  private static func bad(_ number: Int, _ what: String) -> BluetoothError {
    BluetoothError(.input, "line \(number) of standard input \(what)")
  }
}
