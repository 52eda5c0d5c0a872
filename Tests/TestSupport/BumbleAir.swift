import Foundation

/// An independent stack: the Bumble peripheral Lock-01 in its own Python process, with the requested radio.
package final class BumbleAir: Sendable {
  package struct NoPython: Error, CustomStringConvertible {
    package let description =
      "BLECTL_PYTHON must name a Python with Bumble; run scripts/test, or BLECTL_PYTHON=$(scripts/parts/interop-python)"

    package init() {}
  }

  package struct NotReady: Error, CustomStringConvertible {
    package let description: String
  }

  /// The address of the peripheral. It is random unless started with `--public`.
  package static let peer = "F0:F1:F2:F3:F4:F5"

  /// Returns the hexadecimal value of FFE7 after exactly these bytes arrived since the last reset.
  package static func report(_ bytes: [UInt8]) -> String {
    Bytes.hex(Bytes.u32le(UInt32(bytes.count)) + Bytes.u32le(Bytes.crc32(bytes)))
  }

  /// The value for blectl's `-i`: `tcp:127.0.0.1:PORT`, or the text after READY for another radio.
  package let adapter: String
  private let process: RunningProcess

  /// - Parameter options: For bumble_air.py. Without `--transport` or `--vhci` it serves a virtual controller as H4 over TCP.
  /// - Parameter environment: Additions to the test's own environment.
  package init(_ options: [String] = [], environment: [String: String] = [:]) throws {
    guard let python = ProcessInfo.processInfo.environment["BLECTL_PYTHON"] else { throw NoPython() }
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("InteropTests/bumble_air.py")
    // No limit: it ends with its standard input, and so with the test process.
    process = try RunningProcess(
      [python, script.path, "0"] + options, environment: ProcessInfo.processInfo.environment.merging(environment) { $1 }, isLimited: false)
    guard let ready = process.nextLine(where: { $0.hasPrefix("READY ") })?.dropFirst(6) else {
      throw NotReady(description: "bumble_air.py \(options) is not ready: \(process.finish().errors)")
    }
    adapter = Int(ready).map { "tcp:127.0.0.1:\($0)" } ?? String(ready)
  }

  deinit { stop() }

  /// Stops it cleanly and frees its resources. Idempotent.
  package func stop() {
    process.finish()
  }

  /// Ends it abruptly, as a power failure would.
  package func kill() {
    process.end(by: SIGKILL)
  }

  /// Sends a line to its standard input: "away", "back".
  package func say(_ line: String) { process.send(line: line) }

  package func blectl(_ arguments: String..., input: [UInt8]? = nil) throws -> Blectl.Result {
    try Blectl.run(arguments, input: input, adapter: adapter, virtual: false)
  }

  /// Returns the next event with this name that no earlier call returned.
  package func event(_ name: String) -> Record? {
    process.nextLine { (try? Record($0))?.string("event") == name }.flatMap { try? Record($0) }
  }
}
