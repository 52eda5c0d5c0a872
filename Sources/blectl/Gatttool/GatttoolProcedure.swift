import ATT
import Bluetooth
import EventLoop
import GATT

/// What gatttool asks of a peer.
enum GatttoolProcedure: Equatable, Sendable {
  case primaryServices
  case primaryService(UUID)
  case includedServices(HandleRange)
  case characteristics(HandleRange, UUID?)
  case attributes(HandleRange)
  case read(AttributeHandle)
  case readByType(UUID, HandleRange)
  /// By a long write when it does not fit one request.
  case write(AttributeHandle, [UInt8])
  /// Cut to what fits.
  case command(AttributeHandle, [UInt8])

  /// What a message about its failure begins with.
  var failure: String {
    switch self {
    case .primaryServices: "Discover all primary services failed"
    case .primaryService: "Discover primary services by UUID failed"
    case .includedServices: "Find included services failed"
    case .characteristics: "Discover all characteristics failed"
    case .attributes: "Discover descriptors failed"
    case .read: "Characteristic value/descriptor read failed"
    case .readByType: "Read characteristics by UUID failed"
    case .write, .command: "Characteristic Write Request failed"
    }
  }

  /// The lines of its result.
  /// - Throws: GATTError, ATTError, what the channel ended with; CancellationError.
  @LoopActor
  func run(_ client: Client, _ text: GatttoolText) async throws -> [String] {
    switch self {
    case .primaryServices: return try await client.primaryServices().map(text.service)
    case .primaryService(let uuid): return try await client.primaryServices(uuid).map(text.range)
    case .includedServices(let range):
      try check(range, asking: .include)
      return try await client.includedServices(range).map(text.include)
    case .characteristics(let range, let uuid):
      try check(range, asking: .characteristic)
      let found = try await client.characteristics(range).filter { uuid == nil || $0.uuid == uuid }
      return try some(found, .readByType(range, type: .characteristic)).map(text.characteristic)
    case .attributes(let range):
      try check(range, asking: nil)
      return try some(try await client.attributeTypes(range), .findInformation(range)).map(text.attribute)
    case .read(let handle): return [text.value(try await client.valueUpToError(handle))]
    case .readByType(let uuid, let range): return try await client.valuesOfOneAnswer(uuid, range).map(text.value)
    case .write(let handle, let value):
      let isLong = value.count > client.mtu - 3
      try await client.write(
        value, to: handle, plan: WritePlan(value: value.count, properties: nil, mtu: client.mtu, mode: isLong ? .long : .request))
      return ["Characteristic value was written successfully"]
    case .command(let handle, let value):
      try await client.writeCommand(value.prefix(client.mtu - 3), to: handle)
      return []
    }
  }

  /// A peer has to refuse this range; it is not bothered with it.
  private func check(_ range: HandleRange, asking type: UUID?) throws(GATTError) {
    guard !range.isValid else { return }
    throw .errorResponse(.invalidHandle, to: type.map { .readByType(range, type: $0) } ?? .findInformation(range), on: nil)
  }

  /// None at all is what the peer said with an error.
  private func some<T>(_ found: [T], _ request: Request) throws(GATTError) -> [T] {
    if found.isEmpty { throw .errorResponse(.attributeNotFound, to: request, on: nil) }
    return found
  }
}

extension UUID {
  fileprivate static let include = UUID(0x2802)
  fileprivate static let characteristic = UUID(0x2803)
}
