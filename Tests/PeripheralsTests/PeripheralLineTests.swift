import BluetoothLESimulator
import Foundation
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct PeripheralLineTests {
  private static func selector(_ text: String) throws -> Selector { try Selector(text) }

  @Test func linesOfEachKind() throws {
    let ffe1 = try Self.selector("ffe1")
    let lines: [(String, PeripheralLine)] = [
      ("set ffe1 0100", .set(ffe1, [1, 0])), ("set ffe1 01 00", .set(ffe1, [1, 0])), ("set ffe1 ''", .set(ffe1, [])),
      ("set ffe1 300 as u16le", .set(ffe1, [0x2C, 1])), ("set ffe1 1 2 --as u8", .set(ffe1, [1, 2])),
      ("set ffe1 'a b' as utf8", .set(ffe1, [0x61, 0x20, 0x62])), ("notify ffe1", .notify(ffe1, nil)),
      ("notify ffe1 -1 as i8", .notify(ffe1, [0xFF])), ("indicate 0x0012 ff", .indicate(try Self.selector("0x0012"), [0xFF])),
      ("disconnect", .disconnect(.remoteUserTerminated)), ("disconnect 0x15", .disconnect(.remotePowerOff)),
      ("disconnect connection_timeout", .disconnect(.connectionTimeout)),
      ("advertise on", .advertise(true)), ("advertise off", .advertise(false)),
      ("fault ffe1 error 0x0e", .fault(.access(ffe1, .error(.unlikelyError), times: nil))),
      ("fault ffe1 error unlikely_error 1 time", .fault(.access(ffe1, .error(.unlikelyError), times: 1))),
      ("fault ffe1 error 14 3 times", .fault(.access(ffe1, .error(.unlikelyError), times: 3))),
      ("fault ffe1 delay 2s", .fault(.access(ffe1, .delay(.seconds(2)), times: nil))),
      ("fault ffe1 silent", .fault(.access(ffe1, .silent, times: nil))), ("fault ffe1 drop", .fault(.access(ffe1, .drop, times: nil))),
      ("fault ffe1 truncate 1 2 times", .fault(.access(ffe1, .truncate(1), times: 2))),
      ("fault ffe1 raw 0b01", .fault(.access(ffe1, .raw([0x0B, 1]), times: nil))),
      ("fault ffe1 raw ''", .fault(.access(ffe1, .raw([]), times: nil))),
      ("fault mtu 12", .fault(.mtu(12))), ("fault disconnect on write ffe1", .fault(.disconnectOnWrite(ffe1))),
      ("fault refuse pairing repeated_attempts", .fault(.refusePairing(.repeatedAttempts))),
      ("fault refuse pairing 0x05", .fault(.refusePairing(.pairingNotSupported))), ("fault forget bonds", .fault(.forgetBonds)),
      ("fault off", .fault(.off)),
    ]
    for (text, line) in lines { #expect(try PeripheralLineParser.parse(text) == line, "\(text)") }
    #expect(try PeripheralLineParser.parse("  # nothing") == nil)
    #expect(try PeripheralLineParser.parse("") == nil)
  }

  /// Each error names the word, what the line needs, and a line that is correct.
  @Test(arguments: [
    ("sett ffe1 00", "sett", "set, notify"), ("set", "the end of the line", "an attribute"), ("set 0x0000 00", "0x0000", "an attribute"),
    ("set ffe1", "the end of the line", "a value"), ("set ffe1 0g", "0g", "hex"), ("set ffe1 300 as u8", "300", "u8"),
    ("set ffe1 1 as u16", "u16", "a format"), ("notify ffe1 xyz", "xyz", "hex"), ("indicate", "the end of the line", "an attribute"),
    ("disconnect 0", "0", "a reason"), ("disconnect soon", "soon", "a reason"), ("disconnect 0x13 now", "now", "the end of the line"),
    ("disconnect unknown_error", "unknown_error", "a reason"), ("advertise", "the end of the line", "on or off"),
    ("advertise maybe", "maybe", "on or off"), ("fault", "the end of the line", "an attribute"),
    ("fault ffe1", "the end of the line", "error, delay"), ("fault ffe1 eror 1", "eror", "error, delay"),
    ("fault ffe1 error", "the end of the line", "an error code"), ("fault ffe1 error 256", "256", "an error code"),
    ("fault ffe1 error 0x0e 2", "the end of the line", "times"), ("fault ffe1 error 0x0e two times", "two", "a number"),
    ("fault ffe1 error 0x0e 0 times", "0", "a number, 1-1000000"), ("fault ffe1 delay 2", "2", "a time"),
    ("fault ffe1 delay 2h", "2h", "a time"),
    ("fault ffe1 truncate 518", "518", "a number, 0-517"), ("fault ffe1 raw 0", "x", ""), ("fault ffe1 raw zz", "zz", "bytes in hex"),
    ("fault mtu", "the end of the line", "a number"), ("fault mtu 65536", "65536", "0-65535"),
    ("fault disconnect write ffe1", "write", "on"),
    ("fault refuse", "the end of the line", "pairing"), ("fault refuse pairing because", "because", "passkey_entry_failed"),
    ("fault forget", "the end of the line", "bonds"), ("fault off now", "now", "the end of the line"),
  ]) func errors(_ line: String, _ word: String, _ expected: String) throws {
    // A single digit is one byte.
    guard word != "x" else { return #expect(try PeripheralLineParser.parse(line) != nil) }
    do {
      _ = try PeripheralLineParser.parse(line)
      Issue.record("\(line)")
    } catch {
      let text = "\(error)"
      #expect(text.contains("found \(word == "the end of the line" ? word : "\"\(word)\"")"), "\(text)")
      #expect(text.contains(expected), "\(text)")
      let example = try #require(text.components(separatedBy: "Example: ").last)
      #expect(try PeripheralLineParser.parse(example) != nil, "\(text)")
    }
  }
}
