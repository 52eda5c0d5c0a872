import BluetoothLE

/// Builds the blectl commands that the user can copy, which repeat an action of the browser in a shell.
struct BrowserCommandLine {
  /// The value of the option `--adapter`. Nil if the user did not give the option.
  let adapter: String?

  func services(_ peer: PeerAddress) -> String { line(["services", "\(peer)", "--values"]) }

  func read(_ peer: PeerAddress, _ attribute: Attribute, in table: AttributeTable?) -> String {
    line(["read", "\(peer)", Self.selector(attribute, in: table)])
  }

  func notify(_ peer: PeerAddress, _ attribute: Attribute, in table: AttributeTable?) -> String {
    line(["notify", "\(peer)", Self.selector(attribute, in: table)])
  }

  func write(_ peer: PeerAddress, _ attribute: Attribute, _ written: WrittenValue, in table: AttributeTable?) -> String {
    var words = ["write", "\(peer)", Self.selector(attribute, in: table)]
    if written.format != "hex" { words += ["--as", written.format] }
    if written.mode != .auto { words += ["--mode", written.mode.rawValue] }
    if written.text.isEmpty { words.append("--empty") }
    // `@…` would mean a file, and `-` alone would mean standard input.
    return line(words + (written.text.hasPrefix("-") ? ["--"] : []) + [written.text])
  }

  /// Returns the shortest selector that matches only the attribute. Returns its handle if no UUID is unambiguous.
  static func selector(_ attribute: Attribute, in table: AttributeTable?) -> String {
    var candidates: [String] = []
    switch attribute {
    case .characteristic(let item, let service): candidates = ["\(item.uuid)", "\(service.uuid)/\(item.uuid)"]
    case .descriptor(let item, let owner, let service):
      candidates = ["\(owner.uuid)@\(item.uuid)", "\(service.uuid)/\(owner.uuid)@\(item.uuid)"]
    case .handle: break
    }
    return candidates.first { text in
      guard let selector = try? Selector(text), let found = try? table?.resolve(selector) else { return false }
      return found.handle == attribute.handle
    } ?? attribute.handle.description
  }

  private func line(_ words: [String]) -> String {
    (["blectl"] + (adapter.map { ["-i", $0] } ?? []) + words).map(ShellWords.quoteForShell).joined(separator: " ")
  }
}
