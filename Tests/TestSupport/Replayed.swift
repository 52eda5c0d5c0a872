import Foundation
package import Testing

/// Runs a command that was recorded with a real device, and replays it without the device.
package enum Replayed {
  /// The allowed difference of times in seconds. A replay skips up to 50 ms of host computation (`Pace.slack`),
  /// and blectl reads the clock after it records a packet.
  private static let tolerance = 0.06

  /// Members that depend on the machine's speed, such as the progress of a transfer or the duration of a link state.
  private static let ofSpeed: Set = ["time", "seconds", "bytes_per_second", "limit_bytes_per_second", "in_flight", "gap_ms"]

  /// - Parameters:
  ///   - adapter: The adapter for the recorded command.
  ///   - ignoring: Members of the records that the recording cannot know.
  package static func expectSame(
    _ arguments: [String], adapter: String, ignoring: Set<String> = [], sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let trace = TemporaryPath()
    let recorded = try Blectl.run(["--trace", trace.path, "--json"] + arguments, adapter: adapter, virtual: false)
    let replayed = try Blectl.run(["--json"] + arguments, adapter: "replay:\(trace.path)", virtual: false)
    #expect(replayed.status == recorded.status, "\(arguments): \(recorded.errors)\(replayed.errors)", sourceLocation: sourceLocation)
    let (before, after) = (try facts(recorded, ignoring), try facts(replayed, ignoring))
    #expect(after == before, "\(arguments): \(replayed.errors)", sourceLocation: sourceLocation)
    for (then, now) in zip(try times(recorded), try times(replayed)) {
      #expect(abs(then - now) < tolerance, "\(arguments)", sourceLocation: sourceLocation)
    }
  }

  private static func facts(_ result: ProcessResult, _ ignoring: Set<String>) throws -> [NSDictionary] {
    try objects(result).map { object in
      var object = object
      for name in ignoring.union(Self.ofSpeed) { object[name] = nil }
      return object as NSDictionary
    }
  }

  private static func times(_ result: ProcessResult) throws -> [TimeInterval] {
    let format = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    return try objects(result).compactMap { $0["time"] as? String }.map { try format.parse($0).timeIntervalSince1970 }
  }

  private static func objects(_ result: ProcessResult) throws -> [[String: Any]] {
    try result.lines.map { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] ?? [:] }
  }
}
