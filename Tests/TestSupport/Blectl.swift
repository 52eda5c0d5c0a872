import Foundation
import Glibc

/// Runs the real executable, as a user's shell would.
package struct Blectl {
  /// Beside the test bundle: the one that this build made.
  package static let path = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
    .appendingPathComponent("blectl").path

  package struct Result: Sendable {
    package let status: Int32
    package let output: [UInt8]
    package let errors: String

    package var text: String { String(decoding: output, as: UTF8.self) }
    package var lines: [String] { text.split(separator: "\n").map(String.init) }

    /// The JSON records of standard output.
    package var records: [Record] {
      get throws { try lines.map { try Record($0) } }
    }

    /// The one error record of standard error.
    package var error: Record? { errors.split(separator: "\n").last.flatMap { try? Record(String($0)) }?["error"] }
  }

  /// Runs to the end, with /dev/null or `input` on a pipe as standard input, on the simulated air in virtual time, unless `arguments` or `environment` say otherwise.
  package static func run(
    _ arguments: [String], input: [UInt8]? = nil, environment: [String: String] = [:], adapter: String? = "sim", virtual: Bool = true
  ) throws -> Result {
    let running = try start(arguments, environment: environment, adapter: adapter, virtual: virtual, hasInput: input != nil)
    running.send(input ?? [])
    running.endInput()
    return running.wait()
  }

  package static func run(_ arguments: String..., input: [UInt8]? = nil, adapter: String? = "sim") throws -> Result {
    try run(arguments, input: input, adapter: adapter)
  }

  package static func start(
    _ arguments: [String], environment: [String: String] = [:], adapter: String? = "sim", virtual: Bool = true, hasInput: Bool = true
  ) throws -> Running {
    let process = Process()
    // A test runner in the background has SIGINT ignored, and would pass that on.
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["--default-signal=INT,TERM,HUP", path] + arguments
    var variables = ["PATH": "/usr/bin:/bin", "HOME": "/dev/null", "TERM": "xterm"]
    if let adapter { variables["BLECTL_ADAPTER"] = adapter }
    if virtual { variables["BLECTL_CLOCK"] = "virtual" }
    process.environment = variables.merging(environment) { $1 }
    return try Running(process, hasInput)
  }

  /// A started blectl. Reads both outputs on threads of their own, so that a full pipe never stops it.
  package final class Running: @unchecked Sendable {
    private let process: Process
    private let input = Pipe()
    private let output = Pipe()
    private let errors = Pipe()
    private let collected = Collected()
    private let readers = DispatchGroup()

    fileprivate init(_ process: Process, _ hasInput: Bool) throws {
      self.process = process
      process.standardInput = hasInput ? input : FileHandle.nullDevice
      process.standardOutput = output
      process.standardError = errors
      try process.run()
      // Not a measure of speed: a hanging blectl must fail its test, not stop the whole run.
      DispatchQueue.global().asyncAfter(deadline: .now() + 120) { [weak process] in
        if let process, process.isRunning { kill(process.processIdentifier, SIGKILL) }
      }
      for (pipe, isError) in [(output, false), (errors, true)] {
        let handle = pipe.fileHandleForReading
        let collected = collected
        readers.enter()
        Thread.detachNewThread { [readers] in
          while case let chunk = handle.availableData, !chunk.isEmpty { collected.add(Array(chunk), isError: isError) }
          collected.end()
          readers.leave()
        }
      }
    }

    package var identifier: Int32 { process.processIdentifier }

    package func send(_ bytes: [UInt8]) {
      guard !bytes.isEmpty else { return }
      try? input.fileHandleForWriting.write(contentsOf: Data(bytes))
    }

    /// A test that failed halfway leaves nothing running.
    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    package func endInput() { try? input.fileHandleForWriting.close() }

    package func signal(_ number: Int32) { kill(process.processIdentifier, number) }

    /// Closes our end of its standard output, as `head` does when it has seen enough.
    package func waitForOutput(containing text: String) -> Bool { collected.wait(for: text, process) }

    package func wait() -> Result {
      process.waitUntilExit()
      readers.wait()
      let (out, err) = collected.all
      let status = process.terminationReason == .uncaughtSignal ? 128 + process.terminationStatus : process.terminationStatus
      return Result(status: status, output: out, errors: String(decoding: err, as: UTF8.self))
    }
  }

  private final class Collected: @unchecked Sendable {
    private let condition = NSCondition()
    private var out: [UInt8] = []
    private var err: [UInt8] = []
    private var open = 2

    var all: ([UInt8], [UInt8]) {
      condition.lock()
      defer { condition.unlock() }
      return (out, err)
    }

    func add(_ bytes: [UInt8], isError: Bool) {
      condition.lock()
      if isError { err += bytes } else { out += bytes }
      condition.broadcast()
      condition.unlock()
    }

    func end() {
      condition.lock()
      open -= 1
      condition.broadcast()
      condition.unlock()
    }

    /// Returns false when both outputs ended without it.
    func wait(for text: String, _ process: Process) -> Bool {
      condition.lock()
      defer { condition.unlock() }
      while true {
        if String(decoding: out + [10] + err, as: UTF8.self).contains(text) { return true }
        if open == 0 { return false }
        condition.wait()
      }
    }
  }
}

/// A JSON object from blectl, with forgiving access for expectations.
package struct Record: @unchecked Sendable {
  private let value: [String: Any]

  package init(_ text: String) throws {
    guard let value = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] else { throw NotAnObject(text: text) }
    self.value = value
  }

  private init(_ value: [String: Any]) { self.value = value }

  package struct NotAnObject: Error { let text: String }

  package var keys: Set<String> { Set(value.keys) }
  package func isNull(_ key: String) -> Bool { value[key] is NSNull }
  package func string(_ key: String) -> String? { value[key] as? String }
  package func int(_ key: String) -> Int? { value[key] as? Int }
  package func double(_ key: String) -> Double? { value[key] as? Double }
  package func bool(_ key: String) -> Bool? { value[key] as? Bool }
  package func strings(_ key: String) -> [String] { value[key] as? [String] ?? [] }
  package func records(_ key: String) -> [Record] { (value[key] as? [[String: Any]] ?? []).map { Record($0) } }
  package subscript(_ key: String) -> Record? { (value[key] as? [String: Any]).map { Record($0) } }
}
