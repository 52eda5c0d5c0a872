import EventLoop
import GATT
import Operations
import Terminal

/// What `notify` and `subscribe` listen to: characteristics that are named, or everything that sends values.
struct ValueSenders {
  /// Nil: everything.
  private let selectors: [Selector]?

  /// - Parameter attributes: everything when it is empty or has `*`.
  /// - Throws: GATTError.invalidSelector.
  init(_ attributes: [String]) throws {
    selectors = attributes.isEmpty || attributes.contains("*") ? nil : try attributes.map { try Selector($0) }
  }

  /// Finds all that are named before it adds the first. A note names what everything is.
  /// - Parameter discovering: false: plain handles alone need no discovery.
  /// - Throws: as `Client.characteristic` and `addAll`; what `add` throws.
  @LoopActor
  func subscribe(
    on client: Client, discovering: Bool = true, _ output: Output, add: @LoopActor (Characteristic) async throws -> Void
  ) async throws {
    guard let selectors else {
      let table = try await client.discover()
      let added = try await Self.addAll(on: client, output, add)
      if added.isEmpty { throw Failure(.notFound, "nothing on this device can be subscribed to: no characteristic notifies or indicates") }
      let names = added.map { table.name(at: $0.valueHandle) ?? "\($0.valueHandle)" }
      return output.note("subscribing to everything that sends values: \(names.joined(separator: ", "))")
    }
    for item in try await client.characteristics(selectors, discovering: discovering) { try await add(item) }
  }

  /// Adds each characteristic that sends values. One that the device refuses does not hide the rest.
  /// - Returns: those that were added.
  @LoopActor
  static func addAll(
    on client: Client, _ output: Output, _ add: @LoopActor (Characteristic) async throws -> Void
  ) async throws -> [Characteristic] {
    var added: [Characteristic] = []
    for item in try await client.discover().characteristics where item.sendsValues {
      do {
        try await add(item)
        added.append(item)
      } catch let error as GATTError {
        guard case .errorResponse = error else { throw error }
        output.note("\(item.uuid) is left out: \(Failure(error).message)")
      }
    }
    return added
  }
}
