import ATT
import Bluetooth
import EventLoop
import GATT
import Presentation
import Text

extension GatttoolDialogue {
  struct Command: Sendable {
    let name: String
    let parameters: String
    let help: String
    /// Runs the command. The words include its name.
    let run: @LoopActor @Sendable (GatttoolDialogue, [String]) -> Void
  }

  static let commands: [Command] = [
    Command(name: "help", parameters: "", help: "Show this help") { dialogue, _ in dialogue.showHelp() },
    Command(name: "exit", parameters: "", help: "Exit interactive mode") { dialogue, _ in dialogue.end() },
    Command(name: "quit", parameters: "", help: "Exit interactive mode") { dialogue, _ in dialogue.end() },
    Command(name: "connect", parameters: "[address [address type]]", help: "Connect to a remote device") { $0.connect($1) },
    Command(name: "disconnect", parameters: "", help: "Disconnect from a remote device") { dialogue, _ in dialogue.disconnect() },
    Command(name: "primary", parameters: "[UUID]", help: "Primary Service Discovery") { $0.primary($1) },
    Command(name: "included", parameters: "[start hnd [end hnd]]", help: "Find Included Services") { $0.included($1) },
    Command(name: "characteristics", parameters: "[start hnd [end hnd [UUID]]]", help: "Characteristics Discovery") {
      $0.characteristics($1)
    },
    Command(name: "char-desc", parameters: "[start hnd] [end hnd]", help: "Characteristics Descriptor Discovery") { $0.descriptors($1) },
    Command(name: "char-read-hnd", parameters: "<handle>", help: "Characteristics Value/Descriptor Read by handle") { $0.read($1) },
    Command(name: "char-read-uuid", parameters: "<UUID> [start hnd] [end hnd]", help: "Characteristics Value/Descriptor Read by UUID") {
      $0.readByType($1)
    },
    Command(name: "char-write-req", parameters: "<handle> <new value>", help: "Characteristic Value Write (Write Request)") {
      $0.write($1)
    },
    Command(name: "char-write-cmd", parameters: "<handle> <new value>", help: "Characteristic Value Write (No response)") { $0.write($1) },
    Command(name: "sec-level", parameters: "[low | medium | high]", help: "Set security level. Default: low") { $0.secureLink($1) },
    Command(name: "mtu", parameters: "<value>", help: "Exchange MTU for GATT/ATT") { $0.exchangeMTU($1) },
  ]

  private func showHelp() {
    func fill(_ text: String, _ width: Int) -> String { text + String(repeating: " ", count: max(0, width - text.count)) }
    say(Self.commands.map { "\(fill($0.name, 15)) \(fill($0.parameters, 30)) \($0.help)" }.joined(separator: "\n"))
  }

  private func connect(_ words: [String]) {
    guard case .disconnected = state else { return }
    if words.count > 1 {
      destination = words[1]
      addressType = words.count > 2 && words[2] == "random" ? .random : .public
    }
    connect()
  }

  private func primary(_ words: [String]) {
    guard client != nil else { return failed("Disconnected") }
    guard words.count > 1 else { return perform(.primaryServices) { $0.error("No primary service found") } }
    guard let uuid = GatttoolValue.uuid(words[1]) else { return error("Invalid UUID") }
    perform(.primaryService(uuid)) { $0.error("No service UUID found") }
  }

  private func included(_ words: [String]) {
    guard let range = range(words.dropFirst(), endingAtStart: true) else { return }
    perform(.includedServices(range)) { $0.say("No included services found for this range") }
  }

  private func characteristics(_ words: [String]) {
    guard let range = range(words.dropFirst()) else { return }
    guard words.count > 3 else { return perform(.characteristics(range, nil)) }
    guard let uuid = GatttoolValue.uuid(words[3]) else { return error("Invalid UUID") }
    perform(.characteristics(range, uuid))
  }

  private func descriptors(_ words: [String]) { if let range = range(words.dropFirst()) { perform(.attributes(range)) } }

  private func read(_ words: [String]) {
    guard client != nil else { return failed("Disconnected") }
    guard words.count > 1 else { return error("Missing argument: handle") }
    guard let handle = GatttoolValue.handle(words[1]) else { return error("Invalid handle: \(words[1])") }
    perform(.read(AttributeHandle(lower: handle)))
  }

  private func readByType(_ words: [String]) {
    guard client != nil else { return failed("Disconnected") }
    guard words.count > 1 else { return error("Missing argument: UUID") }
    guard let uuid = GatttoolValue.uuid(words[1]) else { return error("Invalid UUID") }
    // For a wrong handle, gatttool names the word before it.
    guard let range = range(words.dropFirst(2), naming: { words[$0 - 1] }) else { return }
    perform(.readByType(uuid, range))
  }

  /// Sends a Write Request for `char-write-req` in lowercase letters, otherwise a Write Command.
  private func write(_ words: [String]) {
    guard client != nil else { return failed("Disconnected") }
    guard words.count > 2 else { return say("Usage: \(words[0]) <handle> <new value>") }
    guard let handle = GatttoolValue.handle(words[1]), handle > 0 else { return error("A valid handle is required") }
    let value = GatttoolValue.octets(words[2])
    guard !value.isEmpty else { return error("Invalid value") }
    let attribute = AttributeHandle(lower: handle)
    perform(words[0] == "char-write-req" ? .write(attribute, value) : .command(attribute, value))
  }

  private func secureLink(_ words: [String]) {
    guard words.count > 1 else { return say("sec-level: \(securityLevel)") }
    guard ["low", "medium", "high"].contains(words[1].lowercased()) else { return say("Allowed values: low | medium | high") }
    securityLevel = words[1]
    if client != nil, words[1].lowercased() != "low" { error(GatttoolLink.unsafeLevel(words[1]).message) }
  }

  private func exchangeMTU(_ words: [String]) {
    guard let client else { return failed("Disconnected") }
    guard words.count > 1 else { return say("Usage: mtu <value>") }
    guard requestedMTU == 0 else { return failed("MTU exchange can only occur once per connection.") }
    let wanted = CNumber(words[1], base: nil).value
    requestedMTU = wanted.map { Int(Int32(truncatingIfNeeded: $0)) } ?? -1
    guard wanted != nil, requestedMTU >= 23 else { return error("Invalid value. Minimum MTU size is 23") }
    let mtu = requestedMTU
    perform(on: client, "Exchange MTU Request failed") { [self] in
      guard let agreed = try await client.exchangeMTU(offering: mtu) else { return error("Error exchanging MTU") }
      say("MTU was exchanged successfully: \(agreed)")
    }
  }

  /// Parses a range of handles.
  /// - Parameters:
  ///   - endingAtStart: Whether a start alone is a range of one handle.
  ///   - naming: Returns the word that an error names, by the index of the wrong word.
  /// - Returns: Nil after an error was printed.
  private func range(_ words: ArraySlice<String>, endingAtStart: Bool = false, naming: ((Int) -> String)? = nil) -> HandleRange? {
    guard client != nil else {
      failed("Disconnected")
      return nil
    }
    var range = HandleRange.all
    for (index, place) in zip(words.indices, ["start", "end"]) {
      guard let handle = GatttoolValue.handle(words[index]) else {
        error("Invalid \(place) handle: \(naming?(index) ?? words[index])")
        return nil
      }
      if place == "start" { range.start = .init(lower: handle) }
      if place == "end" || endingAtStart { range.end = .init(lower: handle) }
    }
    return range
  }
}
