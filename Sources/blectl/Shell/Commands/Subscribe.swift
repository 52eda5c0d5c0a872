import ArgumentParser
import GATT
import Operations
import Text

struct Subscribe: SessionCommand, PeerCommand {
  static let configuration = CommandConfiguration(
    commandName: "subscribe", _superCommandName: "blectl",
    abstract: "Show notifications and indications as they come, while other commands run.",
    discussion: "Until unsubscribe, or until the link is down. A PEER that is not connected is connected, and its link stays.")
  static let turn = ShellTurn.ofDevice

  @OptionGroup var process: ProcessOptions
  @OptionGroup var who: PeerOptions

  @Argument(help: "What to subscribe to (default: everything that notifies or indicates, as '*').")
  var attributes: [String] = []

  @Option(
    name: .customLong("as"), help: ArgumentHelp("How to show values: \(ValueFormat.choices).", valueName: "format"),
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
    commandName: "unsubscribe", _superCommandName: "blectl",
    abstract: "End what subscribe has begun; without ATTR all of it.")
  static let turn = ShellTurn.ofDevice

  @OptionGroup var process: ProcessOptions
  @OptionGroup var who: PeerOptions

  @Argument(help: "What not to show any more.")
  var attributes: [String] = []

  func run(in context: Context) async throws {
    let selectors = try attributes.map { try Selector($0) }
    let connection = try await context.liveConnection(who.target)
    guard let background = context.lane?.background else {
      throw Failure(.notFound, "nothing is subscribed to on \(connection.title); `subscribe ATTR` does")
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
