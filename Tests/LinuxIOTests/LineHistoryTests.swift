import Foundation
import LinuxIO
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct LineHistoryTests {
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
