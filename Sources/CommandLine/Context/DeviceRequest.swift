package import BluetoothLEDeviceFiles

/// A device's command with the parameters that the user typed.
package struct DeviceRequest {
  package let command: DeviceCommand
  package private(set) var values: [NamedValue] = []

  /// Creates a request without parameters.
  /// - Throws: `Failure(.usage)` for an unknown command.
  package init(_ name: String, of device: DeviceDescription) throws {
    guard let command = device.command(name) else {
      let names = device.commands.map(\.name)
      let meant = SpellingSuggestion.nearest(to: name, among: names).map { " Did you mean \($0)?" } ?? ""
      let there = names.isEmpty ? "defines no commands" : "defines \(names.joined(separator: ", "))"
      throw Failure(
        .usage,
        "\(DisplayText.escape(device.name)) has no command \(DisplayText.quote(name)).\(meant) "
          + "\(DisplayText.escape(device.file)) \(there).")
    }
    self.command = command
  }

  /// Splits `name=value` into the name and the value. Without `=`, both are the whole word.
  package static func parts(_ word: String) -> (name: String, text: String) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    return (String(parts.first ?? ""), String(parts.last ?? ""))
  }

  /// Returns the parameter that a word such as `name=value` sets.
  /// - Throws: `Failure(.usage)` if the command has no parameter of this name.
  func parameter(_ word: String) throws -> DeviceCommand.Parameter {
    let key = Self.parts(word).name
    guard let parameter = command.parameters.first(where: { $0.name == key }) else {
      let names = command.parameters.map(\.name)
      throw Failure(
        .usage,
        "\(command.name) has no parameter \(DisplayText.quote(key)). "
          + (names.isEmpty ? "It takes none." : "Use \(names.joined(separator: ", "))."))
    }
    return parameter
  }

  /// Returns the FILE of a word such as `name=@FILE`. Nil if the word has no FILE or the parameter does not take bytes.
  /// - Throws: The errors of `parameter`.
  package func path(_ word: String) throws -> String? {
    guard case .string(let field) = try parameter(word).field, !field.isText else { return nil }
    return Self.parts(word).text.after("@")
  }

  /// Adds a parameter such as `name=value`.
  /// - Parameter bytes: The bytes of the file in `name=@FILE`. Nil if the parameter contains the value itself.
  /// - Throws: `Failure(.usage)` for an unknown name, a repeated name or an invalid value.
  package mutating func add(_ word: String, bytes: [UInt8]? = nil) throws {
    let parameter = try parameter(word)
    guard values[parameter.name] == nil else { throw Failure(.usage, "\(command.name): \(parameter.name) is given twice") }
    do {
      values.append(NamedValue(parameter.name, try bytes.map { DeviceValue.bytes($0) } ?? parameter.parse(Self.parts(word).text)))
    } catch let fault as FieldFault { throw Failure(.usage, "\(command.name): \(fault.description)") }
  }

  /// Checks that no parameter is missing and that every value fits its field.
  /// - Throws: `Failure(.usage)` that names the wrong parameter.
  package func check() throws {
    do { _ = try command.encode(values) } catch { throw Failure(.usage, "\(command.name): \(Failure(error).message)") }
  }
}
