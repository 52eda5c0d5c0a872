package import ATT

/// The server's side of one bearer, without I/O: computes responses and changes from requests and commands (Vol 3 Part F §3.4).
/// Holds the state of one client: client configurations, prepared writes.
package struct ServerSession: Sendable {
  /// The security of the link, set by the owner of the link.
  package var security = Security.none

  var configurations: [AttributeHandle: UInt16] = [:]
  var prepared: [PreparedWrite] = []

  /// The maximum number of open prepared writes per client. Another one gets Prepare Queue Full (0x09).
  package static let maximumPreparedWrites = 128

  package enum Security: Sendable, Comparable { case none, encrypted, authenticated }

  package enum WriteKind: Sendable, Equatable {
    case request
    case command
    /// Prepared and executed parts.
    case long
  }

  package enum Event: Sendable, Equatable {
    /// A value was written. The database already has it.
    case wrote(AttributeHandle, value: [UInt8], WriteKind)
    /// A client configuration changed: bit 0 notifications, bit 1 indications.
    case configured(valueHandle: AttributeHandle, bits: UInt16)
  }

  struct PreparedWrite: Sendable {
    let handle: AttributeHandle
    let offset: Int
    let value: [UInt8]
  }

  /// The content of an Error Response.
  struct Refusal: Error {
    let code: ErrorCode
    var handle: AttributeHandle = 0
  }

  package init() {}

  /// The bits that this client configured: bit 0 notifications, bit 1 indications.
  package func configuration(ofValue handle: AttributeHandle) -> UInt16 { configurations[handle] ?? 0 }

  /// Executes a command. Ignores signed writes, because there is no key to verify them. Refuses silently: commands have no answer.
  package mutating func execute(_ command: Command, _ database: inout AttributeDatabase) -> [Event] {
    guard case .write(let handle, let value) = command else { return [] }
    return (try? write(value, to: handle, .writeWithoutResponse, &database)).map { [$0] } ?? []
  }

  /// Computes the response to a request. - Parameter mtu: ATT_MTU, 23…517, which limits lists. Values stay whole: the bearer cuts the PDU.
  /// - Returns: the response, to be sent before handling the events.
  package mutating func answer(_ request: Request, mtu: Int, _ database: inout AttributeDatabase) -> (response: Response, events: [Event]) {
    var events: [Event] = []
    do throws(Refusal) {
      return (try answer(request, mtu, &events, &database), events)
    } catch {
      return (.error(request: request.opcode, handle: error.handle, code: error.code), [])
    }
  }

  private mutating func answer(
    _ request: Request, _ mtu: Int, _ events: inout [Event], _ database: inout AttributeDatabase
  ) throws(Refusal) -> Response {
    switch request {
    case .exchangeMTU: throw Refusal(code: .requestNotSupported)
    case .findInformation(let range): return try findInformation(range, mtu, database)
    case .findByTypeValue(let range, let type, let value): return try findByTypeValue(range, type, value, mtu, database)
    case .readByType(let range, let type): return try readByType(range, type, mtu, database)
    case .read(let handle): return .read(try read(handle, database))
    case .readBlob(let handle, let offset):
      let value = try read(handle, database)
      guard Int(offset) <= value.count else { throw Refusal(code: .invalidOffset, handle: handle) }
      return .readBlob(Array(value.dropFirst(Int(offset))))
    case .readMultiple(let handles):
      var values: [UInt8] = []
      for handle in handles { values += try read(handle, database) }
      return .readMultiple(values)
    case .readMultipleVariable(let handles):
      var values: [[UInt8]] = []
      for handle in handles { values.append(try read(handle, database)) }
      return .readMultipleVariable(values, truncated: nil)
    case .readByGroupType(let range, let type): return try readByGroupType(range, type, mtu, database)
    case .write(let handle, let value):
      events.append(try write(value, to: handle, .write, &database))
      return .write
    case .prepareWrite(let handle, let offset, let value):
      _ = try writable(handle, .write, database)
      guard prepared.count < Self.maximumPreparedWrites else { throw Refusal(code: .prepareQueueFull, handle: handle) }
      prepared.append(PreparedWrite(handle: handle, offset: Int(offset), value: value))
      return .prepareWrite(handle, offset: offset, value: value)
    case .executeWrite(let flags):
      guard flags <= 1 else { throw Refusal(code: .invalidPDU) }
      let writes = prepared
      prepared = []
      if flags == 1 { events += try execute(writes, &database) }
      return .executeWrite
    }
  }
}
