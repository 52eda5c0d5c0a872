import Foundation
import TestSupport
import Testing
import Text

@testable import DeviceFiles

/// Files and packets that nobody means well with: an error or a refusal, never a trap, never long.
@Suite struct DeviceHostileTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("man/examples")
  private static let examples = ["gate-lock.json", "band-7.json", "tracker.json"]

  private static func octets(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: folder.appendingPathComponent(name))) }

  /// An end anywhere but in the last blanks is an error with its place.
  @Test(arguments: examples) func truncatedAtEveryOctet(_ name: String) throws {
    let whole = try Self.octets(name)
    let end = try #require(whole.lastIndex(of: UInt8(ascii: "}")))
    for count in 0...end {
      do {
        _ = try DeviceFile.parse(Array(whole[..<count]), name: name)
        Issue.record("the first \(count) octets were taken")
      } catch { if error.line == nil || error.column == nil { Issue.record("\(error)") } }
    }
  }

  @Test(arguments: examples) func manglings(_ name: String) throws {
    let whole = try Self.octets(name)
    var random = SplitMix64(seed: 3)
    for _ in 0..<300 {
      var file = whole
      let position = Int(random.next() % UInt64(file.count))
      switch random.next() % 4 {
      case 0: file[position] = 0
      case 1: file[position] = UInt8(truncatingIfNeeded: random.next())
      case 2: file.insert(contentsOf: Array("99999999999999999999999999".utf8), at: position)
      default: file.removeSubrange(position..<min(file.count, position + Int(random.next() % 40)))
      }
      DeviceFuzz.parse(file)
    }
  }

  /// 120 000 runs in all.
  @Test(arguments: examples) func packets(_ name: String) throws {
    let device = try DeviceFile.parse(try Self.octets(name), name: name)
    let seeds = DeviceFuzz.seeds(device)
    #expect(!seeds.isEmpty)
    var count = 0
    hostile(seeds, mutations: 40_000, seed: 9) { bytes in
      count += 1
      // One command each: all of them would take long.
      var one = device
      one.commands = device.commands.isEmpty ? [] : [device.commands[count % device.commands.count]]
      DeviceFuzz.packets(Array(bytes.prefix(80)), of: one)
    }
    #expect(count >= 40_000)
  }

  /// A line of 10 MB is refused before it is looked at; one as long as a file may be is read in time.
  @Test func longLines() throws {
    #expect(throws: FileEntryError.self) { try DeviceFile.parse([UInt8](repeating: 0x5B, count: 10 << 20), name: "x") }
    let list = Array((#"{"device": "D", "frames": {"a": {"fields": ["# + String(repeating: #"{"skip": 1},"#, count: 80_000) + "]}}}").utf8)
    let error = #expect(throws: FileEntryError.self) { try DeviceFile.parse(list, name: "x") }
    #expect(error?.reason == "80000 items: at most 256 are allowed")
  }
}
