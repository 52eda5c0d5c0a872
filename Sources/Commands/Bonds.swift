import ArgumentParser
import Bluetooth
import CommandLine
import EventLoop
import Finding
import LinuxBluetooth
import LinuxIO
import Presentation
import SMP
import Terminal
import Text

package struct Unpair: LoopCommand {
  static let configuration = CommandConfiguration(
    named: "unpair", abstract: "Remove the keys of a device.",
    discussion: "The device keeps its own keys. Remove them on the device as well, or it may refuse to pair again.")
  static let examples = ["blectl -i sim pair SafeLock --passkey 246810 && blectl unpair SafeLock", "blectl unpair --all"]
  static let unusedOptions = ["--adapter", "--timeout", "--trace", "--trace-secrets"]

  @OptionGroup var process: ProcessOptions

  @Argument(help: "The device: its address, name or @ALIAS") var peer: PeerArgument?

  @Flag(help: "Remove the keys of all devices") var all = false

  var usesNames: Bool { false }
  var recordedForm: RecordedForm { RecordedForm(isLeftOut: true) }

  func validate() throws {
    if all == (peer != nil) { throw ValidationError(all ? "--all takes no PEER." : "Name the device, or use --all.") }
  }

  func run(in context: Context) async throws {
    var entries = try context.process.bonds.all()
    if let peer {
      let selector = try await context.configuration.resolve(peer)
      entries = entries.filter { selector.means($0.stored.bond.identity, named: $0.stored.name.map { UntrustedText($0) }) }
      guard !entries.isEmpty else { throw Failure(.notFound, "There is no bond with \(selector). List the bonds: blectl bonds") }
    }
    try context.process.bonds.remove(entries)
    for entry in entries {
      let bond = entry.stored
      if !KernelKeyring.forget(bond.bond.identity, of: entry.adapter) {
        context.output.note("The kernel keeps its copy of the keys until a restart: removing them needs CAP_NET_ADMIN.")
      }
      try await context.output.show("Removed the bond with \(bond.title)") {
        $0.string("event", "unpaired")
        $0.address("identity", bond.bond.identity.address)
        $0.string("identity_type", bond.bond.identity.type.rawValue)
        $0.string("name", bond.name)
      }
    }
  }
}

package struct Bonds: LoopCommand {
  static let configuration = CommandConfiguration(
    named: "bonds", abstract: "List the devices that blectl is paired with.",
    discussion: "Shows no keys. The keys are in the folder bonds, see FILES in blectl(1).")
  static let examples = ["blectl bonds", "blectl bonds --json"]
  static let traits = CommandTraits(printsRecords: true)
  static let unusedOptions = ["--adapter", "--timeout", "--trace", "--trace-secrets"]

  @OptionGroup var process: ProcessOptions

  var usesNames: Bool { false }
  var usesAdapter: Bool { false }
  var recordedForm: RecordedForm { RecordedForm(isLeftOut: true) }
  var recordFields: RecordFields? {
    RecordFields([
      "identity", "identity_type", "name", "created", "method", "authenticated", "secure_connections", "key_size", "adapter",
      "adapter_type",
    ])
  }

  func run(in context: Context) async throws {
    let output = context.output
    let entries = try context.process.bonds.all()
    guard !output.style.json else {
      for entry in entries {
        try await output.record {
          $0.string("event", "bond")
          entry.stored.describe(in: &$0)
          $0.address("adapter", entry.adapter.address)
          $0.string("adapter_type", entry.adapter.type.rawValue)
        }
      }
      return
    }
    guard !entries.isEmpty else { return output.note("No bonds. To pair: blectl pair PEER") }
    var table = Table(["IDENTITY", "NAME", "METHOD", "KEY", "ADAPTER", "PAIRED (UTC)"])
    for entry in entries {
      let bond = entry.stored
      let size = bond.bond.security.map { "\($0.keySize) bytes" + ($0.isSecureConnections ? "" : ", legacy") } ?? "-"
      table.add([
        "\(bond.bond.identity)", bond.name.map { output.displayText("\(UntrustedText($0))") } ?? "-",
        bond.bond.method.snakeName.replacing("_", with: " "), size, "\(entry.adapter)",
        String(Timestamp.text(bond.created).prefix(16)).replacing("T", with: " "),
      ])
    }
    try await output.show(table)
  }
}

extension StoredBond {
  /// The name and the identity address of the device.
  var title: String { name.map { "\(UntrustedText($0)) (\(bond.identity))" } ?? "\(bond.identity)" }
}
