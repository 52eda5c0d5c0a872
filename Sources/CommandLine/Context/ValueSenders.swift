import EventLoop
package import GATT
import Operations
import Presentation
package import Terminal

/// The characteristics to subscribe to, which are those that the user named or all that send values.
package struct ValueSenders {
  /// The selectors of the characteristics. Nil selects all characteristics that send values.
  private let selectors: [Selector]?

  /// Creates a selection. An empty list or `*` selects all characteristics that send values.
  /// - Throws: `GATTError.invalidSelector` for an invalid attribute.
  package init(_ attributes: [String]) throws {
    selectors = attributes.isEmpty || attributes.contains("*") ? nil : try attributes.map { try Selector($0) }
  }

  /// Finds all selected characteristics, then passes each to `add`. Prints a note with their names if the user selected all.
  /// - Parameter discovering: Whether to discover the characteristic of a selector that is only a handle.
  /// - Throws: The errors of `Client.characteristic`, `addAll` and `add`.
  @LoopActor package func subscribe(
    on client: Client, discovering: Bool = true, _ output: Output, add: @LoopActor (Characteristic) async throws -> Void
  ) async throws {
    guard let selectors else {
      let table = try await client.discover()
      let added = try await Self.addAll(on: client, output, add)
      let names = added.map { table.name(at: $0.valueHandle) ?? "\($0.valueHandle)" }
      return output.note("Subscribing to all characteristics that send values: \(names.joined(separator: ", "))")
    }
    try await client.followingChanges(of: selectors) {
      for item in try await client.characteristics(selectors, discovering: discovering) { try await add(item) }
    }
  }

  /// Passes each characteristic that sends values to `add`. Returns the characteristics that the device did not refuse.
  /// - Throws: `Failure` if the device has no such characteristic or refused all of them.
  @LoopActor static func addAll(
    on client: Client, _ output: Output, _ add: @LoopActor (Characteristic) async throws -> Void
  ) async throws -> [Characteristic] {
    var added: [Characteristic] = []
    for item in try await client.discover().characteristics where item.sendsValues {
      do {
        try await add(item)
        added.append(item)
      } catch let error as GATTError {
        guard case .errorResponse = error else { throw error }
        output.note("Skipped \(item.uuid): \(Failure(error).message)")
      }
    }
    if added.isEmpty { throw Failure(.notFound, "Nothing to subscribe to: no characteristic of this device notifies or indicates.") }
    return added
  }
}
