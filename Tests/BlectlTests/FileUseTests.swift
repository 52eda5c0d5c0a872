import Foundation
import TestSupport

/// A refused command, or another option of the same command line, never destroys a file.
@Suite(.timeLimit(.minutes(15))) struct FileUseTests {
  private static let band = "name:Band-7"
  private static let script = "device name:Band-7\nread 2a19\n"

  private func contents(_ path: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
  }

  /// Creates a folder with the script `s.blectl`, the air `air.json`, and the recording `band.bt`.
  private func folder() throws -> String {
    let folder = TemporaryFolder.path()
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try Self.script.write(toFile: "\(folder)/s.blectl", atomically: true, encoding: .utf8)
    try FileManager.default.copyItem(
      atPath: ManualTests.root.appendingPathComponent("man/examples/tracker.json").path, toPath: "\(folder)/air.json")
    #expect(try Blectl.run(["read", Self.band, "2a19", "--trace", "\(folder)/band.bt"]).status == 0)
    return folder
  }

  @Test func whatIsRefusedLeavesTheRecordAlone() throws {
    let table = [
      ["run", "other.blectl"], ["browse"], ["sim", "--listen", "unix:air"], ["read", Self.band, "zz"], ["read", Self.band],
      ["-e", "read zz", Self.band], ["-e", "read 2a19; nope", Self.band], ["call", Self.band, "nope"],
      ["call", Self.band, "battery", "--device", "air.json", "x=1"],
    ]
    let folder = try folder()
    for arguments in table {
      let result = try Blectl.run(arguments + ["--record", "s.blectl"], folder: folder, adapter: arguments[0] == "sim" ? nil : "sim")
      #expect(result.status == 64, "\(arguments): \(result.status) \(result.errors)")
      #expect(try contents("\(folder)/s.blectl") == Self.script, "\(arguments)")
    }
    // The finished commands are kept.
    let done = try Blectl.run(
      ["repl", "--record", "s.blectl"], input: Array("connect \(Self.band)\nread 2a19\nread zz\n".utf8), folder: folder)
    #expect(done.status == 64)
    #expect(try contents("\(folder)/s.blectl").contains("expect == 3c"))
  }

  @Test func noFileIsDestroyedByAnother() throws {
    let folder = try folder()
    try FileManager.default.createSymbolicLink(atPath: "\(folder)/link.bt", withDestinationPath: "band.bt")
    let table: [([String], String)] = [
      (
        ["-i", "replay:band.bt", "read", Self.band, "2a19", "--trace", "band.bt"],
        "--trace would overwrite \"band.bt\", which is read as --adapter"
      ),
      (["-i", "replay:link.bt", "read", Self.band, "2a19", "--record", "./band.bt"], "--record would overwrite"),
      (["-i", "sim:air.json", "call", "name:Tracker", "battery", "--record", "air.json"], "which is read as --adapter sim:FILE"),
      (["call", "name:Tracker", "battery", "--device", "air.json", "--trace", "air.json"], "which is read as --device"),
      (["call", Self.band, "battery", "code=@air.json", "--record", "air.json"], "which is read as code"),
      (["write", Self.band, "ff02", "@air.json", "--trace", "air.json"], "which is read as VALUE"),
      (["send-file", Self.band, "ff02", "air.json", "--trace", "air.json"], "which is read as FILE"),
      (["read", Self.band, "2a19", "--record", "o", "--trace", "o"], "--trace and --record would both write \"o\""),
      (["read", Self.band, "2a19", "--record", "o", "--trace", "\(folder)/o"], "--trace and --record would both write"),
      (["scan", "--log", "o", "--trace", "o"], "--log and --trace would both write"),
      (["run", "s.blectl", "--junit", "o", "--html", "./o"], "--junit and --html would both write"),
      (["run", "s.blectl", "--html", "s.blectl"], "--html would overwrite \"s.blectl\", which is read as a script"),
      (["run", ".", "--html", "s.blectl"], "--html would overwrite \"./s.blectl\""),
      (["run", "s.blectl", "--trace", "s.blectl"], "--trace would overwrite"),
    ]
    let before = try ["s.blectl", "air.json", "band.bt"].map { try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\($0)")) }
    for (arguments, message) in table {
      let result = try Blectl.run(arguments, folder: folder, adapter: nil)
      #expect(result.status == 64 && result.errors.contains(message), "\(arguments): \(result.status) \(result.errors)")
    }
    let after = try ["s.blectl", "air.json", "band.bt"].map { try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\($0)")) }
    #expect(before == after && !FileManager.default.fileExists(atPath: "\(folder)/o"))
    let session = try Blectl.run(["-e", "scan --log o --count 1", "--trace", "o"], folder: folder)
    #expect(session.status == 64 && session.errors.contains("--log and --trace would both write"), "\(session.errors)")
  }

  /// Pipes and devices may be shared, because nothing in them is destroyed.
  @Test func whatMayBeShared() throws {
    let folder = try folder()
    #expect(try Blectl.run(["read", Self.band, "2a19", "--trace", "/dev/null", "--record", "/dev/null"]).status == 0)
    let both = try Shell.run(
      "cd \(folder) && BLECTL_CLOCK=virtual \(Blectl.path) -i sim run s.blectl --junit /dev/stdout --html /dev/fd/1 > reports")
    #expect(both.status == 0, "\(both.errors)")
  }

  /// A pipe without a writer is waited for until the time limit or Ctrl-C.
  @Test func aPipeThatNobodyWritesTo() throws {
    let folder = try folder()
    #expect(try Shell.run("mkfifo \(folder)/pipe").status == 0)
    let waiting = try Blectl.start(["run", "pipe"], folder: folder, hasInput: false)
    let writer = try Shell.run("cat \(folder)/s.blectl > \(folder)/pipe")
    #expect(writer.status == 0 && waiting.wait().status == 0)
    let message = try Shell.run(
      "cd \(folder) && for i in '-i sim:pipe scan' '-i replay:pipe scan' '-i sim call name:x y --device pipe' 'run pipe'; do "
        + "(BLECTL_CLOCK=virtual \(Blectl.path) $i > /dev/null; echo $?) & done; wait")
    #expect(message.output == "66\n66\n66\n66\n", "\(message)")
    #expect(
      message.errors.contains("Cannot read \"pipe\": no program writes to this pipe (ETIMEDOUT). Start its writer first."), "\(message)")
  }

  /// Arguments that are not valid UTF-8 are refused. Swift would replace them silently.
  @Test func argumentsThatAreNoText() throws {
    for line in [
      "write \(Self.band) ff02 --as utf8 $'\\xff\\xfe'", "call \(Self.band) battery text=$'\\xc3'", "scan --name $'a\\xff' --json",
    ] {
      let result = try Shell.run("BLECTL_CLOCK=virtual \(Blectl.path) -i sim \(line)")
      #expect(result.status == 64 && result.errors.contains("is not UTF-8. Give bytes in hex, or as @FILE."), "\(line): \(result)")
    }
    // U+FFFD itself is text.
    #expect(try Shell.run("BLECTL_CLOCK=virtual \(Blectl.path) -i sim scan --name $'\\xef\\xbf\\xbd' -d 1").status == 0)
  }
}
