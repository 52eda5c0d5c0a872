import ATT
import ArgumentParser
import Bluetooth
import EventLoop
import GATT
import Operations
import Terminal

struct Services: PeerCommand {
  static let configuration = CommandConfiguration(
    commandName: "services", _superCommandName: "blectl",
    abstract: "Show the whole GATT tree: services, characteristics, properties, descriptors.")

  @OptionGroup var process: ProcessOptions
  @OptionGroup var step: StepOptions
  @OptionGroup var who: PeerOptions

  @Flag(help: "Also read what is readable, values and descriptors, and show what it means.")
  var values = false

  func run(in context: Context) async throws {
    let output = context.output
    try await context.withPeer(who.target) { connection in
      let table = try await connection.client.discover()
      let read = values ? try await connection.client.readableValues(table) : [:]
      for service in table.services {
        if output.style.json {
          try await output.record {
            ServiceTree.json(&$0, service, read)
            connection.identify(in: &$0)
          }
        } else {
          for line in ServiceTree.lines(service, read, output) { try await output.line(output.forEyes(line)) }
        }
      }
    }
  }
}
