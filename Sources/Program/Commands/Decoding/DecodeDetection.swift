import BluetoothLEFirmware
import CommandLine
import Traces

/// The detection of the kind of `decode`'s input, for a command line that does not name the kind.
@LoopActor
enum DecodeDetection {
  /// Returns the kind of the words, or of the file or standard input that they name, with the bytes that were read from there.
  /// - Throws: `Failure(.usage)` unless exactly one kind fits; `FileError`.
  static func kind(of words: [String], _ context: Context) async throws -> (Decode.What, [UInt8]?) {
    let (sample, read) = try await DecodedInput.sample(words, context)
    let line = words.joined(separator: " ")
    let typed = words.isEmpty ? "-" : DisplayText.clip(words.count == 1 ? ShellWords.quoteForShell(line) : DisplayText.escape(line), to: 60)
    let shown = typed == "-" ? "standard input" : typed.hasPrefix("'") ? DisplayText.quote(line) : typed
    if read != nil, sample.isEmpty { throw Failure(.input, "\(typed == "-" ? "Standard input" : shown) is empty.") }
    let fits =
      read != nil && FirmwareFile.isFirmware(sample)
      ? [.firmware]
      : try await TraceReader.isTrace(sample)
        ? [.trace]
        : DecodedInput.isText(sample, isCut: true)
          ? kind(ofLabel: read == nil ? line : "").map { [$0] } ?? kinds(inLinesOf: sample) ?? [] : kinds(of: Array(sample.prefix(1 << 16)))
    if fits.count == 1, let only = fits.first {
      context.output.note("Decoding \(shown) as \(only.rawValue).")
      return (only, read)
    }
    if fits.isEmpty, read != nil, let reason = ForeignFile.explain(sample, named: words.first ?? "-") {
      throw Failure(.input, "Cannot decode \(shown): \(reason)")
    }
    if fits.isEmpty, let (name, command) = value(words) {
      throw Failure(.usage, "Cannot tell what \(shown) is. To decode a value of \(name): \(command)")
    }
    let command = "blectl decode \(fits.first?.rawValue ?? "KIND") \(typed)"
    guard !fits.isEmpty else {
      let word = (words.first ?? "").lowercased()
      if words.count > 1, let kind = familiar[word] ?? SpellingSuggestion.nearest(to: word, among: Decode.What.allCases.map(\.rawValue)) {
        let rest = words.dropFirst().map { ShellWords.quoteForShell($0) }.joined(separator: " ")
        let line = DisplayText.clip("\(kind) \(rest)", to: 510)
        throw Failure(.usage, "\(DisplayText.quote(word)) is not a kind of input. Did you mean \(kind)? Use: blectl decode \(line)")
      }
      throw Failure(.usage, "Cannot tell what \(shown) is. Name its kind (adv, att, hci, value UUID, trace or firmware): \(command)")
    }
    throw Failure(.usage, "\(shown) may be \(fits.map(\.rawValue).joined(separator: " or ")). Name its kind: \(command)")
  }

  /// Other names of the kinds of input.
  private static let familiar = [
    "ad": "adv", "advertisement": "adv", "scan": "adv", "pdu": "att", "acl": "hci", "pcap": "trace", "pcapng": "trace", "btsnoop": "trace",
    "image": "firmware", "dfu": "firmware", "mcuboot": "firmware", "zip": "firmware",
  ]

  /// Returns the command line for a value and its UUID, in either order, and the name of the UUID. Nil if no word is an assigned UUID.
  static func value(_ words: [String]) -> (name: String, command: String)? {
    for index in [0, words.count - 1] where words.count > 1 {
      guard let name = (UUID(words[index]) ?? AssignedNumbers.uuid(named: words[index])).flatMap({ AssignedNumbers.name(of: $0) }) else {
        continue
      }
      let value = (words[..<index] + words[(index + 1)...]).joined(separator: " ")
      return (name, "blectl decode value \(DisplayText.clip(DisplayText.escape("\(words[index]) \(value)"), to: 60))")
    }
    return nil
  }

  /// Returns the kinds that fit the first line with content. Nil if there is none.
  /// - Parameter isCut: Whether the last line may be incomplete.
  static func kinds(inLinesOf text: [UInt8], isCut: Bool = false) -> [Decode.What]? {
    let lines = String(decoding: text.prefix(1 << 16), as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    guard let line = lines.dropLast(isCut ? 1 : 0).map({ String($0).trimmed }).first(where: { !DecodedBytes.isComment($0) }) else {
      return nil
    }
    let bytes = Hex.decode(DecodedBytes.hex(line)) ?? []
    if !bytes.isEmpty, let kind = kind(ofLabel: line) { return [kind] }
    if bytes.isEmpty, DecodedBytes.isLog(text) { return [.att] }
    if bytes.isEmpty { return (try? OfflineAdvertisement.parse(line.utf8, number: 1)) == nil ? [] : [.adv] }
    // The first line of a packet of hcidump may continue.
    let fits = kinds(of: bytes)
    return fits.isEmpty && line.hasPrefix("> ") && (1...4).contains(bytes[0]) ? [.hci] : fits
  }

  /// Returns the kind that a label before bytes names, as in `ACL Data RX: 02 0b 20`. Returns nil for another label. `[hci0]` in it is only
  /// the adapter.
  private static func kind(ofLabel line: String) -> Decode.What? {
    let words = DecodedBytes.words(ofLabel: line)
    if words.contains("acl") || words.contains("hci") && !words.contains("adv") && !words.contains("advertising") { return .hci }
    return words.contains("att") ? .att : nil
  }

  private static func kinds(of bytes: [UInt8]) -> [Decode.What] {
    guard !bytes.isEmpty else { return [] }
    var kinds: [Decode.What] = []
    let advertisement = Advertisement(bytes)
    if advertisement.error == nil, !advertisement.structures.isEmpty { kinds.append(.adv) }
    if case .unknown? = bytes.first.map(ATTOpcode.init(rawValue:)) {
    } else if DecodedPacket(att: bytes).anyProblem == nil {
      kinds.append(.att)
    }
    if DecodedPacket(hci: bytes).anyProblem == nil { kinds.append(.hci) }
    return kinds
  }
}
