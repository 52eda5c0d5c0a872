import Text

/// Another adapter in place of one of the kernel's, for scripts that name `hci0`: from `$BLECTL_HCI0`, else from `adapters` in the configuration
/// file. It is not replaced in its turn.
struct AdapterReplacement: Sendable {
  let spec: AdapterSpec
  /// What the user should know.
  let note: String

  /// - Parameters:
  ///   - number: the N of hciN.
  ///   - path: of the configuration file.
  /// - Returns: nil when it is not replaced.
  /// - Throws: for a SPEC that is none, and for a configuration file that is wrong.
  static func find(of number: Int, in environment: [String: String], _ path: String?) throws(Failure) -> Self? {
    let variable = "BLECTL_HCI\(number)"
    if let text = environment[variable], !text.isEmpty { return try Self(number, text, variable) }
    guard let path, let tree = try Configuration.tree(of: path, keys: Configuration.keys), let adapters = tree["adapters"] else {
      return nil
    }
    guard case .object(let members) = adapters.kind else {
      throw Failure(.input, "\(path):\(adapters.line): adapters: \(adapters.noun) where an object should be")
    }
    var found: Self?
    for (name, value) in members {
      let place = "\(path):\(value.line)"
      guard case .kernel(let own?)? = try? AdapterSpec(name) else {
        throw Failure(.input, "\(place): \(DisplayText.quote(name)) is not an adapter of the kernel, such as hci0")
      }
      guard let text = value.string else { throw Failure(.input, "\(place): \(name): \(value.noun) where a SPEC in quotes should be") }
      let replacement = try Self(own, text, place)
      if own == number { found = replacement }
    }
    return found
  }

  private init(_ number: Int, _ text: String, _ source: String) throws(Failure) {
    do { spec = try AdapterSpec(text) } catch { throw Failure(.usage, "\(source): \(Failure(error).message)") }
    note = "hci\(number) is replaced by \(DisplayText.escape(text)) (\(source))"
  }
}
