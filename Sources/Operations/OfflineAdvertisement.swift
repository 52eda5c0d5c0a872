package import Bluetooth
import Text

/// One line of advertisements that were recorded before: AD structures in hex, an address and hex, or a record of a scan.
package enum OfflineAdvertisement {
  /// - Returns: nil for empty lines, comments (`#`) and JSON records that are not advertisements.
  package static func parse(_ line: some Collection<UInt8>, number: Int) throws(OfflineAdvertisementError)
    -> (data: [UInt8], sender: PeerAddress?)?
  {
    let text = String(decoding: line, as: UTF8.self).trimmed
    if text.isEmpty || text.hasPrefix("#") { return nil }
    if text.hasPrefix("{") {
      guard let record = try? JSONTree.parse(Array(text.utf8)) else { throw .notJSON(line: number) }
      guard let raw = record["raw"]?.string else { return nil }
      guard let data = Hex.decode(raw) else { throw .rawNotHex(line: number) }
      let type = record["address_type"]?.string.flatMap { AddressType(rawValue: $0) }
      let address = record["address"]?.string.flatMap { Address($0) }
      return (data, address.map { PeerAddress($0, type ?? .public) })
    }
    let words = text.split(separator: " ", maxSplits: 1)
    if words.count == 2, case .address(let address, let type)? = PeerSelector(String(words[0])) {
      guard let data = Hex.decode(String(words[1])) else { throw .notHexAfterAddress(line: number) }
      return (data, PeerAddress(address, type ?? .public))
    }
    guard let data = Hex.decode(text) else { throw .unknown(line: number) }
    return (data, nil)
  }
}

/// A line that is not an advertisement. Lines count from 1.
package enum OfflineAdvertisementError: Error, Sendable, Equatable {
  case notJSON(line: Int)
  /// A record whose `raw` is not hex.
  case rawNotHex(line: Int)
  case notHexAfterAddress(line: Int)
  /// Neither AD structures in hex, nor an address and hex, nor a record.
  case unknown(line: Int)
}
