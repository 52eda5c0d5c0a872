import Browser
import CommandLine
import Gatttool
import Program
import Scripting

// BluetoothLE has types of these names.
import struct Program.Disconnect
import struct Program.Peripheral

/// The root command of `blectl [options] COMMAND [options] …`. The other commands parse the global options.
struct Blectl: ParsableCommand {
  static let version = "0.1.0"

  static let configuration = CommandConfiguration(
    commandName: "blectl",
    abstract: "Scan, read, write and test Bluetooth LE devices, and send files.",
    version: version,
    // `map` converts the elements. Converting the array would look up each conformance.
    subcommands: commands.commandLine.map { $0 })

  static let commands = CommandSet(
    root: Blectl.self,
    commandLine: [
      Adapters.self, Scan.self, Connect.self, Services.self, Read.self, Write.self, Notify.self, Call.self, MacFromAdv.self, SendFile.self,
      Tune.self, Clone.self, Pair.self, Unpair.self, Bonds.self, Repl.self, Peers.self, Alias.self, Config.self, Run.self, Sim.self,
      Peripheral.self, Advertise.self, Browse.self,
      Decode.self, Update.self, Firmware.self, Gatttool.self, Doctor.self,
    ], option: Execute.self, standard: Repl.self,
    sessionOnly: [
      Rssi.self, Params.self, MTU.self, Disconnect.self, Use.self, Subscribe.self, Unsubscribe.self, WaitForValue.self,
      Sleep.self, ControlPeripheral.self, SetSetting.self, Help.self, Source.self, Exit.self,
    ], recorder: { try ScriptRecorder($0, $1, $2) }, completionScript: { CompletionScript.wanted(by: $0) })

  func run() throws { throw Self.commands.missingCommand }
}
