package import BluetoothLEDeviceFiles
import BluetoothLELinux
import SystemPackage

/// The search for device files by path, in the user's folder, and among the files shipped with the program.
@LoopActor
package enum DeviceLibrary {
  /// Loads the device file at a path.
  /// - Throws: `FileError`; `FileEntryError`; `Failure` for an invalid MAC rule.
  static func load(_ path: String) async throws -> DeviceDescription {
    try checked(DeviceFile.parse(try await InputFile.read(path, limit: DeviceFile.maximumLength + 1), name: path))
  }

  /// Returns the device file that matches a device. Searches the user's folder, then the simulation's file, then the shipped files.
  /// - Parameters:
  ///   - adapter: The radio, whose simulation file may describe devices. Nil to search no simulation file.
  ///   - note: A function that receives the error of each invalid file in the user's folder, if another file matches.
  /// - Throws: `Failure` if no file or several files match. If no file matches, the failure contains the error of an invalid file.
  package static func device(
    for connection: Connection, _ configuration: Configuration, _ adapter: AdapterSpec?, note: @LoopActor (String) -> Void = { _ in }
  ) async throws -> DeviceDescription {
    if let path = configuration.options(for: connection.identityAddress, named: connection.name, connection.selector).device {
      return try loadAtOnce(path)
    }
    let (own, unusable) = own(configuration)
    let simulated = try await simulated(adapter)
    for devices in [own, simulated, try ShippedDeviceFiles.all()] {
      let fitting = try await connection.fitting(devices)
      guard let first = fitting.first else { continue }
      for failure in unusable { note("Ignored a device file: \(failure.message)") }
      guard fitting.count == 1 else {
        throw Failure(
          .ambiguous,
          "\(fitting.count) device files match \(connection.title): "
            + "\(fitting.map { DisplayText.escape($0.file) }.joined(separator: ", ")). Choose one: --device FILE")
      }
      return first
    }
    if var failure = unusable.first {
      if unusable.count > 1 { failure.add("More invalid device files: \(unusable.count - 1).") }
      failure.add("No other device file matches \(connection.title). Name one: --device FILE")
      throw failure
    }
    if let file = (simulated + own).first(where: { $0.match.isEmpty }).map({ ShellWords.quoteForShell($0.file) }) {
      throw Failure(
        .notFound,
        "No device file matches \(connection.title): \(DisplayText.escape(file)) has no \"match\". Add one, such as {\"name\": \"Thermo-*\"}, "
          + "or use --device \(DisplayText.escape(file))")
    }
    let folder = DisplayText.escape(configuration.devicesPath ?? "the configuration")
    let there = own.isEmpty ? "\(folder) contains none" : "\(folder) contains \(own.count.counted("other"))"
    throw Failure(.notFound, "No device file matches \(connection.title) (\(there)). Name one with --device FILE, see man blectl-device")
  }

  /// Returns the known device files, grouped in order of precedence: the user's, the simulation's, the shipped ones. Skips invalid files.
  package static func known(_ configuration: Configuration, _ adapter: AdapterSpec) -> [[DeviceDescription]] {
    var simulated: [DeviceDescription]?
    if case .simulation(let file?) = adapter, let bytes = try? InputFile.readIfThere(file, limit: 4 << 20) {
      simulated = try? DeviceFile.devices(among: bytes, name: file)
    }
    return [own(configuration).devices, simulated ?? [], (try? ShippedDeviceFiles.all()) ?? []]
  }

  private static func simulated(_ adapter: AdapterSpec?) async throws -> [DeviceDescription] {
    guard case .simulation(let file?)? = adapter else { return [] }
    return try DeviceFile.devices(among: try await InputFile.read(file, limit: 4 << 20), name: file)
  }

  /// Loads the device files in the user's folder. Returns a `Failure` for each invalid file.
  private static func own(_ configuration: Configuration) -> (devices: [DeviceDescription], unusable: [Failure]) {
    guard let folder = configuration.devicesPath else { return ([], []) }
    var (devices, unusable): ([DeviceDescription], [Failure]) = ([], [])
    for name in FolderNames.list(folder, home: nil).sorted() where name.hasSuffix(".json") || name.hasSuffix(".jsonc") {
      do { devices.append(try loadAtOnce("\(folder)/\(name)")) } catch { unusable.append(Failure(error)) }
    }
    return (devices, unusable)
  }

  /// Loads a device file synchronously.
  /// - Throws: The errors of `load`; EINVAL if the path is not a regular file.
  package static func loadAtOnce(_ path: String) throws -> DeviceDescription {
    guard let bytes = try InputFile.readIfThere(path, limit: DeviceFile.maximumLength + 1) else {
      throw FileError.unreadable(path, .noSuchFileOrDirectory)
    }
    return try checked(DeviceFile.parse(bytes, name: path))
  }

  private static func checked(_ device: DeviceDescription) throws -> DeviceDescription {
    guard let advertisement = device.advertisement, let rule = advertisement.macRule else { return device }
    do { _ = try MACRule(rule) } catch { throw advertisement.macRuleEntry ?? error }
    return device
  }
}
