// SPDX-License-Identifier: Apache-2.0
import BluetoothLEText

/// The parser for one line of recorded advertisements. A line has AD structures in hex, an address and hex, or a record of a scan. A record
/// is a JSON object, or the sender, RSSI, PDU type and hex.
package enum OfflineAdvertisement {
  /// Parses a line with its number, from 1. Returns nil for empty lines, comments (`#`) and JSON records without advertising data.
  package static func parse(_ line: some Collection<UInt8>, number: Int) throws(OfflineAdvertisementError)
    -> (data: [UInt8], sender: PeerAddress?)?
  {
    // A record has each byte several times. Other data is refused before it is copied.
    guard line.count <= 64 * Advertisement.maximumLength else { throw .tooLong(line: number) }
    let text = String(decoding: line, as: UTF8.self).trimmed
    if text.isEmpty || text.hasPrefix("#") { return nil }
    if text.hasPrefix("{") {
      guard let record = try? JSONTree.parse(Array(text.utf8)) else { throw .notJSON(line: number) }
      guard let raw = record["raw"]?.string else { return nil }
      guard let data = try bytes(raw, number) else { throw .rawNotHex(line: number) }
      let type = record["address_type"]?.string.flatMap { AddressType(rawValue: $0) }
      let address = record["address"]?.string.flatMap { Address($0) }
      return (data, address.map { PeerAddress($0, type ?? .public) })
    }
    let words = text.split(separator: " ")
    // Twelve digits alone may be the start of the data.
    if words[0].contains(where: { ":-/".contains($0) }), case .address(let address, let type)? = PeerSelector(String(words[0])),
      words.count > 1
    {
      guard let data = try bytes(payload(words.dropFirst()), number) else { throw .notHexAfterAddress(line: number) }
      return (data, PeerAddress(address, type ?? .public))
    }
    // Extended advertising has senders without an address.
    if words[0] == "anonymous" {
      guard let data = try bytes(payload(words.dropFirst()), number) else { throw .notHexAfterAddress(line: number) }
      return (data, nil)
    }
    guard let data = try bytes(text, number) else { throw .unknown(line: number) }
    return (data, nil)
  }

  private static func bytes(_ text: String, _ line: Int) throws(OfflineAdvertisementError) -> [UInt8]? {
    do {
      let data = try Hex.parse(text, loneDigits: false)
      if data.count <= Advertisement.maximumLength { return data }
    } catch {
      guard error == .notHex else { throw .lacksDigit(line: line) }
      return nil
    }
    throw .tooLong(line: line)
  }

  /// Removes the RSSI (`-58 dBm` or `?`) and the PDU type, which precede the data in a line that a scan printed.
  private static func payload(_ words: ArraySlice<Substring>) -> String {
    var words = words
    if words.first == "?" {
      words = words.dropFirst()
    } else if words.dropFirst().first == "dBm", words.first.flatMap({ Int8($0) }) != nil {
      words = words.dropFirst(2)
    }
    if let word = words.first, AdvertisingReport.PDU(rawValue: String(word)) != nil { words = words.dropFirst() }
    return words.joined(separator: " ")
  }
}

/// The error for a line that is not an advertisement. Line numbers start at 1.
package enum OfflineAdvertisementError: Error, Sendable, Equatable {
  case notJSON(line: Int)
  /// The JSON record's `raw` member is not hex.
  case rawNotHex(line: Int)
  case notHexAfterAddress(line: Int)
  /// The line is neither AD structures in hex, nor an address and hex, nor a record.
  case unknown(line: Int)
  /// The hex data has an odd number of digits.
  case lacksDigit(line: Int)
  /// The line has more than an advertisement can have.
  case tooLong(line: Int)
}
