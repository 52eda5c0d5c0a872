import CommandLine

package struct Subscribe: SessionCommand, ValueCommand {
  static let configuration = CommandConfiguration(
    named: "subscribe", abstract: "Show notifications and indications while other commands run.",
    discussion: """
      blectl shows them until `unsubscribe` or the end of the connection. If PEER is not connected, blectl connects to it and stays connected.
      """)
  static let examples = ["subscribe heart_rate_measurement", "subscribe ff01 --as hex"]
  static let traits = CommandTraits(attributeUse: .listening)

  @OptionGroup var process: ProcessOptions
  @OptionGroup var who: PeerOptions

  @Argument(help: ArgumentHelp("Characteristics (default: all that notify or indicate)", valueName: "attribute"))
  var attributes: [String] = []

  @Option(name: .customLong("as"), help: ValueFormat.help, completion: .list(ValueFormat.names)) var chosenFormat: ValueFormat?
  @Flag(help: "Subscribe to indications (0200) where both are possible") var indicate = false

  var attributesInScript: [String] { attributes }

  func run(in context: Context, _ session: SessionLinks) async throws {
    let senders = try ValueSenders(attributes, indicates: indicate)
    try await session.withDevice(try await context.request(who), keepsNew: true) { connection, device in
      try await senders.subscribe(on: connection.client, context.output) {
        await context.describe($0, on: connection)
        try await session.shell.backgroundValues(device, connection, context.observer).values.add(
          $0, as: context.format(chosenFormat, of: connection), kind: $1)
      }
    }
  }
}

package struct Unsubscribe: SessionCommand, PeerCommand {
  static let configuration = CommandConfiguration(named: "unsubscribe", abstract: "End subscriptions.")
  static let examples = ["subscribe ff01; unsubscribe ff01", "subscribe; unsubscribe"]
  static let traits = CommandTraits(attributeUse: .listening, endsSubscriptions: true)

  @OptionGroup var process: ProcessOptions
  @OptionGroup var who: PeerOptions
  @Argument(help: ArgumentHelp("Characteristics (default: all with a subscription)", valueName: "attribute")) var attributes: [String] = []

  func run(in context: Context, _ session: SessionLinks) async throws {
    let attributes = attributes == ["*"] ? [] : attributes
    let selectors = try attributes.map { try Selector(typed: $0) }
    var request = try await context.request(who)
    request.connects = false
    let connection = try await session.connection(for: request)
    guard let background = session.sessionDevice?.link?.background else {
      throw Failure(.notFound, "No subscription on \(connection.title). To subscribe: subscribe ATTR")
    }
    if selectors.isEmpty { try await background.values.removeAll() }
    for (selector, typed) in zip(selectors, attributes) {
      let characteristic = try await connection.client.characteristic(selector)
      guard background.contains(characteristic.valueHandle) else {
        throw Failure(.notFound, "No subscription to \(DisplayText.clip(DisplayText.escape(typed), to: 60)) on \(connection.title)")
      }
      try await background.values.remove(characteristic)
    }
  }
}
