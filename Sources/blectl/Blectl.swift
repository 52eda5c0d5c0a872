import ArgumentParser

/// The command line: `blectl [options] COMMAND [options] …`.
struct Blectl: ParsableCommand {
  static let version = "0.1.0"

  static let configuration = CommandConfiguration(
    commandName: "blectl",
    abstract: "A Bluetooth LE toolkit: scan, connect, read, write, and push files, from a shell.",
    discussion: """
      PEER is AA:BB:CC:DD:EE:FF[/public|/random], name:GLOB, mac:MAC (the one inside the advertisement), service:UUID, @last or @ALIAS.
      ATTR is a handle (0x0012), a UUID (ffe1), service/characteristic (ffe0/ffe1), ffe1[2], a descriptor (ffe1@2901) or a name (battery_level).

      Without a radio, everything works on the simulated one: blectl scan -i sim

      Exit codes: 0 done, 1 defect, 2 not found, 3 adapter unusable, 4 timed out, 5 peer refused, 6 link lost, 7 expectation failed,
      64 wrong usage, 66 input file, 74 output, 130 interrupted.
      """,
    version: version,
    subcommands: [
      Adapters.self, Scan.self, Connect.self, Services.self, Read.self, Write.self, Notify.self, MacFromAdv.self, SendFile.self,
    ])

  @OptionGroup(title: "Options of every command (before or after its name)") var options: GlobalOptions
}
