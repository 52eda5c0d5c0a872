import BluetoothLESimulator
import Foundation
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct PeripheralFileRefusalTests {
  private func expectRefusal(_ text: String, _ message: String) {
    do {
      _ = try PeripheralFile.parse(Array(text.utf8), name: "x.jsonc")
      Issue.record("accepted, but should be refused: \(message)")
    } catch { #expect("\(error)".hasPrefix("x.jsonc:") && "\(error)".contains(message), "\(error)") }
  }

  @Test(arguments: refused.indices)
  func refusal(_ index: Int) { expectRefusal(Self.refused[index].0, Self.refused[index].1) }

  @Test(arguments: refusedInside.indices)
  func refusalInside(_ index: Int) {
    let (inside, message) = Self.refusedInside[index]
    expectRefusal("{\"name\": \"N\", \"address\": \"D1:00:00:00:00:09/random\", \(inside)}", message)
  }

  @Test func tooMuch() throws {
    let one = #"{"name": "N", "address": "D1:00:00:00:00:%/random"}"#
    let many = (0..<65).map { one.replacingOccurrences(of: "%", with: Hex.encode([UInt8($0)])) }
    #expect(try PeripheralFile.parse(Array(("[" + many.dropLast().joined(separator: ",") + "]").utf8), name: "x.jsonc").count == 64)
    expectRefusal("[" + many.joined(separator: ",") + "]", "Too many peripherals: 65 (maximum 64).")
    expectRefusal(String(repeating: " ", count: PeripheralFile.maximumLength + 1), "The file is too long: 4194305 bytes")
    let list = [String](repeating: #"{"uuid":"f","properties":[]}"#.replacingOccurrences(of: "f", with: "fff1"), count: 33_000)
    expectRefusal(
      #"{"name": "N", "address": "D1:00:00:00:00:09/random", "services": [{"uuid": "fff0", "characteristics": [\#(list.joined(separator: ","))]}]}"#,
      "services[0].characteristics[32762]: No free handle")
    let actions = [String](repeating: #"{"set": "ffe1"}"#, count: 257).joined(separator: ",")
    expectRefusal(
      "{\"name\": \"N\", \"address\": \"D1:00:00:00:00:09/random\", " + Self.reaction("{\"then\": [\(actions)]}") + "}",
      "then: Too many items: 257 (maximum 256).")
  }
}
