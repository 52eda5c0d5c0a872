import Foundation
import TestSupport
import Testing

/// What BTHome frames say to us and to `bthome-ble` from PyPI, a decoder by other people: every object, several in a frame, events, frames that
/// are cut, unknown objects, random octets, and encrypted ones with the right key and with another.
@Suite(.timeLimit(.minutes(1))) struct ForeignBTHomeTests {
  /// What it calls otherwise than bthome.io/format.
  static let names = [
    "dew_point": "dewpoint", "pm25": "pm2_5", "generic": "generic_boolean", "carbon_dioxide": "co2", "volatile_organic_compounds": "tvoc",
  ]
  /// A millibar is a hectopascal, which the format says.
  static let units = ["mbar": "hPa"]

  /// What we show and it leaves out: the event "none" and codes that the format does not define; texts without an octet; texts that are not
  /// UTF-8, in which we put replacement characters.
  private static func isLeftOut(_ object: Object) -> Bool {
    switch object.name {
    case "button", "command", "dimmer": object.text == "none" || object.text.hasPrefix("0x")
    case "text", "raw": object.text.isEmpty || object.text.contains("\u{FFFD}")
    default: false
    }
  }

  /// Of factor 0.35 (object 0x58) it rounds to one decimal place.
  private static func isRounded(_ ours: Object, _ theirs: Object) -> Bool {
    guard ours.name == "temperature", theirs.name == ours.name, let one = ours.number, let other = theirs.number else { return false }
    return abs(one / 0.35 - (one / 0.35).rounded()) < 1e-9 && abs(one - other) < 0.051
  }

  private struct Object: Equatable {
    let name: String
    let text: String
    let number: Double?
    let unit: String?
    /// Of an event: how far, or the arguments.
    let detail: String
  }

  @Test(.timeLimit(.minutes(15))) func everyFrameSaysWhatItSaysToAnother() throws {
    let python = try #require(ProcessInfo.processInfo.environment["BLECTL_PYTHON"], "run scripts/test")
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("bthome_frames.py").path
    let made = try RunningProcess.run([python, script])
    try #require(made.status == 0, "\(made.errors)")
    let frames = try made.records
    #expect(frames.count > 500 && frames.count { !$0.isNull("key") } > 60)
    var (compared, names, refused): (Int, Set<String>, Int) = (0, [], 0)
    // The simulated air takes 64.
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
    // Every object of the format: those with the same name and unit differ in size or factor only.
    #expect(names.count == 76)
  }

  /// What blectl reads in the frames, by address.
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
