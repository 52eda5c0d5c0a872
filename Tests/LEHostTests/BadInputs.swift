import Bluetooth
import Foundation

/// The bad-input table beside the tests: what hostile peers and controllers send.
enum BadInputs {
  struct Case: Decodable {
    let id: String
    let layer: String
    let packets: [String]?
  }

  private struct File: Decodable { let cases: [Case] }

  /// The packets of a case, in H4 form.
  static func packets(_ id: String, file: String = #filePath) throws -> [[UInt8]] {
    let url = URL(fileURLWithPath: file).deletingLastPathComponent().deletingLastPathComponent()
    let data = try Data(contentsOf: url.appendingPathComponent("Vectors/bad_inputs.json"))
    let cases = try JSONDecoder().decode(File.self, from: data).cases
    guard let found = cases.first(where: { $0.id == id }), let packets = found.packets else { throw Missing(id: id) }
    return packets.compactMap(Hex.decode)
  }

  struct Missing: Error { let id: String }
}
