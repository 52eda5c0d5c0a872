import Foundation
import TestSupport

/// The shipped programs in man/examples work.
@Suite(.timeLimit(.minutes(15))) struct ExampleTests {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("man/examples").path
  private static let lock = "sim:\(folder)/challenge-lock.json"

  private func environment(_ adapter: String) -> [String: String] {
    ["PATH": "/usr/bin:/bin", "HOME": "/dev/null", "BLECTL": Blectl.path, "BLECTL_ADAPTER": adapter, "BLECTL_CLOCK": "virtual"]
  }

  /// A Python program opens the lock by challenge-response, in a session for programs.
  @Test func aProgramOpensTheLock() throws {
    let result = try RunningProcess.run(["python3", "\(Self.folder)/open_lock.py"], environment: environment(Self.lock))
    #expect(result.status == 0 && result.text == "open\n", "\(result.text)\(result.errors)")
    let nobody = try RunningProcess.run(["python3", "\(Self.folder)/open_lock.py", "name:nobody"], environment: environment(Self.lock))
    #expect(nobody.status == 1 && nobody.errors.contains("connect name:nobody: "), "\(nobody.errors)")
  }

  /// The Python program of the man page reads two devices, and prints the error of a third one.
  @Test func theProgramOfTheManualReadsTwoDevices() throws {
    let page = try String(contentsOf: ManualTests.root.appendingPathComponent("man/blectl-repl.1"), encoding: .utf8)
    let program = String(try #require(page.firstMatch(of: /\n(import json, subprocess\n(?s:.*?))\.Ed\n/)?.1))
      .replacing("'blectl'", with: "'\(Blectl.path)'").replacing("2a00 -t 5'", with: "2a00 -t 5', 'read name:Nobody 2a00 -t 5'")
    let result = try RunningProcess.run(["python3", "-c", program], environment: environment("sim"))
    #expect(
      result.lines.sorted().map { $0.prefix(47) } == [
        "Band-7 3c", "Panel 50616e656c", "read name:Nobody 2a00 -t 5 failed: Cannot find ",
      ], "\(result.text)\(result.errors)")
  }

  /// A person opens the lock by hand. Virtual time stands still until the next key, so the challenge does not expire.
  @Test func somebodyAtATerminalOpensTheLock() throws {
    let repl = try ReplTerminal(adapter: Self.lock)
    try repl.enter("connect name:SmartLock", "write ffb1 01 --expect ffb2=01")
    let screen = repl.screen.lines.joined(separator: "\n")
    let challenge = try #require(screen.firstMatch(of: /ffb2 "Answer"  01([0-9a-f]{32})/).flatMap { Hex.decode(String($0.1)) }, "\(screen)")
    let key = try #require(Hex.decode("2b7e151628aed2a6abf7158809cf4f3c"))
    let code = try #require(MessageAuthentication.aesCMAC.code(of: challenge + [2], key: key))
    try repl.enter("write ffb1 02\(Hex.encode(code)) --expect ffb2=0200", "read ffb3 --as hex")
    try repl.says("01")
    _ = repl.leave()
  }

  /// A queue of commands, answers in several packets, and an unsolicited packet between them.
  @Test func aShellScriptAsksTheWristband() throws {
    // The shell runs in real time, and virtual time would not wait long for it.
    let result = try RunningProcess.run(
      ["bash", "\(Self.folder)/wristband.sh"],
      environment: environment("sim:\(Self.folder)/wristband.json").merging(["BLECTL_CLOCK": "real"]) { $1 })
    #expect(result.status == 0 && result.lines.first == "battery: 87 %", "\(result.text)\(result.errors)")
    #expect(result.lines.filter { $0.hasPrefix("day ") && $0.hasSuffix(" steps") }.count == 3, "\(result.text)")
  }

  /// Challenge-response with -e: another program reads the challenge, and sends the code through a pipe.
  @Test func severalStepsOpenTheLock() throws {
    let script = """
      cd "$(mktemp -d)" && mkfifo code
      "$BLECTL" --json -e 'write ffb1 01 --expect ffb2=01; write ffb1 @code; wait ffb2=02; read ffb3' name:SmartLock |
        while read -r record; do
          echo "$record"
          case $record in
            *'"ffb2"'*'"value":"01'*)
              challenge=$(sed 's/.*"value":"01\\([0-9a-f]*\\)".*/\\1/' <<<"$record")
              python3 -c 'import hashlib, hmac, sys
      code = hmac.new(bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c"), bytes.fromhex(sys.argv[1] + "03"), hashlib.sha256)
      sys.stdout.buffer.write(b"\\x03" + code.digest())' "$challenge" >code ;;
          esac
        done
      rm code
      """
    // The challenge expires while another program, in real time, computes the code.
    let result = try RunningProcess.run(
      ["bash", "-c", script], environment: environment(Self.lock).merging(["BLECTL_CLOCK": "real"]) { $1 })
    let records = try result.records
    #expect(records.map { $0.string("value") }.suffix(2) == ["0200", "01"], "\(result.text)\(result.errors)")
  }
}
