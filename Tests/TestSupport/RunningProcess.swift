import Foundation
import Glibc

/// The time limit of everything that a test waits for. It ends a test that hangs, before the limit of its suite does.
/// It must not end one that a busy machine slows down.
package enum HangGuard {
  package static let seconds = 600.0
}

/// The results of a program that has ended.
package struct ProcessResult: Sendable {
  /// The exit status, or 128 + N after the signal N.
  package let status: Int32
  /// Whether a signal ended it.
  package let wasKilled: Bool
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

/// A started program. Threads read its outputs, so that a full pipe never stops it unless requested.
package final class RunningProcess: @unchecked Sendable {
  package enum Reading {
    case everything
    /// Standard output is a pipe that is full from the start, until `startReading`.
    case errorsOnly
    /// Standard error is such a full pipe too.
    case outputOnly
  }

  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private let errors = Pipe()
  private let collected = Collected()
  private let readers = DispatchGroup()
  private var fillers = 0
  /// The arguments of a run whose records are kept. Nil for all other runs.
  var keptArguments: [String]?

  /// - Parameters:
  ///   - command: Looked up in the PATH of `environment`.
  ///   - folder: The working directory. Nil means the tests' own.
  ///   - environment: Nil means this process's own, without the user's folders.
  ///   - isLimited: Whether `HangGuard` kills it, so that a program that hangs fails its test and not the whole run.
  package init(
    _ command: [String], environment: [String: String]? = nil, folder: String? = nil, hasInput: Bool = true, reading: Reading = .everything,
    isLimited: Bool = true
  ) throws {
    // A background test runner ignores SIGINT and would pass that on.
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["--default-signal=INT,TERM,HUP"] + command
    process.environment = environment.map { ["TMPDIR": TemporaryFolder.url.path].merging($0) { $1 } } ?? TemporaryFolder.environment
    if let folder { process.currentDirectoryURL = URL(fileURLWithPath: folder) }
    process.standardInput = hasInput ? input : FileHandle.nullDevice
    process.standardOutput = output
    process.standardError = errors
    if reading != .everything { fillers = Self.fill(reading == .errorsOnly ? output : errors) }
    try process.run()
    if isLimited {
      DispatchQueue.global().asyncAfter(deadline: .now() + HangGuard.seconds) { [weak process] in
        if let process, process.isRunning { kill(process.processIdentifier, SIGKILL) }
      }
    }
    if reading != .outputOnly { read(errors, isError: true) }
    if reading != .errorsOnly { read(output, isError: false) }
  }

  /// - Returns: The number of bytes that fit.
  private static func fill(_ pipe: Pipe) -> Int {
    let end = pipe.fileHandleForWriting.fileDescriptor
    let flags = fcntl(end, F_GETFL)
    _ = fcntl(end, F_SETFL, flags | O_NONBLOCK)
    defer { _ = fcntl(end, F_SETFL, flags) }
    let spaces = [UInt8](repeating: 32, count: 4096)
    var count = 0
    while case let written = unsafe write(end, spaces, spaces.count), written > 0 { count += written }
    return count
  }

  /// Starts to read standard output, without the bytes that filled it.
  package func startReading() {
    var rest = fillers
    while rest > 0, let chunk = try? output.fileHandleForReading.read(upToCount: rest), !chunk.isEmpty { rest -= chunk.count }
    read(output, isError: false)
  }

  private func read(_ pipe: Pipe, isError: Bool) {
    let handle = pipe.fileHandleForReading
    let collected = collected
    readers.enter()
    Thread.detachNewThread { [readers] in
      while case let chunk = handle.availableData, !chunk.isEmpty { collected.add(Array(chunk), isError: isError) }
      collected.end()
      readers.leave()
    }
  }

  /// The peak memory so far in kB (VmHWM).
  package var peakMemory: Int? {
    let status = try? String(contentsOfFile: "/proc/\(identifier)/status", encoding: .utf8)
    return status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
  }

  package static func run(
    _ command: [String], input: [UInt8]? = nil, environment: [String: String]? = nil
  ) throws -> ProcessResult {
    let running = try RunningProcess(command, environment: environment, hasInput: input != nil)
    running.send(input ?? [])
    return running.finish()
  }

  /// The number of bytes on standard output so far.
  package var outputCount: Int { outputSoFar.count }

  /// The bytes on standard output so far.
  package var outputSoFar: [UInt8] { collected.all.0 }

  package var isRunning: Bool { process.isRunning }

  package var identifier: Int32 { process.processIdentifier }

  package func send(_ bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    try? input.fileHandleForWriting.write(contentsOf: Data(bytes))
  }

  /// Types a line.
  package func send(line: String) { send(Array((line + "\n").utf8)) }

  /// Stops the program even if a test failed halfway.
  deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

  package func endInput() { try? input.fileHandleForWriting.close() }

  package func signal(_ number: Int32) { kill(process.processIdentifier, number) }

  /// Waits until either output has the text `times` times. - Returns: False if both ended or the time limit passed first.
  package func waitForOutput(containing text: String, times: Int = 1) -> Bool {
    collected.wait { out, errors in
      String(decoding: out + [10] + errors, as: UTF8.self).components(separatedBy: text).count > times
    }
  }

  /// Waits until standard output after the first `bytes` bytes fits.
  /// - Returns: False if both outputs ended or the time limit passed first.
  package func waitForOutput(after bytes: Int, where fits: (String) -> Bool) -> Bool {
    collected.wait { out, _ in fits(String(decoding: out.dropFirst(bytes), as: UTF8.self)) }
  }

  /// Returns the next fitting line of standard output. Nil if the output ended or the time limit passed first.
  package func nextLine(where matches: (String) -> Bool) -> String? {
    let deadline = Date(timeIntervalSinceNow: HangGuard.seconds)
    while let line = collected.nextLine(until: deadline) {
      if matches(line) { return line }
    }
    return nil
  }

  /// Ends the input and waits for the end of the program.
  @discardableResult package func finish() -> ProcessResult {
    endInput()
    return wait()
  }

  /// Sends a signal and waits for the end of the program.
  @discardableResult package func end(by number: Int32) -> ProcessResult {
    signal(number)
    return wait()
  }

  package func wait() -> ProcessResult {
    process.waitUntilExit()
    readers.wait()
    let (out, err) = collected.all
    if let keptArguments { KeptRecords.shared?.add(out + [10] + err, of: keptArguments) }
    let status = process.terminationReason == .uncaughtSignal ? 128 + process.terminationStatus : process.terminationStatus
    return ProcessResult(
      status: status, wasKilled: process.terminationReason == .uncaughtSignal, output: out, errors: String(decoding: err, as: UTF8.self))
  }
}
