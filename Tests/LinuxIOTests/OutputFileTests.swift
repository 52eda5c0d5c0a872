import BluetoothLELinux
import Foundation
import Glibc
import SystemPackage
import TestSupport

/// An output file is written at the end. The old file stays until the new one is complete.
@Suite(.timeLimit(.minutes(15))) struct OutputFileTests {
  private let folder = TemporaryFolder.path()
  private var path: String { folder + "/report" }

  init() throws { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) }

  private func write(_ text: String, to path: String? = nil, for readers: OutputFile.Readers = .everybody) async throws {
    let path = path ?? self.path
    try await onLoop { try await OutputFile.write(Array(text.utf8), to: path, for: readers) }
  }

  private func read(_ name: String = "report") throws -> String { try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8) }

  private var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() } }

  private func status(_ name: String = "report") throws -> stat {
    var status = stat()
    try #require(unsafe lstat("\(folder)/\(name)", &status) == 0)
    return status
  }

  @Test func theOldFileIsNotTouched() async throws {
    try await write("old")
    let old = try #require(FileHandle(forReadingAtPath: path))
    try OutputFile.check(path)
    try await write("new, and longer")
    #expect(try String(decoding: old.readToEnd() ?? Data(), as: UTF8.self) == "old")
    #expect(try read() == "new, and longer" && names == ["report"])
  }

  /// A check leaves no empty file, which a reader would take for a report.
  @Test func aCheckLeavesNothing() throws {
    try OutputFile.check(path)
    #expect(try names.isEmpty)
  }

  @Test func whatCannotBeWrittenStays() async throws {
    #expect(throws: FileError.unwritable(folder + "/none/report", .noSuchFileOrDirectory)) { try OutputFile.check(folder + "/none/report") }
    #expect(throws: FileError.unwritable(folder + "/", .isDirectory)) { try OutputFile.check(folder + "/") }
    try await write("old")
    // The file may not grow by a single byte, which a signal also reports.
    let limited = try Shell.run(
      "cd \(folder) && (trap '' XFSZ; ulimit -f 0; BLECTL_CLOCK=virtual timeout 60 \(Blectl.path) -i sim run - --html report <<<'sleep 1ms') 2>&1 "
        + "| cat; exit ${PIPESTATUS[0]}")
    #expect(limited.status == 74 && limited.output.contains("EFBIG"), "\(limited)")
    #expect(try read() == "old" && names == ["report"])
  }

  @Test func keepsModeAndOwner() async throws {
    try await write("old", for: .user)
    #expect(try status().st_mode & 0o777 == 0o600)
    unsafe chmod(path, 0o640)
    // Only root may do this. The file keeps its owner.
    if geteuid() == 0 { _ = unsafe chown(path, 65534, 65534) }
    let before = try status()
    try await write("new")
    let after = try status()
    #expect(after.st_mode == before.st_mode && after.st_uid == before.st_uid && after.st_gid == before.st_gid)
    #expect(after.st_ino != before.st_ino)
  }

  @Test(arguments: ["target", "missing", "inner/missing"]) func linksStayLinks(_ target: String) async throws {
    try FileManager.default.createDirectory(atPath: folder + "/inner", withIntermediateDirectories: true)
    if target == "target" { try await write("old", to: folder + "/target") }
    unsafe symlink(target, folder + "/between")
    unsafe symlink(folder + "/between", path)
    try OutputFile.check(path)
    try await write("new")
    #expect(try status().st_mode & S_IFMT == S_IFLNK && read(target) == "new")
  }

  /// Keys go to a new file or to a pipe of this user, through no link and into no file with a second name.
  @Test func keys() async throws {
    func write(_ path: String) async throws { try await onLoop { try await OutputFile.write(keys: [7], to: path) } }
    try await self.write("old")
    unsafe chmod(path, 0o644)
    try await write(path)
    #expect(try status().st_mode & 0o777 == 0o600 && read() == "\u{7}")
    unsafe symlink(path, folder + "/link")
    unsafe Glibc.link(path, folder + "/hard")
    await #expect(throws: FileError.keys(folder + "/link", .tooManySymbolicLinkLevels)) { try await write(folder + "/link") }
    await #expect(throws: FileError.keys(path, .notPermitted)) { try await write(path) }
    unsafe mkfifo(folder + "/pipe", 0o600)
    let reader = FileHandle(fileDescriptor: unsafe open(folder + "/pipe", O_RDONLY | O_NONBLOCK), closeOnDealloc: true)
    try await write(folder + "/pipe")
    #expect(try reader.readToEnd() == Data([7]))
  }

  /// A pipe or an inherited descriptor is written directly, because it cannot be replaced by renaming.
  @Test func whatIsNoFileIsWrittenDirectly() async throws {
    unsafe mkfifo(path, 0o600)
    try OutputFile.check(path)
    await #expect(throws: FileError.self) { try await write("nobody reads it") }
    let reader = FileHandle(fileDescriptor: unsafe open(path, O_RDONLY | O_NONBLOCK), closeOnDealloc: true)
    try OutputFile.check(path)
    try await write("through the pipe")
    #expect(try String(decoding: reader.readToEnd() ?? Data(), as: UTF8.self) == "through the pipe")
    #expect(try status().st_mode & S_IFMT == S_IFIFO)
    let shared = try Shell.run(
      "cd \(folder) && echo before > all && BLECTL_CLOCK=virtual \(Blectl.path) -i sim run - --junit /dev/stdout <<<'sleep 1ms' >> all")
    #expect(try shared.status == 0 && read("all").hasPrefix("before\n") && read("all").hasSuffix("</testsuites>\n"), "\(shared)")
  }
}
