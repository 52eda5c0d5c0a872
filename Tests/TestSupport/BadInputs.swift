import BluetoothLEText
import Foundation

/// The HCI and L2CAP cases of `Vectors/bad_inputs.json`, as sent by hostile controllers and peers.
package enum BadInputs {
  private struct File: Decodable { let cases: [Case] }

  private struct Case: Decodable {
    let id: String
    let packets: [String]?
  }

  package struct Missing: Error {
    package let id: String
    package init(id: String) { self.id = id }
  }

  /// Returns the packets of a case in H4 form.
  package static func packets(_ id: String) throws -> [[UInt8]] {
    let cases = try JSONDecoder().decode(File.self, from: try Vectors.own("bad_inputs.json")).cases
    guard let packets = cases.first(where: { $0.id == id })?.packets else { throw Missing(id: id) }
    return packets.compactMap(Hex.decode)
  }
}
