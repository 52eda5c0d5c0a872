package import BluetoothLEDeviceFiles

/// The option that names the device file.
package struct DeviceOptions: ParsableArguments {
  @Option("Device file that describes the protocol, see blectl-device(5)", value: "file", completion: .file(extensions: ["json", "jsonc"]))
  package var device: String?

  package init() {}

  package func validate() throws {
    // Session commands and the input of mac-from-adv use standard input.
    if device == "-" { throw ValidationError("--device takes the name of a file, not - (standard input).") }
  }

  /// Loads the device file that the user named. Nil if the user named none.
  /// - Throws: The errors of `DeviceLibrary.load`.
  @LoopActor package func load() async throws -> DeviceDescription? {
    if let device { try await DeviceLibrary.load(device) } else { nil }
  }
}
