import ATT
import Bluetooth
import Captures
import CommandLine
import Decoding
import EventLoop
import Finding
import GAP
import HCI
import LinuxIO
import Presentation
import Terminal
import Text

/// The detection of the kind of `decode`'s input, for a command line that does not name the kind.
@LoopActor
enum DecodeDetection {
  /// Returns the kind of the hex that the words contain, or of the file that the only word names.
  /// - Throws: `Failure(.usage)` unless exactly one kind fits; `FileError`.
  static func kind(of words: [String], _ context: Context) async throws -> Decode.What {
    let shown = DisplayText.clip(DisplayText.escape(words.joined(separator: " ")), to: 60)
    let octets: [UInt8]
    if let typed = Hex.decode(words.joined(separator: " ")), !typed.isEmpty {
      octets = typed
    } else if let name = words.first, words.count == 1, name != "-", InputFile.isRegular(name) || !InputFile.exists(name) {
      let file = try await DecodedInput.file(name, Decode.traceLimit, context)
      if TraceReader.isTrace(file) { return note(.trace, shown, context) }
      let lines = String(decoding: file.prefix(4096), as: UTF8.self).split(separator: "\n").map { String($0).trimmed }
      let line = lines.first { !$0.isEmpty && !$0.hasPrefix("#") } ?? ""
      octets = Hex.decode(line) ?? []
      if octets.isEmpty, (try? OfflineAdvertisement.parse(line.utf8, number: 1)) != nil { return note(.adv, shown, context) }
    } else {
      octets = []
    }
    let fits = kinds(of: octets)
    if let uuid = words.first.flatMap({ UUID($0) }), let name = AssignedNumbers.name(of: uuid), words.count > 1, fits.isEmpty {
      throw Failure(.usage, "Cannot tell what \(shown) is. To decode a value of \(name): blectl decode value \(shown)")
    }
    if fits.count == 1, let only = fits.first { return note(only, shown, context) }
    let command = "blectl decode \(fits.first?.rawValue ?? "KIND") \(shown)"
    guard !fits.isEmpty else {
      throw Failure(.usage, "Cannot tell what \(shown) is. Name its kind (adv, att, hci, value UUID or trace): \(command)")
    }
    throw Failure(.usage, "\(shown) may be \(fits.map(\.rawValue).joined(separator: " or ")). Name its kind: \(command)")
  }

  private static func kinds(of octets: [UInt8]) -> [Decode.What] {
    guard !octets.isEmpty else { return [] }
    var kinds: [Decode.What] = []
    let advertisement = Advertisement(octets)
    if advertisement.error == nil, !advertisement.structures.isEmpty { kinds.append(.adv) }
    if case .unknown? = octets.first.map(ATT.Opcode.init(rawValue:)) {
    } else if DecodedPacket(att: octets).anyProblem == nil {
      kinds.append(.att)
    }
    if DecodedPacket(hci: octets).anyProblem == nil { kinds.append(.hci) }
    return kinds
  }

  private static func note(_ kind: Decode.What, _ shown: String, _ context: Context) -> Decode.What {
    context.output.note("Decoding \(shown) as \(kind.rawValue).")
    return kind
  }
}
