import Foundation
import TestSupport

/// An independent stack: a Bumble peripheral and a Bumble virtual controller in one Python process, served as H4 over TCP.
final class BumbleAir: @unchecked Sendable {
  struct NoPython: Error, CustomStringConvertible {
    let description = "BLECTL_PYTHON must name a Python with Bumble; run scripts/test, or BLECTL_PYTHON=$(scripts/interop-python)"
  }

  struct NotReady: Error {}

  let port: Int
  private let process = Process()
  private let input = Pipe()
  private let output: LineReader

  init(_ options: [String] = []) throws {
    guard let python = ProcessInfo.processInfo.environment["BLECTL_PYTHON"] else { throw NoPython() }
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("bumble_air.py")
    process.executableURL = URL(fileURLWithPath: python)
    process.arguments = [script.path, "0"] + options
    process.standardInput = input
    let out = Pipe()
    process.standardOutput = out
    output = LineReader(out.fileHandleForReading)
    try process.run()
    guard let ready = output.next(where: { $0.hasPrefix("READY ") }), let port = Int(ready.dropFirst(6)) else { throw NotReady() }
    self.port = port
  }

  /// Ends with its standard input.
  deinit {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }

  var adapter: String { "tcp:127.0.0.1:\(port)" }

  func blectl(_ arguments: String..., input: [UInt8]? = nil) throws -> Blectl.Result {
    try Blectl.run(arguments, input: input, adapter: adapter, virtual: false)
  }

  /// The next event of this name that the peripheral reports.
  func event(_ name: String) -> Record? {
    output.next { (try? Record($0))?.string("event") == name }.flatMap { try? Record($0) }
  }
}

/// Lines of a pipe, one after the other.
private final class LineReader {
  private let handle: FileHandle
  private var buffer: [UInt8] = []

  init(_ handle: FileHandle) { self.handle = handle }

  /// Nil at the end.
  func next(where matches: (String) -> Bool) -> String? {
    while true {
      while let end = buffer.firstIndex(of: 10) {
        let line = String(decoding: buffer[..<end], as: UTF8.self)
        buffer.removeSubrange(...end)
        if matches(line) { return line }
      }
      let chunk = handle.availableData
      if chunk.isEmpty { return nil }
      buffer += chunk
    }
  }
}
