import Foundation
import TestSupport

/// Centrals on Bumble, in a separate process, and an adapter of the kernel in their air.
final class BumbleCentrals {
  /// The kernel's adapter, such as `hci3`.
  let adapter: String
  /// The addresses of the centrals, random and static.
  let addresses: [String]
  private let process: RunningProcess

  init(_ count: Int) throws {
    guard let python = ProcessInfo.processInfo.environment["BLECTL_PYTHON"] else { throw BumbleAir.NoPython() }
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../InteropTests/bumble_client.py").path
    process = try RunningProcess([python, script, "vhci:\(count)"], isLimited: false)
    guard let ready = process.nextLine(where: { $0.contains("ready") }), let adapter = try Record(ready).string("adapter") else {
      throw Guest.ToolFailed(description: process.wait().errors)
    }
    self.adapter = adapter
    addresses = (0..<count).map { "F0:F1:F2:F3:F4:F\(9 - $0)" }
    try Guest.wait(for: "\(adapter) to be set up") { try Guest.run("hciconfig", adapter, "up").status == 0 }
    try Guest.prepareKeys(of: adapter)
  }

  /// Makes a central do what a line says: see bumble_client.py. - Throws: An error if it fails.
  @discardableResult
  func ask(_ number: Int, _ line: String) throws -> Record {
    process.send(line: "\(number) \(line)")
    let answer = process.nextLine { $0.contains(#""event": "done""#) || $0.contains(#""event": "error""#) }
    guard let answer, answer.contains(#""event": "done""#) else { throw Guest.ToolFailed(description: "\(line): \(answer ?? "no answer")") }
    return try Record(answer)
  }

  func next(_ event: String) throws -> Record? {
    try process.nextLine { $0.contains("\"event\": \"\(event)\"") }.map { try Record($0) }
  }

  /// Unplugs the adapter.
  func end() { process.finish() }
}
