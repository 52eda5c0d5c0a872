import DeviceFiles
import EventLoop
import LinuxIO
import Operations
import Text

/// The device files that there are: one that is named, those of the user's folder, and those that come with the program.
@LoopActor
enum DeviceLibrary {
  /// - Throws: FileError; FileEntryError; Failure for a rule for the MAC that is none.
  static func load(_ path: String) async throws -> DeviceDescription {
    try checked(DeviceFile.parse(try await InputFile.read(path, limit: DeviceFile.maximumLength + 1), name: path))
  }

  /// The one that fits a device: of the user's, or, when none does, of those that the simulated air is made of, or of those that come with the
  /// program.
  /// - Parameter adapter: the radio.
  /// - Throws: Failure, naming them when none or several fit; for a file that cannot be used.
  static func device(for connection: Connection, _ configuration: Configuration, _ adapter: AdapterSpec?) async throws -> DeviceDescription
  {
    let own = try own(configuration)
    for devices in [own, try await simulated(adapter), try ShippedDevices.all()] {
      let fitting = try await connection.fitting(devices)
      guard let first = fitting.first else { continue }
      guard fitting.count == 1 else {
        throw Failure(
          .ambiguous,
          "\(fitting.count) device files fit \(connection.title): \(fitting.map { DisplayText.escape($0.file) }.joined(separator: ", ")); "
            + "--device FILE says which")
      }
      return first
    }
    let there = own.isEmpty ? "there is none in \(DisplayText.escape(configuration.devicesPath ?? "the configuration"))" : "of \(own.count)"
    throw Failure(.notFound, "no device file fits \(connection.title) (\(there)); --device FILE names one, see man blectl-device")
  }

  private static func simulated(_ adapter: AdapterSpec?) async throws -> [DeviceDescription] {
    guard case .simulation(let file?)? = adapter else { return [] }
    return try DeviceFile.devices(among: try await InputFile.read(file, limit: 4 << 20), name: file)
  }

  private static func own(_ configuration: Configuration) throws -> [DeviceDescription] {
    guard let folder = configuration.devicesPath else { return [] }
    var devices: [DeviceDescription] = []
    for name in FolderNames.list(folder, home: nil).sorted() where name.hasSuffix(".json") || name.hasSuffix(".jsonc") {
      let path = "\(folder)/\(name)"
      guard let octets = try InputFile.readIfThere(path, limit: DeviceFile.maximumLength) else { continue }
      devices.append(try checked(DeviceFile.parse(octets, name: path)))
    }
    return devices
  }

  private static func checked(_ device: DeviceDescription) throws -> DeviceDescription {
    guard let advertisement = device.advertisement, let rule = advertisement.macRule else { return device }
    do { _ = try MACRule(rule) } catch { throw advertisement.macRuleEntry ?? error }
    return device
  }
}
