// SPDX-License-Identifier: Apache-2.0
import BluetoothLE

/// A parser of the lines that control a device. The same grammar applies to standard input, scripts, sessions and the key `faults`.
package struct PeripheralLineParser {
  /// The first words of the lines.
  package static let commands = ["set", "notify", "indicate", "disconnect", "advertise", "fault"]

  private var words: ArraySlice<String>
  /// A correct line like the line in progress, for errors.
  private var example = "set ffe1 0100"

  /// The longest delay of an answer: one hour.
  private static let longestDelay = Duration.seconds(3600)
  private static let examples = [
    "set": "set ffe1 0100", "notify": "notify ffe1 57 as u8", "indicate": "indicate ffe1 0100", "disconnect": "disconnect 0x13",
    "advertise": "advertise off", "fault": "fault ffe1 error 0x0e 2 times", "error": "fault ffe1 error 0x0e",
    "delay": "fault ffe1 delay 2s",
    "truncate": "fault ffe1 truncate 1", "raw": "fault ffe1 raw 0b01", "mtu": "fault mtu 12",
    "refuse": "fault refuse pairing repeated_attempts", "forget": "fault forget bonds", "on": "fault disconnect on write ffe1",
  ]

  /// Parses a line, whose words have the shell's quoting. Nil for an empty line or a comment.
  package static func parse(_ line: String) throws -> PeripheralLine? {
    let words = try ShellWords.words(of: line)
    return words.isEmpty ? nil : try parse(words)
  }

  /// Parses the words of a line, without `peripheral`.
  package static func parse(_ words: [String]) throws(PeripheralLineError) -> PeripheralLine {
    var parser = Self(words: words[...])
    let line = try parser.line()
    if let extra = parser.words.first { throw parser.error(extra, "the end of the line") }
    return line
  }

  private func error(_ word: String?, _ expected: String) -> PeripheralLineError {
    PeripheralLineError(word: word, expected: expected, example: example)
  }

  private mutating func next(_ expected: String) throws(PeripheralLineError) -> String {
    guard let word = words.popFirst() else { throw error(nil, expected) }
    return word
  }

  private mutating func expect(_ word: String) throws(PeripheralLineError) {
    let found = try next(word)
    guard found == word else { throw error(found, word) }
  }

  private mutating func takes(_ word: String) -> Bool {
    guard words.first == word else { return false }
    words.removeFirst()
    return true
  }

  // MARK: Lines

  private mutating func line() throws(PeripheralLineError) -> PeripheralLine {
    let commands = "set, notify, indicate, disconnect, advertise or fault"
    let word = try next(commands)
    example = Self.examples[word] ?? example
    switch word {
    case "set":
      let selector = try attribute()
      guard let value = try value() else { throw error(nil, "a value, or '' for none") }
      return .set(selector, value)
    case "notify": return .notify(try attribute(), try value())
    case "indicate": return .indicate(try attribute(), try value())
    case "disconnect":
      guard let word = words.popFirst() else { return .disconnect(.remoteUserTerminated) }
      return .disconnect(ControllerErrorCode(rawValue: try code(word, "a reason") { ControllerErrorCode(rawValue: $0).snakeName }))
    case "advertise":
      let word = try next("on or off")
      guard word == "on" || word == "off" else { throw error(word, "on or off") }
      return .advertise(word == "on")
    case "fault": return .fault(try fault())
    default: throw error(word, commands)
    }
  }

  private mutating func attribute() throws(PeripheralLineError) -> Selector {
    let expected = "an attribute (a UUID, a name or a handle)"
    let word = try next(expected)
    do throws(GATTError) { return try Selector(word) } catch { throw self.error(word, expected) }
  }

  /// Parses the remaining words as a value: hex, or the format after `as`. Nil without words.
  private mutating func value() throws(PeripheralLineError) -> [UInt8]? {
    guard !words.isEmpty else { return nil }
    var format = ValueFormat.hex
    // The option of the command line has the same name, with dashes.
    if words.count > 2, words[words.endIndex - 2].drop(while: { $0 == "-" }) == "as", let name = words.last {
      do throws(ValueFormatError) { format = try ValueFormat(name) } catch { throw self.error(name, "a format (\(error))") }
      words = words.dropLast(2)
    }
    let text = words.joined(separator: " ")
    words = []
    if text.isEmpty { return [] }
    do throws(ValueFormatError) { return try format.parse(text) } catch { throw self.error(text, "\(format.name) (\(error))") }
  }

  /// Parses a code of 1 to 255, in decimal or hex, or its name in snake case.
  private func code(_ word: String, _ noun: String, _ name: (UInt8) -> String) throws(PeripheralLineError) -> UInt8 {
    if let number = Self.number(word), let code = UInt8(exactly: number), code > 0 { return code }
    // Several codes may share a name for codes without a meaning.
    let named = (1...255).filter { name($0) == word }
    guard named.count == 1, let code = named.first else { throw error(word, "\(noun), 1-255 or its name") }
    return code
  }

  private static func number(_ word: String) -> UInt64? {
    if word.hasPrefix("0x") || word.hasPrefix("0X") { return Hex.number(word.dropFirst(2)) }
    return word.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt64(word) : nil
  }

  private mutating func number(_ range: ClosedRange<UInt64>) throws(PeripheralLineError) -> Int {
    let expected = "a number, \(range.lowerBound)-\(range.upperBound)"
    let word = try next(expected)
    guard let number = Self.number(word), range.contains(number) else { throw error(word, expected) }
    return Int(number)
  }

  // MARK: Faults

  private mutating func fault() throws(PeripheralLineError) -> PeripheralLine.Fault {
    let word = words.first ?? ""
    example = Self.examples[word == "disconnect" ? "on" : word == "set" ? "fault" : word] ?? example
    if takes("off") { return .off }
    if takes("mtu") { return .mtu(UInt16(clamping: try number(0...0xFFFF))) }
    if takes("forget") {
      try expect("bonds")
      return .forgetBonds
    }
    if takes("refuse") {
      try expect("pairing")
      let names = PairingFailedReason.all.map(\.snakeName)
      let word = try next("a reason")
      let code = try code(word, "a reason (\(names.joined(separator: ", ")))") { PairingFailedReason(rawValue: $0).snakeName }
      return .refusePairing(PairingFailedReason(rawValue: code))
    }
    if takes("disconnect") {
      try expect("on")
      try expect("write")
      return .disconnectOnWrite(try attribute())
    }
    let selector = try attribute()
    let access = try access()
    guard !words.isEmpty else { return .access(selector, access, times: nil) }
    let times = try number(1...1_000_000)
    if !takes("time") { try expect("times") }
    return .access(selector, access, times: times)
  }

  private mutating func access() throws(PeripheralLineError) -> PeripheralLine.Access {
    let kinds = "error, delay, silent, drop, truncate or raw"
    let word = try next(kinds)
    example = Self.examples[word] ?? example
    switch word {
    case "error":
      return .error(ErrorCode(rawValue: try code(try next("an error code"), "an error code") { ErrorCode(rawValue: $0).snakeName }))
    case "delay":
      let word = try next("a time")
      guard let time = DurationText.parse(word), time <= Self.longestDelay else {
        throw error(word, "a time such as 500ms or 2s, up to 1h")
      }
      return .delay(time)
    case "silent": return .silent
    case "drop": return .drop
    case "truncate": return .truncate(try number(0...517))
    case "raw":
      let word = try next("bytes in hex, or '' for none")
      guard let bytes = word.isEmpty ? [] : Hex.decode(word), bytes.count <= 0xFFFF else {
        throw error(word, "bytes in hex, or '' for none")
      }
      return .raw(bytes)
    default: throw error(word, kinds)
    }
  }
}
