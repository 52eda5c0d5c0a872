import Foundation
import TestSupport

/// The server's end of a link. The test controls the client's end.
@LoopActor
final class ServerTestChannel: Channel {
  var handler: (@LoopActor (ChannelEvent) -> Void)?
  private(set) var sent: [[UInt8]] = []
  private(set) var isClosed = false

  nonisolated init() {}

  func send(_ pdu: [UInt8]) { if !isClosed { sent.append(pdu) } }
  func waitUntilWritable(until _: LoopClock.Instant?) async throws -> Bool { true }
  func close() { isClosed = true }

  func deliver(_ hex: String) { handler?(.received(octets(hex))) }
  func drop() { handler?(.closed(LinkLost("gone"))) }

  /// Returns the PDUs that the server sent since the last call.
  func take() -> [String] {
    defer { sent = [] }
    return sent.map { Hex.encode($0) }
  }
}

/// Decodes hex. Invalid hex becomes a value that matches nothing.
func octets(_ hex: String) -> [UInt8] { hex.isEmpty ? [] : Hex.decode(hex) ?? [0xEE, 0xEE, 0xEE] }

func uuid(_ text: String) -> BluetoothLE.UUID { BluetoothLE.UUID(text) ?? BluetoothLE.UUID(0xDEAD) }

/// A database description in the vector files.
struct DescribedDatabase: Decodable {
  struct Service: Decodable {
    let start: String
    let end: String
  }
  struct Attribute: Decodable {
    let handle: String
    let type: String
    let value: String
    let perm: String
    let chrc_props: Int?
  }
  let services: [Service]
  let attributes: [Attribute]

  /// - Parameter hasConfigurations: Whether 2902 descriptors act as such, or are plain values as in the cases' own server.
  func database(hasConfigurations: Bool) throws -> AttributeDatabase {
    func number(_ text: String) -> AttributeHandle { AttributeHandle(rawValue: UInt16(text.dropFirst(2), radix: 16) ?? 0) }
    var list: [AttributeDatabase.Attribute] = []
    var value: (handle: AttributeHandle, properties: Properties)?
    for entry in attributes {
      var permissions: AttributeDatabase.Permissions = []
      if entry.perm.contains("r") { permissions.insert(.read) }
      if entry.perm.contains("w") { permissions.formUnion([.write, .writeWithoutResponse]) }
      if entry.perm.contains("e") { permissions.formUnion([.readEncrypted, .writeEncrypted]) }
      var role = AttributeDatabase.Role.plain
      let handle = number(entry.handle)
      if entry.type == "2800" || entry.type == "2801" {
        guard let service = services.first(where: { $0.start == entry.handle }) else { throw Missing() }
        role = .service(endHandle: number(service.end))
      } else if entry.type == "2803" {
        value = (
          AttributeHandle(rawValue: UInt16(octets(entry.value)[1]) | UInt16(octets(entry.value)[2]) << 8),
          Properties(rawValue: octets(entry.value)[0])
        )
      } else if hasConfigurations, let value, handle == value.handle {
        role = .value(value.properties, configuration: handle.next)
      } else if hasConfigurations, entry.type == "2902", let value {
        let bits = (value.properties.contains(.notify) ? 1 : 0) as UInt16 | (value.properties.contains(.indicate) ? 2 : 0)
        role = .configuration(ofValue: value.handle, allowed: bits)
      }
      list.append(
        AttributeDatabase.Attribute(
          handle: handle, type: uuid(entry.type), permissions: permissions, value: octets(entry.value), role: role))
    }
    return try AttributeDatabase(attributes: list)
  }

  struct Missing: Error {}
}

/// One client talking to a server, without a bearer and its channel.
struct ServerTestPeer {
  var state: BearerState
  var session = ServerSession()
  var database: AttributeDatabase

  struct Outcome {
    var answers: [[UInt8]] = []
    var events: [ServerSession.Event] = []
  }

  init(_ database: AttributeDatabase, rxMTU: Int = 517) {
    state = BearerState(rxMTU: rxMTU)
    self.database = database
  }

  /// Returns the answer in hex, empty for none.
  mutating func ask(_ hex: String) -> String { ask(octets(hex)).answers.map { Hex.encode($0) }.joined(separator: " ") }

  mutating func ask(_ pdu: [UInt8]) -> Outcome {
    var outcome = Outcome()
    for action in state.receive(pdu) {
      switch action {
      case .answer(let bytes), .send(let bytes): outcome.answers.append(bytes)
      case .serve(let request):
        let (response, events) = session.answer(request, mtu: state.mtu, &database)
        outcome.answers.append(state.answer(response))
        outcome.events += events
      case .execute(let command): outcome.events += session.execute(command, &database)
      default: break
      }
    }
    return outcome
  }
}
