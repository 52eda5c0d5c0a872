import Bluetooth
import Crypto
import Foundation
import TestSupport
import Testing
import Text

/// What is shipped in man/examples does what it says.
@Suite(.timeLimit(.minutes(1))) struct ExampleTests {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("man/examples").path
  private static let lock = "sim:\(folder)/challenge-lock.json"

  private func environment(_ adapter: String) -> [String: String] {
    ["PATH": "/usr/bin:/bin", "HOME": "/dev/null", "BLECTL": Blectl.path, "BLECTL_ADAPTER": adapter, "BLECTL_CLOCK": "virtual"]
  }

  /// Challenge-response from Python, in a session for programs.
  @Test func aProgramOpensTheLock() throws {
    let result = try RunningProcess.run(["python3", "\(Self.folder)/open_lock.py"], environment: environment(Self.lock))
    #expect(result.status == 0 && result.text == "open\n", "\(result.text)\(result.errors)")
    let nobody = try RunningProcess.run(["python3", "\(Self.folder)/open_lock.py", "name:nobody"], environment: environment(Self.lock))
    #expect(nobody.status == 1 && nobody.errors.contains("connect name:nobody: "), "\(nobody.errors)")
  }

  /// The same by hand: who reads the challenge has as long as they like, because time stands still while nobody types.
  @Test func somebodyAtATerminalOpensTheLock() throws {
    let repl = try ReplTerminal(adapter: Self.lock)
    try repl.enter("connect name:SmartLock")
    try repl.enter("write ffb1 01 --expect ffb2=01")
    let screen = repl.screen.lines.joined(separator: "\n")
    let challenge = try #require(screen.firstMatch(of: /ffb2 "Answer"  01([0-9a-f]{32})/).flatMap { Hex.decode(String($0.1)) }, "\(screen)")
    let key = try #require(Hex.decode("2b7e151628aed2a6abf7158809cf4f3c"))
    let code = try #require(MessageAuthentication.aesCMAC.code(of: challenge + [2], key: key))
    try repl.enter("write ffb1 02\(Hex.encode(code)) --expect ffb2=0200")
    try repl.enter("read ffb3 --as hex")
    try repl.says("01")
    _ = repl.leave()
  }

  /// A queue of commands, answers in several packets, and a packet that the band sends by itself between them.
  @Test func aShellScriptAsksTheWristband() throws {
    // The shell lives in real time, and virtual time would not wait long for it.
    let result = try RunningProcess.run(
      ["bash", "\(Self.folder)/wristband.sh"],
      environment: environment("sim:\(Self.folder)/wristband.json").merging(["BLECTL_CLOCK": "real"]) { $1 })
    #expect(result.status == 0 && result.lines.first == "battery: 87 %", "\(result.text)\(result.errors)")
    #expect(result.lines.filter { $0.hasPrefix("day ") && $0.hasSuffix(" steps") }.count == 3, "\(result.text)")
  }

  /// Challenge-response with -e: the code comes through a pipe from whoever has read the challenge.
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
    // The challenge expires while somebody else, who lives in real time, makes the code.
    let result = try RunningProcess.run(
      ["bash", "-c", script], environment: environment(Self.lock).merging(["BLECTL_CLOCK": "real"]) { $1 })
    let records = try result.records
    #expect(records.map { $0.string("value") }.suffix(2) == ["0200", "01"], "\(result.text)\(result.errors)")
  }
}
