import Foundation
import Glibc
import TestSupport

/// Kinds of files that can be sent, and changes to them during the transfer.
@Suite(.timeLimit(.minutes(15))) struct SentFileTests {
  private static let notify = ["--verify", "notify:fff7"]

  private func send(_ file: String, _ options: [String] = [], input: [UInt8]? = nil, adapter: String = "sim") throws -> (
    sent: Record?, result: Blectl.Result
  ) {
    let result = try Blectl.run(["send-file", "name:Panel", "fff6", file, "--json"] + options, input: input, adapter: adapter)
    return (try result.records.last, result)
  }

  private func path(_ contents: [UInt8] = [], bytes: Int? = nil) throws -> String {
    let path = try TemporaryFolder.file(contents)
    if let bytes { #expect(unsafe truncate(path, bytes) == 0) }
    return path
  }

  /// Expects a refusal before any action: the nonexistent adapter is not even reported.
  private func refuses(_ file: String, _ message: String, input: [UInt8]? = nil) throws {
    let (_, result) = try send(file, input: input, adapter: "unix:/nonexistent")
    #expect(result.status == 66 && result.output.isEmpty && result.error?.string("kind") == "input", "\(file): \(result.errors)")
    #expect(result.error?.string("message")?.contains(message) == true, "\(file): \(result.errors)")
  }

  @Test func whatCannotBeRead() throws {
    try refuses("/nonexistent/file", "no such file (ENOENT)")
    try refuses("/", "it is a directory (EISDIR)")
    try refuses("/proc/self/mem", "Input/output error (EIO)")
    for device in ["/dev/zero", "/dev/urandom", "/dev/full"] {
      try refuses(device, "is a device that may never end. To limit it: head -c 1000 \(device) | … -")
    }
    let socket = TemporaryPath()
    #expect(try Shell.run("python3 -c 'import socket,sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' \(socket.path)").status == 0)
    try refuses(socket.path, "it is a socket, or a device that does not exist (ENXIO)")
    let empty = try path()
    try refuses(empty, "Nothing to send: \(empty) is empty")
    try refuses("/dev/null", "Nothing to send: /dev/null is empty")
    try refuses("-", "Nothing to send: - is empty", input: [])
  }

  /// Root may read everything, unless it drops that right.
  @Test func notForThisUser() throws {
    let closed = try path([1])
    #expect(unsafe chmod(closed, 0) == 0)
    let drop = geteuid() == 0 ? "setpriv --inh-caps=-all --bounding-set=-all " : ""
    let result = try Shell.run("BLECTL_CLOCK=virtual \(drop)\(Blectl.path) -i sim send-file name:Panel fff6 \(closed)")
    #expect(result.status == 66 && result.errors.contains("permission denied (EACCES)"), "\(result)")
  }

  @Test func largerThanAnyLinkCarries() throws {
    try refuses(try path(bytes: 1 << 40), "is too large: the limit is 68719476736 bytes.")
  }

  @Test func oneByte() throws {
    let (sent, result) = try send(try path([7]), Self.notify)
    #expect(
      result.status == 0 && sent?.int("bytes") == 1 && sent?.int("segments") == 1 && sent?.bool("verified") == true, "\(result.errors)")
  }

  /// Only the sent part of a file is read.
  @Test func fourGigabytesOfHoles() throws {
    let path = try path([1, 2, 3], bytes: 4 << 30)
    let (sent, result) = try send(path, ["--offset", "\(4 << 30 - 1000)"])
    #expect(result.status == 0 && sent?.int("bytes") == 1000 && sent?.int("offset") == 4 << 30 - 1000, "\(result.errors)")
    let device = try TemporaryFolder.file(
      """
      {"name": "Panel", "address": "D1:00:00:00:00:12/random", "advertisement": {"name": "Panel"}, "mtu": 247, "link": {"cut_after_octets": 40000},
        "services": [{"uuid": "fff0", "characteristics": [{"uuid": "fff6", "properties": ["write_without_response"]}]}]}
      """)
    let (_, lost) = try send(path, adapter: "sim:\(device)")
    let told = try #require(lost.error?.int("resume_offset"), "\(lost.errors)")
    #expect(lost.status == 6 && (1000..<40_000).contains(told) && lost.errors.contains("of \(4 << 30) bytes arrived"), "\(lost.errors)")
    let (_, beyond) = try send(path, ["--offset", "\(4 << 30)"])
    #expect(beyond.status == 66 && beyond.errors.contains("is past the end of \(path), which has \(4 << 30) bytes"), "\(beyond.errors)")
  }

  // MARK: What states no size

  @Test(arguments: ["/proc/version", "/proc/cpuinfo"]) func filesOfTheKernel(_ path: String) throws {
    let count = try Data(contentsOf: URL(fileURLWithPath: path)).count
    let (sent, result) = try send(path, Self.notify)
    #expect(result.status == 0 && sent?.int("bytes") == count && sent?.bool("verified") == true, "\(result.errors)")
  }

  @Test func pipes() throws {
    let file = try path(SendFileTests.picture)
    let program = "BLECTL_CLOCK=virtual \(Blectl.path) -i sim send-file name:Panel fff6"
    let verify = "--json --verify notify:fff7"
    let pipe = TemporaryPath()
    for line in [
      "cat \(file) | \(program) - \(verify)", "cat \(file) | \(program) /dev/stdin \(verify)", "\(program) /dev/stdin \(verify) < \(file)",
      "\(program) <(cat \(file)) \(verify)", "mkfifo \(pipe.path); cat \(file) > \(pipe.path) & \(program) \(pipe.path) \(verify)",
      "(head -c 831; \(program) - \(verify)) < \(file)",
    ] {
      let result = try Shell.run(line)
      let sent = try result.output.split(separator: "\n").last.map { try Record(String($0)) }
      #expect(result.status == 0 && sent?.bool("verified") == true, "\(line): \(result)")
      #expect(sent?.int("bytes") == (line.contains("head") ? 77_000 : 77_831), "\(line)")
    }
  }

  /// Ctrl-C ends a pipe that stays open forever.
  @Test func aPipeWithoutAnEnd() throws {
    let running = try Blectl.start(["send-file", "name:Panel", "fff6", "-", "--json"])
    running.send([UInt8](repeating: 0, count: 300_000))
    // So many bytes that some are confirmed.
    #expect(running.nextLine { ((try? Record($0))?.int("bytes") ?? 0) > 100_000 } != nil)
    let result = running.end(by: SIGINT)
    #expect(result.status == 130 && result.errors.contains("resume_offset"), "\(result.errors)")
  }

  // MARK: What changes meanwhile

  /// Stops the program after it has started, and continues it after `change`.
  private func sendChanging(
    _ bytes: [UInt8], _ options: [String] = [], environment: [String: String] = [:], _ change: (String) throws -> Void
  ) throws -> ProcessResult {
    let path = try path(bytes)
    let running = try Blectl.start(
      ["send-file", "name:Panel", "fff6", path, "--json"] + options, environment: environment, hasInput: false)
    #expect(running.nextLine { $0.contains(#""event":"progress""#) } != nil)
    running.signal(SIGSTOP)
    try change(path)
    #expect(!String(decoding: running.outputSoFar, as: UTF8.self).contains(#""event":"sent""#), "it was over before it could be stopped")
    running.signal(SIGCONT)
    return running.wait()
  }

  private static let long = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }

  private func append(_ bytes: [UInt8], to path: String) throws {
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try file.seekToEnd()
    try file.write(contentsOf: Data(bytes))
    try file.close()
  }

  /// The original part is sent, and blectl reports that the file has grown.
  @Test func grows() throws {
    let state = ["XDG_STATE_HOME": TemporaryFolder.path()]
    var path = ""
    let result = try sendChanging(Self.long, environment: state) {
      try append([1, 2, 3], to: $0)
      path = $0
    }
    #expect(result.status == 66 && result.error?.string("name") == "file_changed", "\(result.errors)")
    #expect(result.errors.contains("changed while it was read (1000000 bytes before, 1000003 now)"), "\(result.errors)")
    #expect(result.error?.int("resume_offset") == 1_000_000)
    let rest = try Blectl.run(["send-file", "name:Panel", "fff6", path, "--json", "--resume"], environment: state)
    #expect(try rest.status == 0 && rest.records.last?.int("bytes") == 3, "\(rest.errors)")
  }

  /// A reader that closes the pipe ends the transfer silently, and the next one resumes.
  @Test func aClosedPipe() throws {
    let (file, state) = (try path(Self.long), TemporaryFolder.path())
    let program = "XDG_STATE_HOME=\(state) BLECTL_CLOCK=virtual \(Blectl.path) -i sim send-file name:Panel fff6 \(file) --json"
    let closed = try Shell.run("\(program) | head -n 9 | tail -n 1; exit ${PIPESTATUS[0]}")
    let seen = try #require(try Record(closed.output).int("bytes"))
    #expect(closed.status == 74 && closed.errors.isEmpty, "\(closed)")
    let rest = try Shell.run("\(program) --resume")
    let sent = try #require(try rest.output.split(separator: "\n").last.map { try Record(String($0)) })
    #expect(rest.status == 0 && sent.int("offset") ?? 0 > seen / 2, "\(rest)")
  }

  @Test func isWrittenTo() throws {
    let result = try sendChanging(Self.long) { path in
      let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
      try file.write(contentsOf: Data([9]))
      try file.close()
    }
    #expect(result.status == 66 && result.errors.contains("changed while it was read (still 1000000 bytes)"), "\(result.errors)")
  }

  /// Removed data is not replaced by zeros.
  @Test func shrinks() throws {
    let result = try sendChanging(Self.long) { #expect(unsafe truncate($0, 900_000) == 0) }
    let told = try #require(result.error?.int("resume_offset"), "\(result.errors)")
    #expect(result.status == 66 && result.error?.string("name") == "file_changed" && told > 0 && told <= 900_000, "\(result.errors)")
    #expect(
      result.errors.contains("was cut to 900000 of 1000000 bytes while it was read."), "\(result.errors)")
    let nothing = try sendChanging(Self.long) { #expect(unsafe truncate($0, 0) == 0) }
    #expect(nothing.status == 66 && nothing.errors.contains("of 1000000 bytes while it was read"), "\(nothing.errors)")
  }

  /// If the file is replaced or removed, the open one is sent.
  @Test(arguments: [true, false]) func itsNameMeansAnother(_ isReplaced: Bool) throws {
    let result = try sendChanging(Self.long, Self.notify) { path in
      let other = try self.path([1])
      #expect(isReplaced ? unsafe rename(other, path) == 0 : unsafe unlink(path) == 0)
    }
    #expect(
      try result.status == 0 && result.records.last?.int("bytes") == 1_000_000 && result.records.last?.bool("verified") == true,
      "\(result.errors)")
  }

  // MARK: What is told

  @Test func nobodyTakesWhatIsTold() throws {
    let file = try path(SendFileTests.picture)
    let program = "BLECTL_CLOCK=virtual \(Blectl.path) -i sim send-file name:Panel fff6 \(file) --json"
    let full = try Shell.run("\(program) > /dev/full")
    #expect(full.status == 74 && full.errors.contains("No space left on device"), "\(full)")
    let trace = try Shell.run("\(program) --trace /dev/full")
    #expect(trace.status == 74, "\(trace)")
    let closed = try Shell.run("\(program) | head -n 1; echo ${PIPESTATUS[0]}")
    #expect(closed.errors.isEmpty, "\(closed)")
  }

  @Test(arguments: ["513", "0"]) func segmentsThatNoAttributeHas(_ chunk: String) throws {
    let (_, result) = try send(try path([1]), ["--chunk", chunk])
    #expect(result.status == 64, "\(result.errors)")
  }
}
