import Foundation
import TestSupport

/// Compares our decoding of random beacons with ruuvitag-sensor and inkbird-ble from PyPI.
@Suite(.timeLimit(.minutes(15))) struct ForeignBeaconTests {
  @Test func everyBeaconSaysWhatItSaysToAnother() throws {
    let python = try #require(ProcessInfo.processInfo.environment["BLECTL_PYTHON"], "run scripts/test")
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("beacon_frames.py").path
    let made = try RunningProcess.run([python, script])
    try #require(made.status == 0, "\(made.errors)")
    let frames = try made.records
    #expect(frames.count == 240)
    // A name, and manufacturer data with the company, least significant byte first.
    let lines = frames.map { frame in
      let (company, data) = (frame.string("company") ?? "", frame.string("data") ?? "")
      let name = Array((frame.string("name") ?? "").utf8)
      let local = name.isEmpty ? "" : Bytes.hex([UInt8(name.count + 1), 9] + name)
      return local + Bytes.hex([UInt8(data.count / 2 + 3), 0xFF]) + company.suffix(2) + company.prefix(2) + data
    }
    let result = try Blectl.run(["decode", "adv", "-", "--json"], input: Array((lines.joined(separator: "\n") + "\n").utf8))
    let records = try result.records
    try #require(result.status == 0 && records.count == frames.count, "\(result.errors)")
    var compared = 0
    for (frame, record) in zip(frames, records) {
      let (ours, theirs) = (record["decoded"]?["ruuvi"] ?? record["decoded"]?["inkbird"], try #require(frame["values"]))
      for key in theirs.keys {
        let (one, other) = (ours?.double(key) ?? ours?.int(key).map(Double.init), theirs.double(key) ?? .nan)
        // ruuvitag-sensor rounds to hundredths.
        #expect(one.map { abs($0 - other) < 0.0051 } == true, "\(frame.string("data") ?? ""): \(key) is \(other), here \(one as Any)")
        compared += 1
      }
      // inkbird-ble gives nothing of data with an impossible humidity or battery.
      if theirs.keys.isEmpty { #expect(ours == nil, "\(frame.string("data") ?? "")") }
    }
    #expect(compared > 1500)
  }
}
