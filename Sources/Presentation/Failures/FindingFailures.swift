package import BluetoothLE

extension PeerSearchError: FailureConvertible {
  package var failure: Failure { Failure(self, isRecorded: false) }

  /// Lists the names of the devices that a search heard. Suggests a wider pattern if one of the names contains the user's pattern.
  fileprivate static func heard(_ names: [UntrustedText], of devices: Int, _ selector: PeerSelector) -> String {
    guard case .name(let pattern) = selector else { return "" }
    let names = Set(names.map(\.raw.unpadded)).subtracting([""]).sorted()
    if names.isEmpty { return devices > 0 ? ", none with a name" : "" }
    let list = names.prefix(8).map { DisplayText.escape($0) }.joined(separator: ", ") + (names.count > 8 ? ", …" : "")
    let wider = "*\(pattern)*"
    let wide = names.filter { Glob.matches(wider, $0) }
    if wide.count > 1 { return " (\(list)). Try \(ShellWords.quoteForShell("name:\(wider)"))." }
    let near = SpellingSuggestion.nearest(to: pattern.lowercased(), among: names.map { $0.lowercased() })
    let meant = wide.first ?? names.first { $0.lowercased() == near }
    return " (\(list))" + (meant.map { ". Did you mean \(typed($0))?" } ?? "")
  }

  /// Returns a name as the word of a command line that finds its device. Some names need the prefix to be no address or attribute.
  private static func typed(_ name: String) -> String {
    let pattern = Glob.typable(name)
    let isPlain =
      PeerSelector(pattern) == nil && (try? Selector(pattern, abbreviating: false)) == nil
      && !["name", "mac", "service"].contains(pattern) && !pattern.contains { ":=@/".contains($0) } && !pattern.hasPrefix("-")
      && pattern.split(separator: "-").count < 3
    return ShellWords.quoteForShell(isPlain ? pattern : "name:\(pattern)")
  }
}

extension Namesake {
  fileprivate static func list(_ peers: [PeerAddress]) -> String { peers.map { "\($0)" }.joined(separator: " or ") }

  /// A sentence about the device, and one about the bond if its device cannot be recognized.
  package var text: String {
    "\(peer) has the name of the bonded device \(Self.list(bonded)), but "
      + (mayBeBonded
        ? "not its address. The device may have changed its address, which this bond does not recognize (no IRK)."
        : "is another device.")
  }
}

extension Failure {
  /// Creates the failure of a search for a device. `isRecorded` is true if blectl searched a recording instead of scanning.
  package init(_ error: PeerSearchError, isRecorded: Bool) {
    switch error {
    case .notFound(let selector, let devices, let names, let limit, let bonded):
      let heard = PeerSearchError.heard(names, of: devices, selector)
      let what =
        isRecorded
        ? "the recording has \(devices.counted("other device"))" : "heard \(devices.counted("other device")) in \(limit.secondsText) s"
      let advice =
        isRecorded
        ? " Record again while it advertises."
        : heard.contains(". ") ? "" : " Check that it is on, in range and not connected elsewhere. To see all devices: blectl scan"
      let bond = bonded.isEmpty ? "" : " The bonded device has the address \(Namesake.list(bonded))."
      self = .notFound("Cannot find \(selector): \(what)\(heard)".asSentence + bond + advice)
    case .namesake(let other, let selector):
      self = Failure(
        .pairing,
        "Cannot find \(selector), the bonded device \(Namesake.list(other.bonded)). \(other.text) "
          + "To use the other device, name its address: \(other.peer)")
    case .several(let candidates, let selector):
      let list = candidates.map { "\($0.peer)" + ($0.rssi.map { " (\($0) dBm)" } ?? "") }.joined(separator: ", ")
      self = .ambiguous("\(candidates.count) devices match \(selector): \(list). Use an address, or omit --unique.")
    case .notConnectable(let peer, let selector):
      self = .notFound("Cannot connect to \(selector): \(peer) is not connectable. Press its button, then try again.")
    }
  }

  package init(_ error: OfflineAdvertisementError, of input: String) {
    let (line, reason) =
      switch error {
      case .notJSON(let line): (line, "is not a JSON record")
      case .rawNotHex(let line): (line, "has a \"raw\" that is not hex")
      case .notHexAfterAddress(let line): (line, "is not hex after the address")
      case .lacksDigit(let line): (line, "has an odd number of digits")
      case .tooLong(let line): (line, "is too long: an advertisement has at most \(Advertisement.maximumLength) bytes")
      case .unknown(let line): (line, "is neither AD structures in hex, nor ADDRESS HEX, nor a JSON record")
      }
    self = .input("Line \(line) of \(input) \(reason).")
  }
}

extension OfflineAdvertisementError: FailureConvertible { package var failure: Failure { Failure(self, of: "standard input") } }

extension MACSearchError: FailureConvertible {
  package var failure: Failure {
    let message =
      switch self {
      case .nothingHeard: "No advertisement was heard or given."
      case .noneInThisFrame(let reason): "This advertisement has no MAC: \(reason)"
      case .noRuleFits([], let count):
        "No MAC in \(count.counted("advertisement")): no known layout fits. To find a MAC that you know, such as the one on the label: --learn MAC. To name its place: --rule"
      case .noRuleFits(let rules, let count):
        "No MAC in \(count.counted("advertisement")): no match for \(rules.map { DisplayText.escape($0) }.joined(separator: ", ")). To try the known "
          + "layouts, omit --rule and --device."
      case .notSureEnough(let mac):
        "Found only a MAC of \(mac.confidence.name) confidence: \(mac.text) (\(mac.source), \(mac.rule)). To accept it: --min-confidence "
          + mac.confidence.name
      case .malformed(let error, let line):
        "No MAC: \(line.map { "line \($0)" } ?? "an advertisement") is malformed (\(error)), and no layout fits the rest."
      case .senderUnknown: "Cannot learn a rule: the sender's address is missing. Write it before the data: ADDRESS HEX"
      case .senderNotInData(let count):
        "The sender's address is not in its \(count.counted("advertisement")), neither forward nor reversed."
      case .notInData(let address, let count, let devices):
        "\(address) is not in \(count.counted("advertisement"))\(devices > 0 ? " of \(devices.counted("device"))" : ""): neither forward nor reversed, nor its "
          + "last or first three bytes.\(devices > 0 ? " To listen longer: -d SECONDS" : "")"
      case .noneInSystemID(let value, let peer): "The System ID \(Hex.encode(value)) of \(peer) has no MAC."
      }
    return .notFound(message)
  }
}

extension MACRuleError: FailureConvertible {
  package var failure: Failure {
    let reason =
      switch part {
      case .halves: "there must be one @ between place and offset"
      case .length: "the length after / must be a number of bytes or a range such as 11-24"
      case .nameDigits: "after name@, a rule needs -4, -6, -8 or -12: the number of hex digits at the end of the name"
      case .place: "the place must be mfg:COMPANY, svc:UUID or ad:TYPE"
      case .kind: "the place must start with mfg:, svc:, ad: or name"
      case .company: "the company must be a hex number up to ffff"
      case .service: "the service must be a UUID of 4, 8 or 32 hex digits, or * for any"
      case .type: "the AD type must be a hex number up to ff"
      case .offset: "after the @, a rule needs an offset and a byte order, such as 5:le"
      case .offsetFromEnd: "an offset from the end must be -6 or less, because an address has 6 bytes"
      case .part: "after the byte order, a rule may have last3 to last5 or first3 to first5: the bytes of the address in the data"
      case .order: "the byte order must be le (least significant byte first) or be"
      }
    return .usage(
      "Invalid rule \"\(DisplayText.escape(text))\": \(reason). Examples: mfg:0x0305@-6:le, svc:fe95@5:le, ad:1b@0:le, name@-4")
  }
}
