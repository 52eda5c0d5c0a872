import Foundation
import TestSupport

/// Bumble's client, in a separate process.
final class BumbleClient: Sendable {
  struct Failed: Error { let text: String }

  let process: RunningProcess
  /// The address of its controller.
  let address: String?
  /// The port of the other controller. Nil unless the client has the air.
  let port: Int?
  /// The ports of both other controllers of clone_judge.py.
  let ports: [String]

  init(_ transport: String, script: String = "bumble_client.py") throws {
    guard let python = ProcessInfo.processInfo.environment["BLECTL_PYTHON"] else { throw BumbleAir.NoPython() }
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(script).path
    process = try RunningProcess([python, script, transport], isLimited: false)
    guard let ready = process.nextLine(where: { $0.contains("ready") }) else { throw Failed(text: process.wait().errors) }
    let record = try Record(ready)
    (address, port, ports) = (record.string("address"), record.int("port"), record.strings("ports"))
  }

  /// - Throws: An error if its answer reports a failure.
  @discardableResult
  func ask(_ line: String) throws -> Record {
    process.send(line: line)
    let answer = process.nextLine { $0.contains(#""event": "done""#) || $0.contains(#""event": "error""#) }
    guard let answer, answer.contains("done") else { throw Failed(text: "\(line): \(answer ?? "no answer")") }
    return try Record(answer)
  }

  func next(_ event: String) throws -> Record? {
    try process.nextLine { $0.contains("\"event\": \"\(event)\"") }.map { try Record($0) }
  }

  func end() {
    process.finish()
  }
}
