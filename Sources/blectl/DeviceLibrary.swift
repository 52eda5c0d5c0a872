import DeviceFiles
import EventLoop
import LinuxIO
import Operations
import SystemPackage
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
  /// - Parameters:
  ///   - adapter: the radio.
  ///   - note: told of the user's files that cannot be used, when another fits.
  /// - Throws: Failure, naming them when none or several fit; for a file that cannot be used, when none fits.
  static func device(
    for connection: Connection, _ configuration: Configuration, _ adapter: AdapterSpec?, note: @LoopActor (String) -> Void = { _ in }
  ) async throws -> DeviceDescription {
    let (own, unusable) = own(configuration)
    for devices in [own, try await simulated(adapter), try ShippedDevices.all()] {
      let fitting = try await connection.fitting(devices)
      guard let first = fitting.first else { continue }
      for failure in unusable { note("not used: \(failure.message)") }
      guard fitting.count == 1 else {
        throw Failure(
          .ambiguous,
          "\(fitting.count) device files fit \(connection.title): \(fitting.map { DisplayText.escape($0.file) }.joined(separator: ", ")); "
            + "--device FILE says which")
      }
      return first
    }
    if var failure = unusable.first {
      let more = unusable.count > 1 ? " (and \(unusable.count - 1) more cannot be used)" : ""
      failure.message += "\(more); no other device file fits \(connection.title): --device FILE names one"
      throw failure
    }
    let there = own.isEmpty ? "there is none in \(DisplayText.escape(configuration.devicesPath ?? "the configuration"))" : "of \(own.count)"
    throw Failure(.notFound, "no device file fits \(connection.title) (\(there)); --device FILE names one, see man blectl-device")
  }

  /// As `device`, without asking anybody or saying what is wrong: those that are looked at one after the other.
  static func known(_ configuration: Configuration, _ adapter: AdapterSpec) -> [[DeviceDescription]] {
    var simulated: [DeviceDescription]?
    if case .simulation(let file?) = adapter, let octets = try? InputFile.readIfThere(file, limit: 4 << 20) {
      simulated = try? DeviceFile.devices(among: octets, name: file)
    }
    return [own(configuration).devices, simulated ?? [], (try? ShippedDevices.all()) ?? []]
  }

  private static func simulated(_ adapter: AdapterSpec?) async throws -> [DeviceDescription] {
    guard case .simulation(let file?)? = adapter else { return [] }
    return try DeviceFile.devices(among: try await InputFile.read(file, limit: 4 << 20), name: file)
  }

  /// Those of the user's folder, and what is wrong with the others.
  private static func own(_ configuration: Configuration) -> (devices: [DeviceDescription], unusable: [Failure]) {
    guard let folder = configuration.devicesPath else { return ([], []) }
    var (devices, unusable): ([DeviceDescription], [Failure]) = ([], [])
    for name in FolderNames.list(folder, home: nil).sorted() where name.hasSuffix(".json") || name.hasSuffix(".jsonc") {
      do { devices.append(try loadAtOnce("\(folder)/\(name)")) } catch { unusable.append(Failure(error)) }
    }
    return (devices, unusable)
  }

  /// As `load`, of a regular file only. - Throws: also EINVAL for what is none.
  static func loadAtOnce(_ path: String) throws -> DeviceDescription {
    guard let octets = try InputFile.readIfThere(path, limit: DeviceFile.maximumLength + 1) else {
      throw FileError.unreadable(path, .noSuchFileOrDirectory)
    }
    return try checked(DeviceFile.parse(octets, name: path))
  }

  private static func checked(_ device: DeviceDescription) throws -> DeviceDescription {
    guard let advertisement = device.advertisement, let rule = advertisement.macRule else { return device }
    do { _ = try MACRule(rule) } catch { throw advertisement.macRuleEntry ?? error }
    return device
  }
}
