package import ArgumentParser
package import DeviceFiles
import EventLoop

/// Which file describes the device: of every command that makes use of one.
package struct DeviceOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("Device file that describes the protocol, see blectl-device(5)", valueName: "file"),
    completion: .file(extensions: ["json", "jsonc"]))
  package var device: String?

  package init() {}

  package func validate() throws {
    // Commands of a session come from there, and what mac-from-adv looks at.
    if device == "-" { throw ValidationError("--device takes the name of a file, not - (standard input).") }
  }

  /// Before anything is sent. Nil when none was named.
  /// - Throws: as `DeviceLibrary.load`.
  @LoopActor
  package func load() async throws -> DeviceDescription? {
    if let device { try await DeviceLibrary.load(device) } else { nil }
  }
}
