import BluetoothLELinux
import CommandLine

package struct Adapters: LoopCommand {
  static let configuration = CommandConfiguration(
    named: "adapters", abstract: "List the Bluetooth adapters of this machine.",
    discussion: "Shows address, state, bus and features of each. With --adapter, describes only that adapter.")
  static let examples = ["blectl adapters", "blectl -i sim adapters", "blectl -i sim adapters --json"]
  static let traits = CommandTraits(printsRecords: true, unusedOptions: ["--timeout", "--record"], usesNames: false, isLeftOut: true)

  @OptionGroup var process: ProcessOptions

  var recordFields: RecordFields? { RecordFields(["name", "address", "up", "bus", "le"]) }

  func run(in context: Context) async throws {
    let adapters = try await found(context)
    if context.output.style.json {
      for adapter in adapters {
        try await context.output.record {
          $0.string("event", "adapter")
          $0.string("name", adapter.name)
          $0.address("address", adapter.address)
          $0.bool("up", adapter.isUp)
          $0.string("bus", adapter.bus)
          $0.bool("le", adapter.le)
          $0.strings("features", adapter.features)
        }
      }
      return
    }
    var table = Table(["NAME", "ADDRESS", "STATE", "BUS", "CAN"])
    for adapter in adapters {
      table.add([
        adapter.name, adapter.address?.description ?? "-", adapter.state, adapter.bus,
        ((adapter.le ? ["le"] : []) + adapter.features).joined(separator: " "),
      ])
    }
    try await context.output.show(table)
  }

  private struct Row {
    var name: String
    var address: Address?
    var isUp: Bool
    var state: String
    var bus: String
    var le: Bool
    var features: [String]
  }

  @LoopActor private func found(_ context: Context) async throws -> [Row] {
    let spec = try context.process.adapter()
    switch spec {
    case .kernel(let index):
      let all = try AdapterList.adapters().filter { index == nil || $0.name == "hci\(index ?? 0)" }
      if all.isEmpty, let index { throw Failure(.adapter, "Adapter hci\(index) not found. List the adapters: blectl adapters") }
      var rows: [Row] = []
      for adapter in all {
        rows.append(
          Row(
            name: adapter.name, address: adapter.address, isUp: adapter.isUp, state: Self.state(adapter), bus: adapter.bus, le: adapter.le,
            features: await adapter.abilities().features))
      }
      return rows
    default:
      guard let controller = try await context.radio().controllerFacts else { return [] }
      return [
        Row(
          name: controller.name, address: controller.address, isUp: true, state: "up", bus: bus(spec), le: true,
          features: controller.features)
      ]
    }
  }

  private static func state(_ adapter: AdapterInfo) -> String {
    if adapter.block != nil { return "blocked" }
    return adapter.isTaken ? "taken" : adapter.isUp ? "up" : "down"
  }

  private func bus(_ spec: AdapterSpec) -> String {
    switch spec {
    case .kernel, .user: "kernel"
    case .stream(.tcp): "tcp"
    case .stream(.unix): "unix"
    case .stream(.serial): "serial"
    case .simulation, .replay: "virtual"
    }
  }
}
