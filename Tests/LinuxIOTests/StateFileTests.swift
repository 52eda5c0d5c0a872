import BluetoothLELinux
import Foundation
import Glibc
import TestSupport

/// Tests the file to which several processes add lines.
@Suite(.timeLimit(.minutes(15))) struct StateLogTests {
  private let folder = TemporaryFolder.path()
  private var path: String { folder + "/state/blectl/devices" }

  private func append(_ text: String, limit: Int = 1 << 20, shorten: ([UInt8]) -> [UInt8] = { $0 }) throws {
    try StateLog.append(Array("\(text)\n".utf8), to: path, limit: limit, shorten: shorten)
  }

  private var lines: [String] { (try? String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)) ?? [] }

  private func mode(_ path: String) throws -> Int {
    try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
  }

  @Test func isMadeForTheUserOnly() throws {
    try append("one")
    try append("two")
    #expect(lines == ["one", "two"])
    #expect(try mode(path) == 0o600 && mode(folder + "/state") == 0o700)
  }

  @Test func isShortenedWhenItIsLong() throws {
    for number in 0..<100 { try append("line \(number)", limit: 100) { Array($0.suffix(16)) } }
    #expect(lines.last == "line 99" && lines.count < 15)
    #expect(try mode(path) == 0o600)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/state/blectl") == ["devices"])
  }

  /// After a full disk left half a line, later lines stay intact.
  @Test func aHalfLineStaysAlone() throws {
    try append("one")
    let file = try #require(FileHandle(forWritingAtPath: path))
    try file.seekToEnd()
    try file.write(contentsOf: Data("hal".utf8))
    try append("two")
    #expect(lines == ["one", "hal", "two"])
  }

  /// Threads act as processes: each opens the file itself, and locks belong to the open file.
  @Test func nothingIsLostAmongMany() async throws {
    let path = path
    // The same lines without their padding blanks: the file is rewritten some ten times.
    let shorten: @Sendable ([UInt8]) -> [UInt8] = { $0.filter { $0 != 0x20 } }
    let blanks = String(repeating: " ", count: 60)
    await withTaskGroup { group in
      for writer in 0..<8 {
        group.addTask {
          for number in 0..<200 {
            try? StateLog.append(Array("\(writer)-\(number)\(blanks)\n".utf8), to: path, limit: 16_000, shorten: shorten)
          }
        }
      }
    }
    let lines = lines.map { $0.filter { $0 != " " } }
    for writer in 0..<8 {
      let own = lines.filter { $0.hasPrefix("\(writer)-") }
      #expect(own == (0..<200).map { "\(writer)-\($0)" })
    }
  }

  /// A process that stops while it rewrites the file does not block others.
  @Test func aLockThatStaysIsNoReasonToWait() throws {
    try append("one")
    let file = try #require(FileHandle(forReadingAtPath: path))
    #expect(flock(file.fileDescriptor, LOCK_EX) == 0)
    try append("two", limit: 1)
    #expect(lines == ["one", "two"])
  }

  /// In a folder that accepts no new files, the log stops growing.
  @Test func isBoundedWhereItCannotBeShortened() throws {
    try append("one")
    // A folder occupies the temporary name. Root may write anywhere.
    try FileManager.default.createDirectory(atPath: "\(path).\(getpid())", withIntermediateDirectories: false)
    var failures = 0
    for _ in 0..<400 { do { try append("more", limit: 100) } catch { failures += 1 } }
    let size = try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
    #expect(size <= 16 * 100 + 5 && failures > 0)
  }

  @Test(arguments: ["/dev/null/no/file", "/proc/devices-of-mine", "/dev/null"]) func whatCannotBeWritten(_ path: String) {
    #expect(throws: FileError.self) { try StateLog.append([0x0A], to: path, limit: 100) { $0 } }
  }

  @Test func aFullDisk() throws {
    #expect(throws: FileError.self) { try StateLog.append(Array("one\n".utf8), to: "/dev/full", limit: 100) { $0 } }
  }

  @Test func aPipeIsNoReasonToWait() throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    #expect(unsafe mkfifo(folder + "/pipe", 0o600) == 0)
    #expect(throws: FileError.self) { try StateLog.append([0x0A], to: folder + "/pipe", limit: 100) { $0 } }
  }
}

@Suite(.timeLimit(.minutes(15))) struct LineHistoryTests {
  @Test func linesComeBackInTheirOrder() throws {
    let path = TemporaryFolder.path()
    let history = LineHistory(path + "/blectl/history", limit: 3)
    #expect(try history.read() == [])
    for line in ["read 2a19", "größer", "read 2a19", "two\nlines"] { try history.append(line) }
    #expect(try history.read() == ["größer", "read 2a19", "twolines"])
    let attributes = try FileManager.default.attributesOfItem(atPath: path + "/blectl/history")
    #expect(attributes[.posixPermissions] as? Int == 0o600)
  }

  /// Two sessions each add to the lines of the other.
  @Test func twoAtOnceLoseNothing() throws {
    let path = TemporaryFolder.path()
    let (one, other) = (LineHistory(path + "/history", limit: 100), LineHistory(path + "/history", limit: 100))
    for number in 0..<10 { try (number.isMultiple(of: 2) ? one : other).append("\(number)") }
    #expect(try one.read() == (0..<10).map(String.init))
  }

  @Test func isKeptShort() throws {
    let path = TemporaryFolder.path()
    let file = path + "/history"
    let history = LineHistory(file, limit: 10)
    for number in 0..<25 { try history.append("\(number)") }
    #expect(try history.read() == (15..<25).map(String.init))
    #expect(try String(contentsOfFile: file, encoding: .utf8) == (15..<25).map { "\($0)\n" }.joined())
    try history.append("x")
    #expect(try history.read().last == "x")
    try history.append(String(repeating: "y", count: LineHistory.longest))
    #expect(try history.read().last == "x")
  }

  /// A file of another type is neither waited for nor replaced.
  @Test func whatIsNoFileIsRefused() throws {
    let path = TemporaryFolder.path()
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    #expect(try Shell.run("mkfifo \(path)/history; ln -s elsewhere \(path)/link").status == 0)
    #expect(throws: FileError.self) { try LineHistory(path + "/history", limit: 10).append("x") }
    #expect(throws: FileError.self) { try LineHistory(path + "/link", limit: 10).append("x") }
    #expect(!FileManager.default.fileExists(atPath: path + "/elsewhere"))
  }
}
