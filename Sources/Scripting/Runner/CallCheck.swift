import BluetoothLEDeviceFiles
import BluetoothLEFirmware
import BluetoothLELinux
import BluetoothLESimulator
import CommandLine
import Program
import Scripts
import SystemPackage

/// The check of a script's firmware and peripheral files, and of its `call` lines against their device files, before the script runs.
@LoopActor
enum CallCheck {
  /// The device descriptions that `CallCheck` has loaded, by the path of the device file.
  private static var known: [String: DeviceDescription] = [:]

  /// Forgets the loaded device files, which may have changed.
  static func forget() { known = [:] }

  /// Checks the command and the parameters of a `call` line.
  static func check(_ call: DeviceCall, _ typed: ScriptCheck.Command) throws(ScriptCheck.CommandMistake) {
    guard let file = call.file else { return }
    let word = typed.words.first { $0 == file || $0 == "--device=\(file)" }
    if let word, typed.guessed.contains(word) { return }
    guard let device = try loaded(ScriptLoader.path(file, in: typed.file), at: word), let name = call.command,
      !typed.guessed.contains(name)
    else { return }
    var request: DeviceRequest
    do { request = try DeviceRequest(name, of: device) } catch { throw mistake(error, at: name) }
    for word in call.parameters where !typed.guessed.contains(word) {
      do {
        guard let path = try request.path(word) else {
          try request.add(word)
          continue
        }
        let limit = BluetoothLEDeviceFiles.Frame.maximumCommand
        if let contents = try bytes(path, limit: limit) { try request.add(word, bytes: contents) } else { return }
      } catch { throw mistake(error, at: word) }
    }
    if call.parameters.contains(where: typed.guessed.contains) { return try checkNames(call, request, typed, at: name) }
    do { try request.check() } catch { throw mistake(error, at: name) }
  }

  /// Checks that a call with variables among its parameters names all required parameters.
  private static func checkNames(
    _ call: DeviceCall, _ request: DeviceRequest, _ typed: ScriptCheck.Command, at name: String
  ) throws(ScriptCheck.CommandMistake) {
    let names = call.parameters.map { DeviceRequest.parts($0).name }
    // If the name of a parameter is a variable, any parameter may be meant.
    guard names.allSatisfy({ name in request.command.parameters.contains { $0.name == name } }) else { return }
    for parameter in request.command.parameters where parameter.defaultValue == nil && !names.contains(parameter.name) {
      throw mistake(Failure(.usage, "\(name): \(Failure.missing(parameter.name))"), at: name)
    }
  }

  /// Returns the device description in a file. Returns nil for a pipe or another file that blectl may be able to read only once.
  private static func loaded(_ path: String, at word: String?) throws(ScriptCheck.CommandMistake) -> DeviceDescription? {
    WatchedFiles.add(path)
    if let device = known[path] { return device }
    do {
      let device = try DeviceLibrary.loadAtOnce(path)
      known[path] = device
      return device
    } catch FileError.unreadable(_, .invalidArgument) { return nil } catch { throw mistake(error, at: word) }
  }

  /// A file that a command names, other than a device file.
  typealias File = (name: String, kind: ScriptFile)

  /// Checks the file of `update`, `firmware upload` or `peripheral`.
  static func check(_ file: File, _ typed: ScriptCheck.Command) throws(ScriptCheck.CommandMistake) {
    if file.name == "-" || typed.guessed.contains(file.name) { return }
    let path = ScriptLoader.path(file.name, in: typed.file)
    do {
      if file.kind == .peripheral {
        if let bytes = try bytes(path, limit: 4 << 20) {
          _ = try RunningPeripheral.only(try PeripheralFile.parse(bytes, name: path), in: path)
        }
      } else if let bytes = try bytes(path, limit: FirmwareFile.fileLimit) {
        _ = try FirmwareFile.recognize(bytes)
      }
    } catch { throw mistake(error, at: file.name) }
  }

  private static func bytes(_ path: String, limit: Int) throws(FileError) -> [UInt8]? {
    WatchedFiles.add(path)
    do {
      if let bytes = try InputFile.readIfThere(path, limit: limit) { return bytes }
    } catch FileError.unreadable(_, .invalidArgument) { return nil }
    throw FileError.unreadable(path, .noSuchFileOrDirectory)
  }

  private static func mistake(_ error: any Error, at word: String?) -> ScriptCheck.CommandMistake {
    ScriptCheck.CommandMistake(Failure(error).message, at: word, isOfFile: error is FileError || error is FirmwareFileError)
  }
}
