import ArgumentParser
import GATT
import Operations
import Text

struct Subscribe: SessionCommand, PeerCommand {
  static let configuration = CommandConfiguration(
    commandName: "subscribe", _superCommandName: "blectl", abstract: "Show notifications and indications while other commands run.",
    discussion: """
      They are shown until unsubscribe, or until the connection ends. A PEER that is not connected is connected, and stays connected.
      """)
  static let examples = ["subscribe heart_rate_measurement", "subscribe ff01 --as hex"]
  static let turn = ShellTurn.ofDevice

  @OptionGroup(title: HelpPage.globalTitle) var process: ProcessOptions
  @OptionGroup var who: PeerOptions

  @Argument(help: ArgumentHelp("Characteristics (default: all that notify or indicate)", valueName: "attribute"))
  var attributes: [String] = []

  @Option(
    name: .customLong("as"),
    help: ArgumentHelp(
      "Format: hex, utf8, u8, i16le, ... (default: auto)", discussion: "All: \(ValueFormat.choices).", valueName: "format"),
    completion: .list(ValueFormat.names))
  var format: ValueFormat = .auto

  func run(in context: Context) async throws {
    let senders = try ValueSenders(attributes)
    var isNew = false
    do {
      let connection: Connection
      if context.isAboutCurrent {
        connection = try await context.liveConnection(who.target)
      } else {
        (connection, isNew) = try await context.lastingLink(try await context.configuration.resolve(who.peer), who.target)
      }
      guard let shell = context.shell, let lane = context.lane else { return }
      try await senders.subscribe(on: connection.client, context.output) {
        await context.describe($0, on: connection)
        try await shell.backgroundValues(lane, connection).add($0, format)
      }
    } catch {
      // It stays for what is subscribed to.
      if isNew, let lane = context.lane { await context.shell?.disconnect(lane) }
      throw error
    }
  }
}

struct Unsubscribe: SessionCommand, PeerCommand {
  static let configuration = CommandConfiguration(
    commandName: "unsubscribe", _superCommandName: "blectl", abstract: "Stop showing values that subscribe shows; without ATTR, all.")
  static let examples = ["subscribe ff01; unsubscribe ff01", "subscribe; unsubscribe"]
  static let turn = ShellTurn.ofDevice

  @OptionGroup(title: HelpPage.globalTitle) var process: ProcessOptions
  @OptionGroup var who: PeerOptions

  @Argument(help: ArgumentHelp("Characteristics (default: all)", valueName: "attribute"))
  var attributes: [String] = []

  func run(in context: Context) async throws {
    let selectors = try attributes.map { try Selector($0) }
    let connection = try await context.liveConnection(who.target)
    guard let background = context.lane?.background else {
      throw Failure(.notFound, "Nothing is subscribed to on \(connection.title). To subscribe: `subscribe ATTR`")
    }
    if selectors.isEmpty { try await background.removeEach() }
    for (selector, typed) in zip(selectors, attributes) {
      let characteristic = try await connection.client.characteristic(selector)
      guard background.contains(characteristic) else {
        throw Failure(.notFound, "\(DisplayText.clip(DisplayText.escape(typed), to: 60)) is not subscribed to on \(connection.title)")
      }
      try await background.remove(characteristic)
    }
  }
}
