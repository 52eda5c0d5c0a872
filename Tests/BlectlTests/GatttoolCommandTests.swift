import Foundation
import TestSupport

/// `blectl gatttool` with GateLock in the simulator.
@Suite(.timeLimit(.minutes(15))) struct GatttoolCommandTests {
  private static let lock = ["-b", "D1:00:00:00:00:01", "-t", "random"]
  private static let base = "-0000-1000-8000-00805f9b34fb"

  /// Arguments, standard output and standard error. The exit code is 0.
  private static let table: [(String, String, String)] = [
    (
      "--primary",
      "attr handle = 0x0001, end grp handle = 0x0005 uuid: 00001800\(base)\nattr handle = 0x0006, end grp handle = 0x0009 uuid: 00001801\(base)\n"
        + "attr handle = 0x000a, end grp handle = 0x000f uuid: 0000ffe0\(base)\n", ""
    ),
    ("--primary -u ffe0", "Starting handle: 000a Ending handle: 000f\n", ""), ("--primary --uuid=abcd", "", ""),
    (
      "--characteristics --start 0x0b",
      "handle = 0x000b, char properties = 0x04, char value handle = 0x000c, uuid = 0000ffe1\(base)\n"
        + "handle = 0x000d, char properties = 0x12, char value handle = 0x000e, uuid = 0000ffe2\(base)\n", ""
    ),
    ("--characteristics -u abcd", "", "Discover all characteristics failed: No attribute found within the given range\n"),
    ("--char-desc -s 2 -e 3", "handle = 0x0002, uuid = 00002803\(base)\nhandle = 0x0003, uuid = 00002a00\(base)\n", ""),
    ("--char-desc -s 5 -e 1", "", "Discover descriptors failed: Invalid handle\n"),
    ("--char-read -a 3", "Characteristic value/descriptor: 47 61 74 65 4c 6f 63 6b \n", ""),
    ("--char-read -a 0xf000", "", "Characteristic value/descriptor read failed: Invalid handle\n"),
    ("--char-read", "", "A valid handle is required\n"),
    (
      "--char-read -u 2803",
      "handle: 0x0002 \t value: 02 03 00 00 2a \nhandle: 0x0004 \t value: 02 05 00 01 2a \nhandle: 0x0007 \t value: 20 08 00 05 2a \n", ""
    ),
    ("--char-write-req -a 0x0f -n 0100", "Characteristic value was written successfully\n", ""),
    ("--char-write-req -a 3 -n 00", "", "Characteristic Write Request failed: Attribute can't be written\n"),
    ("--char-write -a 0x0c -n 0", "", "Invalid value\n"), ("--char-write -a 0x0c -n 4f50", "", ""),
  ]

  @Test func results() throws {
    for (line, output, errors) in Self.table {
      let result = try Blectl.run(["gatttool"] + Self.lock + line.split(separator: " ").map(String.init))
      #expect(
        result.status == 0 && result.text == output && result.errors == errors, "\(line): \(result.status) \(result.text)\(result.errors)")
    }
  }

  @Test func failures() throws {
    let table: [(line: String, output: String, errors: String)] = [
      ("--primary", "Remote Bluetooth address required\n", ""),
      ("--primary -b D1:00:00:00:00:09", "", "connect to D1:00:00:00:00:09: Connection refused (111)\n"),
      (
        "--primary -b D1:00:00:00:00:01 -p 31", "",
        "connect to D1:00:00:00:00:01: GATT over BR/EDR is not supported: blectl supports only Bluetooth LE. Leave out --psm\n"
      ),
      ("-b D1:00:00:00:00:01", "Usage:", ""), ("--primary --foo", "Usage:", "Unknown option --foo\n"),
    ]
    for (line, output, errors) in table {
      let result = try Blectl.run(["gatttool"] + line.split(separator: " ").map(String.init))
      #expect(result.status == 1 && result.errors == errors, "\(line): \(result.status) \(result.errors)")
      #expect(
        output == "Usage:"
          ? result.text.hasPrefix("Usage:\n  gatttool [OPTION?]\n") && result.text.hasSuffix("mode\n\n\n") : result.text == output)
    }
  }

  /// gatttool works through a link with its name, after options of blectl, and with its own options for the adapter.
  @Test func names() throws {
    let folder = TemporaryFolder.path()
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let link = folder + "/gatttool"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: Blectl.path)
    let read = Self.lock + ["--char-read", "-a", "3"]
    let environment = ["PATH": "/usr/bin:/bin", "BLECTL_CLOCK": "virtual"]
    let linked = try RunningProcess([link, "-i", "sim"] + read, environment: environment, hasInput: false).wait()
    #expect(linked.status == 0 && linked.text.hasPrefix("Characteristic value"), "\(linked.errors)")
    let trace = folder + "/trace"
    let traced = try Blectl.run(["--trace", trace, "-i", "tcp:localhost:1", "gatttool", "-i", "sim"] + read, adapter: nil)
    #expect(traced.status == 0 && traced.text == linked.text && FileManager.default.fileExists(atPath: trace), "\(traced.errors)")
    let wrong = try Blectl.run("--durration", "gatttool")
    #expect(wrong.status == 64 && wrong.errors.contains("--durration"), "\(wrong.errors)")
  }

  @Test func listeningEndsWithItsReader() throws {
    let result = try Shell.run(
      "export BLECTL_CLOCK=virtual; { \(Blectl.path) -i sim gatttool -b C0:FF:EE:00:00:07 --char-write-req -a 0x0016 -n 0100 --listen; echo status $? >&2; } | head -n 3 | wc -l"
    )
    #expect(result.output == "3\n" && result.errors.hasSuffix("status 74\n"), "\(result.output) \(result.errors.suffix(300))")
  }

  /// Values arrive until Ctrl-C.
  @Test func listening() throws {
    let process = try Blectl.start(
      ["gatttool"] + ["-b", "C0:FF:EE:00:00:07", "--char-write-req", "-a", "0x0016", "-n", "0100", "--listen"])
    #expect(process.waitForOutput(containing: "\nNotification handle = 0x"))
    let result = process.end(by: SIGINT)
    #expect(result.status == 130, "\(result.status) \(result.text)\(result.errors)")
    #expect(result.lines.first == "Characteristic value was written successfully")
    #expect(
      result.lines.dropFirst().allSatisfy { $0.wholeMatch(of: /Notification handle = 0x00[0-9a-f]{2} value: ([0-9a-f]{2} )+/) != nil })
  }
}
