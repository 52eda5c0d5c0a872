import BluetoothLEDeviceFiles
import BluetoothLEText
import CommandLine

package struct Services: PeerCommand {
  static let configuration = CommandConfiguration(
    named: "services", abstract: "Show services, characteristics, properties and descriptors.")
  static let examples = ["blectl -i sim services Band-7", "blectl -i sim services Band-7 --values"]

  @OptionGroup var process: ProcessOptions
  @OptionGroup var who: PeerOptions
  @Flag(help: "Also read and decode the values and descriptors") var values = false
  @OptionGroup var file: DeviceOptions

  mutating func placeFile(_ path: (String, ScriptFile) -> String) { file.device = file.device.map { path($0, .device) } }
  @LoopActor func name(_ files: inout CommandFiles) { files.reads(file.device, as: "--device") }

  func run(in context: Context) async throws {
    let output = context.output
    let device = try await file.load()
    try await context.withPeer(who) { connection in
      let configured = try context.options(for: connection).device.map { try DeviceLibrary.loadAtOnce($0) }
      let names = (device ?? context.links.device ?? configured)?.names ?? [:]
      @LoopActor func show(_ table: AttributeTable, _ read: ServiceTree.Values = [:]) async throws {
        for service in table.services {
          if output.style.json {
            try await output.record {
              ServiceTree.json(&$0, service, read, names)
              $0.members(connection.identity)
            }
          } else {
            for line in ServiceTree.lines(service, read, names, output) { try await output.line(output.displayText(line)) }
          }
        }
      }
      let table: AttributeTable
      do { table = try await connection.client.discover() } catch {
        if !(error is CancellationError), let found = connection.client.incomplete { try await show(found) }
        throw error
      }
      let (read, failure) = values ? try await connection.client.readableValues(table) : ([:], nil)
      try await show(table, read)
      if let failure { throw failure }
    }
  }
}
