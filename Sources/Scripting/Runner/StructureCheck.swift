import BluetoothLE
import Presentation
import Scripts

/// A check whether a device has what an `expect service` or `expect characteristic` line names.
@LoopActor
struct StructureCheck {
  let expected: ExpectedAttribute
  /// The attribute as the script names it.
  let selector: Selector
  /// The names of the expected properties, in the order of `ExpectedAttribute.properties`.
  let names: [String]

  private var what: String { "\(expected.sort.rawValue) \(DisplayText.escape(selector.description))" }

  /// Returns up to 24 names as one text.
  static func list(_ names: [String]) -> String {
    let more = names.count > 24 ? [" and \(names.count - 24) more"] : []
    return names.isEmpty ? "none" : names.prefix(24).map { DisplayText.escape($0) }.joined(separator: ", ") + (more.first ?? "")
  }

  /// Throws the failure if the device does not have the expected structure.
  /// - Throws: StepFailure; GATTError.ambiguous for properties of several characteristics; the errors of `Client.resolve`.
  func check(_ client: Client) async throws {
    let table = try await client.discover()
    let found: [String]
    var attributes: [Attribute] = []
    switch expected.sort {
    case .service: found = services(in: table).map { "\(Self.title($0.uuid)) \($0.handle)-\($0.endHandle)" }
    case .characteristic:
      do { attributes = [try await client.resolve(selector)] } catch GATTError.notFound {} catch GATTError.invalidSelector {
      } catch GATTError.ambiguous(_, let candidates)
        where names.isEmpty
      { attributes = candidates.map(\.attribute) }
      attributes = attributes.filter { $0.characteristic != nil }
      found = attributes.map { "\($0)" }
    }
    guard found.isEmpty == expected.isAbsent else {
      throw expected.isAbsent
        ? StepFailure("The device has a \(what).", expected: "no \(what)", actual: Self.list(found))
        : StepFailure("The device has no \(what).", expected: what, actual: nearest(in: table))
    }
    if let attribute = attributes.first { try check(attribute) }
  }

  private func check(_ attribute: Attribute) throws {
    let properties = attribute.properties ?? []
    var wanted: [Bool: [String]] = [:]
    var wrong: [Bool: [String]] = [:]
    for ((_, isWanted), name) in zip(expected.properties, names) {
      guard let property = Properties(name: name) else { throw Failure(.usage, ScriptCheck.unknownProperty(name)) }
      wanted[isWanted, default: []].append(name)
      if properties.contains(property) != isWanted { wrong[isWanted, default: []].append(name) }
    }
    guard !wrong.isEmpty else { return }
    func text(_ names: [Bool: [String]], _ words: [(Bool, String)], _ joint: String) -> String {
      words.compactMap { isWanted, word in names[isWanted].map { "\(word) \($0.joined(separator: " "))" } }.joined(separator: joint)
    }
    throw StepFailure(
      "\(attribute) \(text(wrong, [(true, "lacks"), (false, "has")], " and ")).",
      expected: "\(what) \(text(wanted, [(true, "has"), (false, "lacks")], " "))",
      actual: properties.isEmpty ? "no properties" : "has \(properties.names.joined(separator: " "))")
  }

  private func services(in table: AttributeTable) -> [Service] {
    switch selector.main {
    case .handle(let handle): return table.services.filter { $0.handle == handle }
    case .uuid(let part):
      let services = part.pick(table.services) { $0.uuid }
      guard let index = part.index else { return services }
      return services.indices.contains(index - 1) ? [services[index - 1]] : []
    case .userDescription: return []
    }
  }

  /// Returns what the device has instead: the same characteristic elsewhere, the rest of its service, or the services.
  private func nearest(in table: AttributeTable) -> String {
    if expected.sort == .characteristic, case .uuid(let part) = selector.main {
      let elsewhere = table.services.flatMap { service in
        part.pick(service.characteristics) { $0.uuid }.map { "\(Attribute.characteristic($0, service))" }
      }
      if !elsewhere.isEmpty { return Self.list(elsewhere) }
      if let service = selector.service?.pick(table.services, { $0.uuid }).first {
        return "\(Self.title(service.uuid)) has \(Self.list(service.characteristics.map { Self.title($0.uuid) }))"
      }
    }
    return "services \(Self.list(table.services.map { Self.title($0.uuid) }))"
  }

  /// Returns the UUID and, if assigned, the name of an attribute: `180d (heart_rate)`.
  private static func title(_ uuid: UUID) -> String {
    let name = AssignedNumbers.snakeName(of: uuid) ?? ""
    return name.isEmpty ? "\(uuid)" : "\(uuid) (\(name))"
  }
}
