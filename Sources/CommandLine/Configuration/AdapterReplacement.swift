/// An adapter to use in place of a kernel adapter that a script names, such as `hci0`. The user sets it in `$BLECTL_HCI0`, else in
/// `adapters` of the configuration file. blectl does not look for a replacement of the replacement.
struct AdapterReplacement: Sendable {
  let spec: AdapterSpec
  /// A note that tells the user which adapter blectl uses instead, and where the user configured it.
  let note: String

  /// Returns the replacement of a kernel adapter.
  /// - Parameters:
  ///   - number: The N of `hciN`.
  ///   - path: The path of the configuration file. Nil without a configuration file.
  /// - Returns: Nil if nothing replaces the adapter.
  /// - Throws: `Failure` for an invalid adapter or configuration file.
  static func find(of number: Int, in environment: [String: String], _ path: String?) throws(Failure) -> Self? {
    let variable = "BLECTL_HCI\(number)"
    if let text = environment[variable], !text.isEmpty { return try Self(number, text, variable) }
    guard let path, let tree = try Configuration.tree(of: path, keys: Configuration.keys), let adapters = tree["adapters"] else {
      return nil
    }
    var found: Self?
    for (name, value) in try Configuration.members(of: adapters, "\(path):\(adapters.line): adapters") {
      let place = "\(path):\(value.line)"
      guard case .kernel(let own?)? = try? AdapterSpec(name) else {
        throw Failure(.input, "\(place): \(DisplayText.quote(name)) is not a kernel adapter. Use a name such as hci0.")
      }
      guard let text = value.string else { throw Failure(.input, "\(place): \(name): Expected a SPEC in quotes, found \(value.noun)") }
      let replacement = try Self(own, text, place)
      if own == number { found = replacement }
    }
    return found
  }

  private init(_ number: Int, _ text: String, _ source: String) throws(Failure) {
    do { spec = try AdapterSpec(text) } catch { throw Failure(.usage, "\(source): \(Failure(error).message)") }
    note = "Using \(DisplayText.escape(text)) instead of hci\(number) (\(source))"
  }
}
