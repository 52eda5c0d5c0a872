/// The file `$XDG_CONFIG_HOME/blectl/names.json` with the user's own names for UUIDs and companies.
///
///     {"uuids": {"ffe1": "Lock Command", "6e400001-b5a3-f393-e0a9-e50e24dcca9e": "Console"}, "companies": {"0305": "Gate Systems"}}
package enum NamesFile {
  private static let problem = Guarded<Failure?>(nil)

  /// Registers the user's file of names. The first lookup of a name reads the file.
  package static func use(_ configuration: @escaping @Sendable () -> Configuration) {
    OwnNames.come {
      do throws(Failure) {
        guard let path = configuration().namesPath else { return nil }
        return try read(path)
      } catch {
        problem.withLock { $0 = error }
        return nil
      }
    }
  }

  /// The error in the user's file of names. Nil if the file is valid, or before the first lookup of a name.
  package static var failure: Failure? { problem.withLock { $0 } }

  /// Reads the file of names, unless an earlier lookup has read it.
  /// - Throws: `Failure` if the file exists and is invalid.
  package static func check() throws(Failure) {
    _ = OwnNames.current
    if let failure { throw failure }
  }

  private static func read(_ path: String) throws(Failure) -> OwnNames? {
    guard let tree = try Configuration.tree(of: path, keys: ["uuids", "companies"]) else { return nil }
    return OwnNames(
      uuids: try names(tree, "uuids", path, "a UUID (4, 8 or 32 hex digits)") { UUID($0) },
      companies: try names(tree, "companies", path, "a company ID (4 hex digits)") { text in
        text.utf8.count == 4 || text.hasPrefix("0x") ? Hex.number(text.after("0x") ?? text).flatMap { UInt16(exactly: $0) } : nil
      })
  }

  private static func names<Key: Hashable>(
    _ tree: JSONTree, _ part: String, _ path: String, _ wanted: String, _ key: (String) -> Key?
  ) throws(Failure) -> [Key: String] {
    guard let entry = tree[part] else { return [:] }
    func failure(_ line: Int, _ reason: String) -> Failure { Failure(.input, "\(path):\(line): \(part): \(reason)") }
    var names: [Key: String] = [:]
    var typed: [String: String] = [:]
    for (text, value) in try Configuration.members(of: entry, "\(path):\(entry.line): \(part)") {
      guard let number = key(text) else { throw failure(value.line, "\(DisplayText.quote(text)) is not \(wanted)") }
      guard let name = value.string else { throw failure(value.line, "\(text): Expected a name in quotes, found \(value.noun)") }
      if let reason = fault(name) { throw failure(value.line, "\(text): \(DisplayText.quote(name)) \(reason)") }
      guard names.updateValue(name, forKey: number) == nil else { throw failure(value.line, "\(text) has two names") }
      // Two names must differ in the form that users type.
      let form = AssignedNumbers.snake(name)
      if let other = typed.updateValue(text, forKey: form.isEmpty ? name : form) {
        throw failure(value.line, "\(DisplayText.quote(name)) is the name of both \(other) and \(text)")
      }
    }
    return names
  }

  /// Returns the reason why a text cannot be a name, such as `is empty`. Nil for a valid name.
  private static func fault(_ name: String) -> String? {
    if name.trimmed.isEmpty { return "is empty" }
    if name.utf8.count > 64 { return "is longer than 64 bytes" }
    if DisplayText.escape(name) != name.replacing("\\", with: "\\\\") { return "contains unprintable characters" }
    if UUID(name) != nil || name.hasPrefix("0x") { return "looks like a UUID or a handle" }
    return nil
  }
}
