import Foundation
import Glibc
import Terminal
import TestSupport

@testable import CommandLine
@testable import Program
@testable import Scripting
@testable import blectl

/// Recorded scripts of sessions with commands that a script cannot contain, or cannot contain as typed.
extension RecordTests {
  /// Returns a device file with test answers: `refused` with the given code, `busy` with a number, `many` with all kinds of values.
  static func device(code: String = "no") throws -> String {
    let text = #"""
      {"device": "T", "match": {"name": "T"}, "to": "ff02", "from": "ff01",
       "commands": {
         "refused": {"request": {"header": "06"}, "answer": {"frame": {"header": "57", "fields": [{"name": "msg", "type": "text"}]},
           "errors": {"field": "msg", "ok": "OK"}, "within_ms": 1000}},
         "busy": {"request": {"header": "04"}, "answer": {"frame": {"header": "54", "fields": [{"name": "st", "type": "u8"}]},
           "errors": {"field": "st", "ok": 0}, "within_ms": 1000}},
         "say": {"request": {"header": "03", "fields": [{"name": "text", "type": "text"}]}},
         "many": {"request": {"header": "05"}, "answer": {"packets": [
           {"frame": {"header": "5600", "fields": [{"name": "days", "type": "u8"}, {"name": "half", "type": "u8", "scale": 0.5}, {"name": "name", "type": "text"}]}},
           {"frame": {"header": "5601", "fields": [{"name": "steps", "type": "u8"}]}, "count": {"field": "days"}, "as": "history"}],
           "within_ms": 1000}}
       },
       "simulate": {"name": "T", "address": "D1:00:00:00:00:09/random", "advertisement": {"name": "T"},
         "services": [{"uuid": "fff0", "characteristics": [{"uuid": "ff01", "properties": ["notify"]}, {"uuid": "ff02", "properties": ["write"]}]}],
         "answers": {
           "refused": [{"notify": "ff01", "value": ["57", {"utf8": "\#(code)"}]}], "busy": [{"notify": "ff01", "value": "5404"}],
           "many": [{"notify": "ff01", "value": ["56000203", {"utf8": "it's $5"}]}, {"notify": "ff01", "value": "560107"},
             {"notify": "ff01", "value": "560109"}]}}}
      """#
    return try TemporaryFolder.file(text)
  }

  /// - Returns: The lines of the test, except the last.
  private func recordCall(_ file: String, _ arguments: String...) throws -> [String] {
    let call = "  call --device \(file)"
    return try record(["call", "--device", file, "name:T"] + arguments, adapter: "sim:\(file)").dropFirst(3).dropLast(2).map {
      $0.replacing(call, with: "  call")
    }
  }

  // MARK: Calls

  @Test func aDeviceWritesNoLines() throws {
    let lines = try recordCall(try Self.device(code: #"timeout\n  write ff02 dead\n  #"#), "refused")
    #expect(lines.prefix(2) == ["  call refused", "  fails device"], "\(lines)")
    #expect(lines.count == 3 && lines.last?.hasPrefix("  # refused: the device answered timeout") == true, "\(lines)")
    for end in ["\\r", "\\u2028", "\\u0085", "\\u000b"] {
      #expect(try recordCall(try Self.device(code: "x\(end)  write ff02 dead"), "refused").count == 3)
    }
  }

  /// An error name shared with other failures would also accept those.
  @Test func refusedCallsAreRefusedAgain() throws {
    #expect(
      try recordCall(try Self.device(code: "timeout"), "refused").prefix(3) == [
        "  call refused", "  fails device", "  expect field name == \"timeout\"",
      ])
    #expect(
      try recordCall(try Self.device(code: "a'b \\\"$c"), "refused").dropFirst(2).first == #"  expect field name == 'a'\''b "$c'"#)
    #expect(
      try recordCall(try Self.device(), "busy").prefix(3) == ["  call busy", "  fails device", "  expect field name == \"4\""])
    let code = String(repeating: "01", count: 104)
    #expect(
      try record(["call", "mac:A4:C1:38:00:11:22", "open", "code=\(code)"]).dropFirst(3) == [
        "  call open code=\(code)", "  fails device", "  expect field name == \"FAIL\"",
        "  # open: the device answered FAIL: this is not the code", "end", "",
      ])
  }

  @Test func answersAreExpectedAgain() throws {
    #expect(try record(["call", "name:Band-7", "battery"]).dropFirst(3) == ["  call battery", "  expect field level == 60", "end", ""])
    #expect(
      try record(["call", "name:Band-7", "history"]).dropFirst(3).prefix(2) == [
        "  call history", "  expect field steps == 5120 7310 10411 4096 9027 12650",
      ])
    #expect(
      try recordCall(try Self.device(), "many") == [
        "  call many", "  expect field half == 1.5", "  expect field name == 'it'\\''s $5'",
        "  expect field history length == 2", "  expect field history[0].steps == 7", "  expect field history[1].steps == 9",
      ])
    #expect(
      try record(["-e", "call battery; read 2a19", "name:Band-7"]).dropFirst(3) == [
        "  call battery", "  expect field level == 60", "  read 2a19", "  expect == 3c", "end", "",
      ])
  }

  // MARK: Values

  @Test(arguments: [("a\nb", "610a62"), ("a\rb", "610d62"), ("a\r\nb", "610d0a62"), ("\u{2028}", "e280a8"), ("a b", nil)])
  func valuesAreOneLine(_ value: String, _ bytes: String?) throws {
    let line = bytes.map { "  write fff6 \($0)" } ?? "  write fff6 '\(value)' --as utf8"
    #expect(try record(["write", "name:Panel", "fff6", value, "--as", "utf8"]).dropFirst(3) == [line, "end", ""])
    if bytes != nil {
      #expect(
        try record(["write", "--as=utf8", "name:Panel", "--", "fff6", value]).dropFirst(3).first == line.replacing("fff6", with: "-- fff6"))
    }
  }

  @Test func standardInputIsItsBytes() throws {
    #expect(try record(["write", "name:Panel", "fff6", "-"], input: "x\ny").dropFirst(3) == ["  write fff6 780a79", "end", ""])
    #expect(
      try record(["write", "name:Panel", "fff6", "-", "--empty"], input: "").dropFirst(3) == ["  write fff6 '' --empty", "end", ""])
  }

  @Test func whatNoLineSaysIsAComment() throws {
    let (file, script) = (try Self.device(), TemporaryPath())
    let done = try Blectl.run(
      "--record", script.path, "call", "--device", file, "name:T", "say", "text=a\nwrite ff02 dead", adapter: "sim:\(file)")
    #expect(done.status == 0, "\(done.errors)")
    let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: script.path)), as: UTF8.self)
    #expect(
      text.hasSuffix(
        "Z\"\n  # a script cannot contain this line: call --device \(file) say 'text=a\\x0awrite ff02 dead'\nend\n"), "\(text)")
  }

  @Test func theValueThatDoesNotFitIsTheOneThatFails() throws {
    let lines = try record(["read", "name:Band-7", "2a19", "2a29", "--as", "u16le"])
    #expect(lines.dropFirst(3).prefix(2) == ["  read 2a19 --as u16le", "  fails expectation"], "\(lines)")
    #expect(lines.count == 8 && lines[5].hasPrefix("  # The value has "), "\(lines)")
    #expect(
      try record(["read", "name:Panel", "fff7", "fff6@2901", "--as", "u32le"]).dropFirst(3).prefix(4) == [
        "  read fff7 --as u32le", "  expect == 0000000000000000", "  read fff6@2901 --as u32le", "  fails expectation",
      ])
  }

  // MARK: Devices

  /// Sends each line after the one before is done, so that the session has forgotten a disconnected device.
  private func session(_ lines: [String]) throws -> [String] {
    let script = TemporaryPath()
    let running = try Blectl.start(["repl", "--json", "--record", script.path])
    for (index, line) in lines.enumerated() {
      running.send(line: line)
      try #require(running.waitForOutput(containing: "\"event\":\"done\"", times: index + 1), "\(line)")
    }
    let result = running.finish()
    let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: script.path)), as: UTF8.self)
    let again = try Blectl.run("run", script.path)
    #expect(again.status == 0, "\(result.errors)\(text)\(again.text)\(again.errors)")
    return text.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("  # {") }
  }

  @Test func aSecondDeviceIsNotTheFirst() throws {
    #expect(
      try session(["connect name:Band-7", "disconnect", "connect name:Panel", "read fff7"]).dropFirst(2) == [
        "  connect", "  disconnect", "  # for another device: connect", "  # for another device: read fff7", "end",
      ])
  }

  @Test(arguments: ["name:Band-7", "C0:FF:EE:00:00:07"]) func theFirstIsTheFirstAgain(_ name: String) throws {
    #expect(
      try session(["connect name:Band-7", "disconnect", "connect name:Panel", "disconnect", "connect \(name)", "read 2a19"]).dropFirst(2)
        == [
          "  connect", "  disconnect", "  # for another device: connect", "  # for another device: disconnect", "  connect",
          "  read 2a19",
          "  expect == 3c", "end",
        ])
  }

  // MARK: Limits

  @Test func whatIsLeftOutIsSaid() async throws {
    let (path, errors) = (TemporaryPath(), TemporaryPath())
    try errors.write([])
    try await onLoop {
      let file = unsafe open(errors.path, O_WRONLY)
      let output = Output(Output.Style(), err: file) { _ in nil }
      let commands = SessionCommands(Blectl.commands)
      let recorder = try ScriptRecorder(path.path, output, commands, limit: 2)
      for number in 1...5 {
        let line = try ShellLine(["sleep", "\(number)"], ShellSettings(), commands)
        let command = recorder.begin(line, nil, output)
        command.didEnd(nil)
        // New values belong to this command.
        #expect(recorder.last === command)
      }
      try await recorder.write()
      try await output.flush(until: nil)
      close(file)
    }
    func text(_ path: TemporaryPath) throws -> String {
      String(decoding: try Data(contentsOf: URL(fileURLWithPath: path.path)), as: UTF8.self)
    }
    let lines = try text(path).split(separator: "\n").dropFirst()
    #expect(
      lines == [
        "  sleep 1s", "  sleep 2s", "  # 3 more commands left out: a recorded script has at most 2 commands and 4 MiB", "end",
      ])
    #expect(try text(errors).hasPrefix("note: Omitted 3 commands from "))
  }
}
