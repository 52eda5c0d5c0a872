import BluetoothLE
import BluetoothLEText
import Scripts

extension FuzzTarget {
  /// Words of arguments and lines: numbers, addresses, attributes, peers, places, times, patterns; and displayed text.
  static let words = FuzzTarget(
    "words",
    seeds: [
      "C0:FF:EE:00:00:07/random", "name:Band-?[0-9]*", "mfg:0x0157/24-30@-6:be", "180f/2a19[2]@2902", "battery_level", "0x0012",
      "tcp:[::1]:9000", "serial:/dev/ttyUSB0@115200", "read 2a19 'it''s' \"a \\\" b\" ${A}; write ffe1 01 # end", "-0x7fffffffffffffff",
      "1.5s",
    ].map { Array($0.utf8) },
    words: [
      "0x", ":", "/", "@", "[", "]", "name:", "mac:", "service:", "mfg:", "svc:", "ad:", "tcp:", "unix:", "serial:", "le", "be", "ms",
      "\u{202E}", "\u{1B}[", "👩‍👩‍👧", "e\u{301}",
    ]
  ) { bytes in
    let text = String(decoding: bytes, as: UTF8.self)
    // The table of assigned names is long, and so may be the text to compare.
    if bytes.count % 16 == 0 {
      _ = (try? Selector(text), AssignedNumbers.uuid(named: text), SpellingSuggestion.nearest(to: text, among: Predicate.words))
    }
    _ = (try? MACRule(text), try? TransportAddress(text), try? TransportAddress(listening: text), UUID(text))
    if let address = Address(text) { expect(Address(address.description) == address, "\(address)") }
    if let peer = PeerSelector(text) { expect(PeerSelector(peer.description) == peer, "\(peer) is another peer") }
    for base in [nil, 10, 16] { _ = CNumber(text, base: base) }
    _ = try? ValueFormat(ValueFormat.names[bytes.count % ValueFormat.names.count]).parse(text)
    _ = (
      Checksum(text), ScanFilter.NamePattern(text), Hex.decode(text), Hex.number(text), Base64.decode(text)
    )
    let half = text.unicodeScalars.count / 2
    _ = Glob.matches(String(text.unicodeScalars.prefix(half)), String(text.unicodeScalars.dropFirst(half)))
    if let words = try? ShellWords.words(of: text) {
      expect((try? ShellWords.words(of: words.map { ShellWords.quote($0) }.joined(separator: " "))) == words, "quoted words are others")
    }
    var reading = ShellWordReading(expands: true)
    for character in text { reading.take(character) }
    _ = try? reading.finishedWords()
    show(text, bytes)
  }

  private static func show(_ text: String, _ bytes: [UInt8]) {
    for shown in [DisplayText.escape(bytes), DisplayText.visible(text)] {
      expect(!shown.utf8.contains { $0 < 0x20 || $0 == 0x7F }, "a control character is shown")
    }
    let width = Int(bytes.first ?? 0) & 0x3F
    expect(DisplayText.width(DisplayText.clip(text, to: width)) <= max(width, 1), "clipped text is too wide")
    _ = (DisplayText.clipMiddle(text, to: width), DisplayText.wrap(text, to: width), DisplayText.fold(text, to: width))
    _ = (DisplayText.ascii(text), DisplayText.asciiLines(text), XMLText.text(text), XMLText.attribute(text))
  }

  /// JSON as files and programs send it, and its rewritten form.
  static let json = FuzzTarget(
    "json",
    seeds: files("man/examples", [".json"]).map { Array($0.prefix(600)) }
      + ["{\"id\":1,\"command\":\"read \\u00e9\\ud83d\\ude00\"}"].map { Array($0.utf8) },
    words: ["{", "}", "[", "]", ":", ",", "null", "true", "false", "\\u", "\\ud83d\\ude00", "/*", "*/", "//", "0x", "-", "1e308", "\""]
  ) { bytes in
    guard let tree = try? JSONTree.parse(bytes) else { return }
    var line = RecordWriter()
    line.string("text", tree.string ?? tree.noun)
    line.objects("members", [tree]) { object, tree in write(tree, "value", to: &object) }
    guard let again = try? JSONTree.parse(line.finished()) else { return expect(false, "our own JSON is not read") }
    expect(again["text"]?.string == tree.string ?? tree.noun, "our own JSON says something else")
  }

  private static func write(_ tree: JSONTree, _ key: RecordWriter.Text, to line: inout RecordWriter) {
    switch tree.kind {
    case .null: line.string(key, nil)
    case .bool(let value): line.bool(key, value)
    case .number(let text): line.number(key, Double(text))
    case .string(let text): line.string(key, text)
    // One level only: input may be as deep as the reader allows.
    case .array(let items): line.strings(key, items.compactMap(\.string))
    case .object(let members): for member in members { line.string(.init(member.key), member.value.string) }
    }
  }
}
