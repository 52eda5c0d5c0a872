import Foundation
import TestSupport

import struct CommandLine.Configuration

@testable import CommandLine
@testable import blectl

/// Another adapter replaces hci0, for scripts that name it.
@Suite(.timeLimit(.minutes(15))) struct AdapterReplacementTests {
  private let folder = TemporaryFolder.path()
  private var path: String { folder + "/blectl/config.json" }

  init() throws { try FileManager.default.createDirectory(atPath: folder + "/blectl", withIntermediateDirectories: true) }

  private func configure(_ text: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: path)) }

  private func configuration(_ adapter: String?, _ environment: [String: String] = [:]) -> Configuration {
    Configuration(environment: environment.merging(["XDG_CONFIG_HOME": folder]) { $1 }, adapter: adapter)
  }

  @Test func whatIsNamedIsReplaced() throws {
    try configure(#"{"adapters": {"hci0": "sim", "hci2": "unix:/tmp/other", "hci3": "hci0"}}"#)
    let air = ["BLECTL_HCI0": "unix:/tmp/air", "BLECTL_HCI1": "", "BLECTL_HCI4": "hci1"]
    let unix = try AdapterSpec("unix:/tmp/air")
    // The variable takes precedence over the file, a replacement is not replaced again, and an empty variable is ignored.
    #expect(try configuration("hci0", air).adapter() == unix)
    #expect(try configuration(nil, air.merging(["BLECTL_ADAPTER": "hci0"]) { $1 }).adapter() == unix)
    #expect(try configuration("hci0").adapter() == .simulation(file: nil))
    #expect(try configuration("hci1", air).adapter() == .kernel(1))
    #expect(try configuration("hci2", air).adapter() == AdapterSpec("unix:/tmp/other"))
    #expect(try configuration("hci3", air).adapter() == .kernel(0))
    #expect(try configuration("hci4", air).adapter() == .kernel(1))
    #expect(try configuration("user:0", air).adapter() == .user(0) && configuration(nil, air).adapter() == .kernel(nil))
    #expect(try configuration("hci0", air).adapterNote() == "Using unix:/tmp/air instead of hci0 (BLECTL_HCI0)")
    #expect(try configuration("hci0").adapterNote() == "Using sim instead of hci0 (\(path):1)")
    #expect(try configuration("sim", air).adapterNote() == nil && configuration("hci7", air).adapterNote() == nil)
    // Capabilities are for adapters of the kernel.
    #expect(try !configuration("hci0", air).adapter().isKernel)
  }

  @Test(arguments: [
    (#"{"adapters": 1}"#, ":1: adapters: Expected an object, found a number"),
    ("{\"adapters\": {\n\"hci0\": 7}}", ":2: hci0: Expected a SPEC in quotes, found a number"),
    (#"{"adapters": {"usb0": "sim"}}"#, ":1: \"usb0\" is not a kernel adapter. Use a name such as hci0."),
    (#"{"adapters": {"sim": "hci0"}}"#, ":1: \"sim\" is not a kernel adapter"),
    (#"{"adapters": {"hci1": "nothing"}}"#, ":1: Unknown adapter \"nothing\""),
    (#"{"adapter": {}}"#, ":1:13: adapter: Unknown key. Did you mean adapters?"),
  ]) func whatIsWrongIsSaid(_ text: String, _ message: String) throws {
    try configure(text)
    let result = try Blectl.run(["scan", "-d", "1"], environment: ["XDG_CONFIG_HOME": folder], adapter: "hci0")
    #expect(result.status == (message.contains("Unknown adapter") ? 64 : 66), "\(result.errors)")
    #expect(result.errors.hasPrefix("blectl: \(path)\(message)"), "\(result.errors)")
    // A command without a kernel adapter ignores the replacement, but not an unknown key.
    let status: Int32 = message.contains("Unknown key") ? 66 : 0
    #expect(try Blectl.run(["scan", "-d", "1"], environment: ["XDG_CONFIG_HOME": folder]).status == status)
  }

  @Test func scriptsThatNameHci0RunOnTheSimulator() throws {
    for words in [
      ["-i", "hci0", "read", "name:Band-7", "2a19"],
      ["gatttool", "-i", "hci0", "-t", "random", "-b", "D1:00:00:00:00:02", "--char-read", "-a", "0x3"],
    ] {
      let result = try Blectl.run(words, environment: ["BLECTL_HCI0": "sim"], adapter: nil)
      #expect(result.status == 0 && !result.text.isEmpty, "\(result.errors)")
      // gatttool prints no notes.
      let notes = result.errors.split(separator: "\n").count { $0.contains("Using sim instead of hci0 (BLECTL_HCI0)") }
      #expect(notes == (words[0] == "gatttool" ? 0 : 1), "\(result.errors)")
    }
    let wrong = try Blectl.run(["-i", "hci0", "scan"], environment: ["BLECTL_HCI0": "nothing"], adapter: nil)
    #expect(wrong.status == 64 && wrong.errors.contains("BLECTL_HCI0: Unknown adapter \"nothing\""), "\(wrong.errors)")
  }
}
