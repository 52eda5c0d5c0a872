import Foundation
import TestSupport

/// Compares our decoding of BTHome frames with `bthome-ble` from PyPI, an independent decoder. The frames cover every object, several
/// objects, events, truncated frames, unknown objects, random bytes, and encryption with the right and with a wrong key.
@Suite(.timeLimit(.minutes(15))) struct ForeignBTHomeTests {
  /// Names that differ in `bthome-ble`, by their name in bthome.io/format.
  static let names = [
    "dew_point": "dewpoint", "pm25": "pm2_5", "generic": "generic_boolean", "carbon_dioxide": "co2", "volatile_organic_compounds": "tvoc",
  ]
  /// Units that differ: a millibar is a hectopascal, the unit of the format.
  static let units = ["mbar": "hPa"]

  /// Whether `bthome-ble` leaves an object out that we show: the event "none", undefined codes, empty texts, and texts that are not UTF-8
  /// (we insert replacement characters).
  private static func isLeftOut(_ object: Object) -> Bool {
    switch object.name {
    case "button", "command", "dimmer": object.text == "none" || object.text.hasPrefix("0x")
    case "text", "raw": object.text.isEmpty || object.text.contains("\u{FFFD}")
    default: false
    }
  }

  /// Whether `bthome-ble` has rounded a value. It rounds temperatures with factor 0.35 (object 0x58) to one decimal place.
  private static func isRounded(_ ours: Object, _ theirs: Object) -> Bool {
    guard ours.name == "temperature", theirs.name == ours.name, let one = ours.number, let other = theirs.number else { return false }
    return abs(one / 0.35 - (one / 0.35).rounded()) < 1e-9 && abs(one - other) < 0.051
  }

  private struct Object: Equatable {
    let name: String
    let text: String
    let number: Double?
    let unit: String?
    /// The arguments of an event, for example the distance.
    let detail: String
  }

  @Test func everyFrameSaysWhatItSaysToAnother() throws {
    let python = try #require(ProcessInfo.processInfo.environment["BLECTL_PYTHON"], "run scripts/test")
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("bthome_frames.py").path
    let made = try RunningProcess.run([python, script])
    try #require(made.status == 0, "\(made.errors)")
    let frames = try made.records
    #expect(frames.count > 500 && frames.count { !$0.isNull("key") } > 60)
    var (compared, names, refused): (Int, Set<String>, Int) = (0, [], 0)
    // The simulator accepts at most 64 devices.
    for start in stride(from: 0, to: frames.count, by: 60) {
      let batch = frames[start..<min(start + 60, frames.count)]
      let records = try Self.scan(batch)
      for frame in batch {
        let hex = try #require(frame.string("frame"))
        let record = try #require(records[frame.string("address") ?? ""], "\(hex) was not heard")
        let decoded = record["decoded"]?["bthome"]
        let all = (decoded?.records("objects") ?? []).map(Self.ours)
        let ours = all.filter { !Self.isLeftOut($0) && !["firmware_version", "device_type_id"].contains($0.name) }
        let theirs = frame.objects("objects").map(Self.theirs)
        #expect(ours.count == theirs.count, "\(hex): \(ours) and \(theirs)")
        for (one, other) in zip(ours, theirs) where one != other && !Self.isRounded(one, other) {
          Issue.record("\(hex): \(one) and \(other)")
        }
        #expect(all.last { $0.name == "firmware_version" }?.text == frame.string("firmware"), "\(hex)")
        #expect(all.last { $0.name == "device_type_id" }?.number.map { Int($0) } == frame.int("device_type"), "\(hex)")
        if record.string("decoded_error") == "bthome: wrong key" {
          refused += 1
          #expect(theirs.isEmpty && !frame.isNull("key"), "\(hex)")
        }
        compared += min(ours.count, theirs.count)
        names.formUnion(all.map { $0.name + ($0.unit ?? "") })
      }
    }
    #expect(compared > 1200 && refused >= 6, "\(compared) objects compared, \(refused) frames refused")
    // Every object of the format. Objects with the same name and unit differ only in size or factor.
    #expect(names.count == 76)
  }

  /// Returns the objects that blectl decodes from the frames, by address.
  private static func scan(_ frames: ArraySlice<Record>) throws -> [String: Record] {
    let air = TemporaryPath()
    let peripherals = frames.map { frame -> [String: Any] in
      [
        "name": "d", "address": "\(frame.string("address") ?? "")/random", "interval_ms": 500,
        "advertisement": ["flags": 6, "service_data": ["fcd2": frame.string("frame") ?? ""]],
      ]
    }
    try air.write(Array(JSONSerialization.data(withJSONObject: peripherals)))
    let keys = frames.flatMap { frame in frame.string("key").map { ["--key", "\(frame.string("address") ?? "")=\($0)"] } ?? [] }
    let result = try Blectl.run(["scan", "--passive", "--json", "--duration", "10"] + keys, adapter: "sim:\(air.path)")
    #expect(result.status == 0, "\(result.errors)")
    return Dictionary(try result.records.map { ($0.string("address") ?? "", $0) }) { $1 }
  }

  private static func ours(_ record: Record) -> Object {
    Object(
      name: record.string("name") ?? "", text: record.string("value") ?? "", number: record.double("value"), unit: record.string("unit"),
      detail: record.string("arguments") ?? record.int("steps").map(String.init) ?? "")
  }

  private static func theirs(_ object: [Any]) -> Object {
    let name = object.first as? String ?? ""
    var text = object.dropFirst().first as? String ?? ""
    if name == "timestamp" { text = text.replacingOccurrences(of: "+00:00", with: ".000Z") }
    let properties = object.last as? [String: Any] ?? [:]
    let unit = object.dropFirst(2).first as? String
    return Object(
      name: names[name] ?? name, text: text, number: object.dropFirst().first as? Double, unit: unit.map { units[$0] ?? $0 },
      detail: properties["args"] as? String ?? (properties["steps"] as? Int).map(String.init) ?? "")
  }
}
