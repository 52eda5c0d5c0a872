import BluetoothLEDeviceFiles
import Foundation
import TestSupport

/// Hostile files and packets give an error or a refusal. They never cause a trap or a long run.
@Suite(.timeLimit(.minutes(15))) struct DeviceHostileTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("man/examples")
  private static let examples = ["gate-lock.json", "band-7.json", "tracker.json"]

  private static func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: folder.appendingPathComponent(name))) }

  /// A file that ends early gives an error with its place, except within trailing blanks.
  @Test(arguments: examples) func truncatedAtEveryByte(_ name: String) throws {
    let whole = try Self.bytes(name)
    let end = try #require(whole.lastIndex(of: UInt8(ascii: "}")))
    for count in 0...end {
      do {
        _ = try DeviceFile.parse(Array(whole[..<count]), name: name)
        Issue.record("the first \(count) octets were taken")
      } catch { if error.line == nil || error.column == nil { Issue.record("\(error)") } }
    }
  }

  /// A small file cannot demand much work with nested frames or with one frame in every answer.
  @Test func much() throws {
    let fields = (0..<250).map { #"{"name": "f\#($0)", "type": "u8"}"# }.joined(separator: ", ")
    let nested = (1...254).map { #""n\#($0)": {"in": "n\#($0 - 1)", "with": {"f\#($0 % 250)": 1}, "fields": [{"body": true}]}"# }
    let deep = #"{"device": "D", "frames": {"n0": {"fields": [{"body": true}, \#(fields)]}, \#(nested.joined(separator: ", "))}}"#
    let frames = #""frames": {"a": {"fields": [{"body": true}, \#(fields)]}}"#
    let part = #"{"frame": {"in": "a", "header": "01"}}"#
    let parts = Array(repeating: part, count: 256).joined(separator: ",")
    let commands = (0..<60).map { #""c\#($0)": {"request": {"header": "01"}, "answer": {"packets": [\#(parts)]}}"# }
    let wide = #"{"device": "D", "to": "ff02", "from": "ff01", \#(frames), "commands": {\#(commands.joined(separator: ","))}}"#
    for file in [deep, wide] {
      #expect(file.utf8.count < DeviceFile.maximumLength)
      let error = #expect(throws: FileEntryError.self) { try DeviceFile.parse(Array(file.utf8), name: "x") }
      #expect(error?.reason == "More than 49152 fields in the frames of this file.")
    }
  }

  /// A line of 10 MB is refused unread. Lists end even in a line of the maximum length.
  @Test func longLines() throws {
    let long = #expect(throws: FileEntryError.self) { try DeviceFile.parse([UInt8](repeating: 0x5B, count: 10 << 20), name: "x") }
    #expect(long?.reason == "The file is too long: 10485760 bytes (maximum 1048576).")
    let list = Array((#"{"device": "D", "frames": {"a": {"fields": ["# + String(repeating: #"{"skip": 1},"#, count: 80_000) + "]}}}").utf8)
    let error = #expect(throws: FileEntryError.self) { try DeviceFile.parse(list, name: "x") }
    #expect(error?.reason == "Too many items: 80000 (maximum 256).")
  }
}
