import ArgumentParser
import Bluetooth
import EventLoop
import GAP
import GATT
import LinuxIO
import Operations
import Terminal
import Text

struct MacFromAdv: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "mac-from-adv", _superCommandName: "blectl",
    abstract: "The MAC inside the advertisement.",
    discussion: """
      Live, from PEER or everything heard; or offline, from --hex or from lines on standard input: AD structures in hex, optionally after the \
      sender's address, or JSON records of `blectl scan --json`. Exits 2 when there is no MAC.

      --rule says where it is: mfg:0x0305@-6:le is the last six octets of company 0x0305's data, little-endian; svc:fe95@5:le is at octet 5 of \
      service data fe95. --learn shows where the sender's own address occurs, as rules.
      """)

  @OptionGroup var options: GlobalOptions

  @Argument(help: "A device to listen to; all when left out.")
  var peer: PeerSelector?

  @Option(help: ArgumentHelp("Advertising data in hex.", valueName: "ad"))
  var hex: String?

  @Option(help: ArgumentHelp("Where the MAC is, instead of the known layouts; may be given several times.", valueName: "rule"))
  var rule: [String] = []

  @Flag(help: "Show where the sender's address occurs in its data.")
  var learn = false

  @Option(help: ArgumentHelp("The sender's address for --hex.", valueName: "address"))
  var sender: AddressArgument?

  @Flag(help: "When the advertisement has no MAC, connect and take it from the System ID (2A23).")
  var connect = false

  @Option(help: ArgumentHelp("How long to listen, in seconds.", valueName: "seconds"))
  var duration: Double = 10

  @Flag(help: "Take the first match instead of the strongest.")
  var first = false

  func validate() throws {
    if !(duration > 0 && duration <= 31_536_000) { throw ValidationError("--duration takes seconds up to 31536000, not \(duration)") }
    if peer != nil, hex != nil { throw ValidationError("PEER and --hex exclude each other.") }
    if connect, peer == nil { throw ValidationError("--connect needs a PEER.") }
    if learn, !rule.isEmpty { throw ValidationError("--learn and --rule exclude each other.") }
    if learn, hex != nil, sender == nil { throw ValidationError("--learn --hex needs the --sender's address.") }
  }

  func run(in context: Context) async throws {
    let rules = try rule.map { try MACRule($0) }
    let report = MACReport(self, rules.isEmpty ? nil : rules, context.output)
    if let hex {
      guard let data = Hex.decode(hex) else { throw BluetoothError(.usage, "--hex: \"\(DisplayText.escape(hex))\" is not hex") }
      try report.add(data, sender: sender.map { PeerAddress($0.address, .public) }, typeIsKnown: false)
    } else if peer == nil, StandardInput.isFed {
      try await offline(report, context)
    } else {
      try await live(report, context)
    }
    if report.found == 0, connect, let peer { try await systemID(peer, report, context) }
    try report.finish()
  }

  @LoopActor
  private func offline(_ report: MACReport, _ context: Context) async throws {
    let text = try await InputFile.read("-", limit: 64 << 20)
    var number = 0
    for line in text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      number += 1
      guard let (data, sender) = try OfflineAdvertisement.parse(line, number: number) else { continue }
      try await context.output.untilRoom()
      try report.add(data, sender: sender?.peer, typeIsKnown: sender?.typeIsKnown ?? false)
    }
  }

  @LoopActor
  private func live(_ report: MACReport, _ context: Context) async throws {
    let radio = try await context.radio()
    var only: PeerAddress?
    if let peer {
      let finder = PeerFinder(central: radio, note: { context.output.note($0) })
      only = try await finder.find(try await context.configuration.resolve(peer), first: first, within: context.searchLimit).peer
    }
    let wanted = only
    try await radio.listen(ScanParameters(), for: .limited(seconds: duration)) { heard in
      guard let sender = heard.peer, wanted == nil || sender == wanted else { return false }
      try report.add(heard.data, sender: sender, typeIsKnown: true)
      return wanted != nil && report.found > 0
    }
  }

  @LoopActor
  private func systemID(_ peer: PeerSelector, _ report: MACReport, _ context: Context) async throws {
    var who = PeerOptions()
    who.peer = peer
    who.first = first
    try await context.withPeer(who) { session in
      let table = try await session.client.discover()
      let attribute = try table.resolve(try Selector("180a/2a23"))
      let value = try await session.client.read(attribute.handle)
      guard let mac = MACFinder.fromSystemID(value) else {
        throw BluetoothError(.notFound, "the System ID \(Hex.encode(value)) of \(session.peer) does not hold a MAC")
      }
      try await context.output.untilRoom()
      try report.show(mac, sender: session.peer)
    }
  }
}
