import ArgumentParser
import EventLoop
import GAP
import GATT
import Operations
import Terminal
import Text

/// The link itself, for sessions that stay open: a one-shot command that only looks at a link is `connect`.

struct Rssi: PeerCommand {
  static let configuration = CommandConfiguration(
    commandName: "rssi", _superCommandName: "blectl",
    abstract: "Show how strong the peer's signal is.", discussion: "One reading, unless --count or --every ask for more.")

  @OptionGroup var process: ProcessOptions
  @OptionGroup var who: PeerOptions

  @Option(
    name: [.customShort("n", allowingJoined: true), .long], parsing: .unconditional,
    help: ArgumentHelp("Stop after this many readings; 0 is until Ctrl-C.", valueName: "n"))
  var count: Int?

  @Option(
    parsing: .unconditional, help: ArgumentHelp("From one reading to the next; 1 unless given.", valueName: "seconds"),
    transform: TimeText.seconds)
  var every: Double?

  var usesNames: Bool { false }
  var runsUntilStopped: Bool { readings == 0 }

  func validate() throws {
    if let count, count < 0 { throw ValidationError("--count takes 0 or more, not \(count)") }
    if let every, !(every >= 0.1 && every <= 86_400) { throw ValidationError("--every takes seconds from 0.1 to 86400, not \(every)") }
  }

  /// 0: without end, which a distance alone asks for.
  private var readings: Int { count ?? (every == nil ? 1 : 0) }

  func run(in context: Context) async throws {
    let output = context.output
    let pause = Duration.limited(seconds: every ?? 1)
    try await context.withPeer(who.target, exchangingMTU: false) { connection in
      var number = 0
      while true {
        guard let rssi = try await connection.link.parameters().rssi else {
          throw Failure(.adapter, "the adapter does not tell how strong the signal of \(connection.peer) is")
        }
        if output.style.json {
          try await output.record {
            $0.string("event", "rssi")
            $0.time("time", EventLoop.shared.wallClock)
            $0.integer("rssi", rssi)
            connection.identify(in: &$0)
          }
        } else {
          try await output.line("\(rssi) dBm")
        }
        number += 1
        if number == readings { return }
        let next = EventLoop.shared.now.advanced(by: pause)
        try await race({ try await EventLoop.shared.sleep(until: next) }, { throw try await connection.client.untilClosed() })
      }
    }
  }
}

struct Params: PeerCommand {
  static let configuration = CommandConfiguration(
    commandName: "params", _superCommandName: "blectl",
    abstract: "Show the parameters of the link, or ask for others.",
    discussion: """
      --interval, --phy and --data-length are asked for, and what was agreed is shown: the peer and its controller have a say. Several are \
      asked for one after the other; the first that is refused ends it.
      """)

  @OptionGroup var process: ProcessOptions
  @OptionGroup var who: PeerOptions

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Ask for link-layer packets with this many octets of data, 27 to 251.", valueName: "n"))
  var dataLength: Int?

  var usesNames: Bool { false }

  func validate() throws {
    if let dataLength, !(27...251).contains(dataLength) { throw ValidationError("--data-length takes 27 to 251 octets, not \(dataLength)") }
  }

  func run(in context: Context) async throws {
    var target = who.target
    var requested = target.requested
    requested.dataLength = dataLength
    // Here a refusal is not by the way.
    target.requested = RequestedParameters()
    try await context.withPeer(target, exchangingMTU: false) { [requested] connection in
      try await requested.demand(connection.link, context.output)
      try await LinkFacts(of: connection).show("link", "link to ", of: connection, context.output)
    }
  }
}

struct MTU: PeerCommand {
  static let configuration = CommandConfiguration(
    commandName: "mtu", _superCommandName: "blectl",
    abstract: "Show the MTU of the link, or exchange it.",
    discussion:
      "A client may exchange the MTU once on each link; most commands do so when they connect, and --mtu tells them what to offer.")

  @OptionGroup var process: ProcessOptions
  @OptionGroup var who: PeerOptions

  @Argument(help: "The ATT_MTU to offer, 23 to 517.")
  var wanted: Int?

  var usesNames: Bool { false }

  func validate() throws {
    if let wanted, !(23...517).contains(wanted) { throw ValidationError("An MTU has 23 to 517 octets, not \(wanted).") }
  }

  func run(in context: Context) async throws {
    let output = context.output
    try await context.withPeer(who.target, exchangingMTU: false) { connection in
      let client = connection.client
      if let wanted, wanted != client.mtu {
        guard client.requestedMTU == nil else {
          throw Failure(
            .usage,
            "the MTU was exchanged on this link already, \(Quantity.octets(client.mtu)), and a client does so only once (Vol 3 Part F §3.4.2.1); "
              + "disconnect, and connect with --mtu \(wanted)")
        }
        let agreed = try await client.exchangeMTU(wanted)
        if agreed != wanted { output.note("MTU: \(agreed) octets were agreed on, not \(wanted)") }
      }
      if output.style.json {
        try await output.record {
          $0.string("event", "mtu")
          $0.integer("mtu", client.mtu)
          $0.bool("exchanged", client.requestedMTU != nil)
          connection.identify(in: &$0)
        }
      } else {
        try await output.line(Quantity.octets(client.mtu) + (client.requestedMTU == nil ? ", not exchanged on this link" : ""))
      }
    }
  }
}
