/// The characteristics to subscribe to, which are those that the user named or all that send values.
package struct ValueSenders {
  /// The selectors of the characteristics. Nil selects all characteristics that send values.
  private let selectors: [Selector]?
  /// Whether to subscribe to indications where a characteristic also notifies.
  private let indicates: Bool

  /// Creates a selection. An empty list or `*` selects all characteristics that send values.
  /// - Throws: `GATTError.invalidSelector` for an invalid attribute.
  package init(_ attributes: [String], indicates: Bool) throws {
    self.indicates = indicates
    selectors = attributes.isEmpty || attributes.contains("*") ? nil : try attributes.map { try Selector(typed: $0) }
  }

  /// Finds all selected characteristics, then passes each to `add`, with the kind of its subscription. Prints a note with their names if
  /// the user selected all.
  /// - Parameter discovering: Whether to discover the characteristic of a selector that is only a handle.
  /// - Throws: The errors of `Client.characteristic`, `addAll` and `add`.
  @LoopActor package func subscribe(
    on client: Client, discovering: Bool = true, _ output: Output, add: @LoopActor (Characteristic, Subscription.Kind) async throws -> Void
  ) async throws {
    guard let selectors else {
      let table = try await client.discover()
      let added = try await Self.addAll(on: client, indicates: indicates, output, add)
      let names = added.map { table.name(at: $0.valueHandle) ?? "\($0.valueHandle)" }
      return output.note("Subscribing to all characteristics that send values: \(names.joined(separator: ", "))")
    }
    try await client.followingChanges(of: selectors) {
      for item in try await client.characteristics(selectors, discovering: discovering) {
        try await add(item, Self.kind(of: item, indicates: indicates))
      }
    }
  }

  /// Returns the kind of the subscription to a characteristic.
  /// - Throws: `Failure` if the user wants indications, and the characteristic has none.
  static func kind(of item: Characteristic, indicates: Bool) throws -> Subscription.Kind {
    guard indicates else { return .auto }
    guard item.properties.contains(.indicate) else {
      throw Failure(.notFound, "\(item.uuid) (handle \(item.valueHandle)) does not indicate. To get its notifications, omit --indicate.")
    }
    return .indication
  }

  /// Passes each characteristic that sends values to `add`. Returns the characteristics that the device did not refuse.
  /// - Throws: `Failure` if the device has no such characteristic, or none that indicates if `indicates` is true; the first refusal if the
  ///   device refused all of them.
  @LoopActor static func addAll(
    on client: Client, indicates: Bool, _ output: Output, _ add: @LoopActor (Characteristic, Subscription.Kind) async throws -> Void
  ) async throws -> [Characteristic] {
    var added: [Characteristic] = []
    var refused: [(item: Characteristic, error: GATTError)] = []
    let items = try await client.discover().characteristics.filter(\.sendsValues)
    if indicates, let first = items.first, !items.contains(where: { $0.properties.contains(.indicate) }) {
      _ = try kind(of: first, indicates: true)
    }
    for item in items {
      do {
        try await add(item, item.properties.contains(.indicate) && indicates ? .indication : .auto)
        added.append(item)
      } catch let error as GATTError {
        guard case .errorResponse = error else { throw error }
        refused.append((item, error))
      }
    }
    // Service Changed alone is no value that a user waits for.
    let isRefused = added.allSatisfy { $0.uuid == UUID(0x2A05) } && !refused.isEmpty
    for (item, error) in refused.dropFirst(isRefused ? 1 : 0) { output.note("Skipped \(item.uuid): \(Failure(error).message)") }
    if isRefused, let first = refused.first { throw first.error }
    if added.isEmpty { throw Failure(.notFound, "Nothing to subscribe to: no characteristic of this device notifies or indicates.") }
    return added
  }
}
