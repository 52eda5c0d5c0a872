import CommandLine

// Commands that show or change a property of a connection.

package struct Rssi: PeerCommand {
  static let configuration = CommandConfiguration(
    named: "rssi", abstract: "Show the signal strength of a connection.",
    discussion: "Prints one reading, or several with --count or --every.")
  static let examples = ["rssi", "rssi --every 500ms -n 3"]

  @OptionGroup var process: ProcessOptions
  @OptionGroup var who: PeerOptions
  @Option("Stop after N readings; 0 continues until Ctrl-C", value: "n", name: .short("n"), parsing: .unconditional) var count: Int?
  @Option("Pause between readings (default: 1)", value: "seconds", parsing: .unconditional, transform: TimeText.seconds) var every: Double?

  var runsUntilStopped: Bool { readings == 0 }

  func validate() throws {
    try limit("--count", count, to: 0...)
    try limit("--every", every, to: 0.1...86_400, "seconds", unitFirst: true)
  }

  /// The number of readings to print. 0 means no limit, as with `--every` without `--count`.
  private var readings: Int { count ?? (every == nil ? 1 : 0) }

  func run(in context: Context) async throws {
    let output = context.output
    let pause = Duration.limited(seconds: every ?? 1)
    try await context.withPeer(who, exchangingMTU: false) { connection in
      var number = 0
      while true {
        guard let rssi = try await connection.link.parameters().rssi else {
          throw Failure(.adapter, "Cannot read the signal strength of \(connection.peer): this adapter does not report it.")
        }
        try await output.show("\(rssi) dBm") {
          $0.string("event", "rssi")
          $0.time("time", EventLoop.shared.wallClock)
          $0.integer("rssi", rssi)
          $0.members(connection.identity)
        }
        number += 1
        if number == readings { return }
        let next = EventLoop.shared.now.advanced(by: pause)
        try await race({ try await EventLoop.shared.sleep(until: next) }, { throw try await connection.client.untilClosed() })
      }
    }
  }
}

package struct Params: PeerCommand {
  static let configuration = CommandConfiguration(
    named: "params", abstract: "Show or change the connection parameters.",
    discussion: """
      Requests --interval, --phy and --data-length in turn, then shows the resulting parameters. The first refusal stops the command.
      """)
  static let examples = ["params", "params --phy 2m", "params --interval 30ms --data-length 251"]

  @OptionGroup var process: ProcessOptions
  @OptionGroup var who: PeerOptions
  @Option("Request this Link Layer data length, 27-251", value: "n", parsing: .unconditional) var dataLength: Int?

  func validate() throws { try limit("--data-length", dataLength, to: 27...251, "bytes") }

  func run(in context: Context) async throws {
    var request = try await context.request(who, exchangingMTU: false)
    request.parameters.dataLength = dataLength
    let requested = request.parameters
    // Here a refused parameter is an error, so request the parameters below.
    request.parameters = LinkParameterRequest()
    try await context.links.withLink(request) { connection in
      try await context.links.demand(requested, of: connection)
      try await LinkFacts(of: connection).show("link", "Connection to ", of: connection, context.output)
    }
  }
}

extension LinkFacts {
  /// Reads the current parameters of a connection.
  /// - Throws: The reason for the disconnection if the connection is lost.
  @LoopActor init(of connection: Connection) async throws {
    self.init(try await connection.link.parameters(), mtu: connection.client.mtu, connection.security?.level)
  }

  /// Writes the parameters as a JSON record, or as a title line followed by one line for each known parameter.
  @LoopActor func show(_ event: String, _ title: String, of connection: Connection, _ output: Output) async throws {
    if output.style.json {
      return try await output.record {
        $0.string("event", event)
        $0.members(connection.identity)
        write(&$0)
      }
    }
    try await output.line(title + "\(connection.peer)" + (connection.name.map { " (\($0))" } ?? ""))
    for line in lines { try await output.line("  \(line)") }
  }
}

package struct MTU: PeerCommand {
  static let configuration = CommandConfiguration(
    named: "mtu", abstract: "Show the MTU of a connection, or exchange it.",
    discussion: """
      A client may exchange the MTU only once per connection. Most commands do so when they connect. Set it with their option --mtu.
      """)
  static let examples = ["mtu", "mtu --json"]

  @OptionGroup var process: ProcessOptions
  @OptionGroup var who: PeerOptions
  @Argument(help: "The MTU to offer, 23-517") var wanted: Int?

  func validate() throws { try limit("mtu", wanted, to: 23...517, "bytes") }

  func run(in context: Context) async throws {
    let output = context.output
    try await context.withPeer(who, exchangingMTU: false) { connection in
      let client = connection.client
      if let wanted, wanted != client.mtu {
        guard client.requestedMTU == nil else {
          throw Failure(
            .usage,
            "The MTU is \(client.mtu) already. A client may exchange it only once per connection (Vol 3 Part F §3.4.2.1). "
              + "Disconnect, then connect with --mtu \(wanted)")
        }
        let agreed = try await client.exchangeMTU(wanted)
        if agreed != wanted { output.note("The device agreed to an MTU of \(agreed), not \(wanted).") }
      }
      try await output.show(Quantity.bytes(client.mtu) + (client.requestedMTU == nil ? ", not exchanged on this connection" : "")) {
        $0.string("event", "mtu")
        $0.integer("mtu", client.mtu)
        $0.bool("exchanged", client.requestedMTU != nil)
        $0.members(connection.identity)
      }
    }
  }
}
