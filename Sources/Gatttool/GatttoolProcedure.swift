import BluetoothLE

/// A procedure that gatttool performs on a device.
enum GatttoolProcedure: Equatable, Sendable {
  case primaryServices
  case primaryService(UUID)
  case includedServices(HandleRange)
  case characteristics(HandleRange, UUID?)
  case attributes(HandleRange)
  case read(AttributeHandle)
  case readByType(UUID, HandleRange)
  /// A write of a value, which becomes a long write if the value does not fit into one request.
  case write(AttributeHandle, [UInt8])
  /// A Write Command with the bytes of the value that fit into one packet.
  case command(AttributeHandle, [UInt8])

  /// The start of the message that gatttool prints after a failure of the procedure.
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

  /// Runs the procedure on a device.
  /// - Parameter say: A function that receives each line of the result.
  /// - Returns: Whether the procedure had any results.
  /// - Throws: GATTError; ATTError; the reason why the bearer ended; CancellationError.
  @LoopActor
  @discardableResult
  func run(_ client: Client, _ text: GatttoolText, _ say: @LoopActor (String) async throws -> Void) async throws -> Bool {
    switch self {
    case .primaryServices: return try await !client.primaryServices { try await say(text.service($0)) }.isEmpty
    case .primaryService(let uuid): return try await !client.primaryServices(uuid) { try await say(text.range($0)) }.isEmpty
    case .includedServices(let range):
      try check(range, asking: .include)
      return try await !client.includedServices(range) { try await say(text.include($0)) }.isEmpty
    case .characteristics(let range, let uuid):
      try check(range, asking: .characteristic)
      let found = try await client.characteristics(range) { if uuid == nil || $0.uuid == uuid { try await say(text.characteristic($0)) } }
      return try some(found.filter { uuid == nil || $0.uuid == uuid }, .readByType(range, type: .characteristic))
    case .attributes(let range):
      try check(range, asking: nil)
      return try some(try await client.attributeTypes(range) { try await say(text.attribute($0)) }, .findInformation(range))
    case .read(let handle): try await say(text.value(try await client.valueUpToError(handle)))
    case .readByType(let uuid, let range): for item in try await client.valuesOfOneAnswer(uuid, range) { try await say(text.value(item)) }
    case .write(let handle, let value):
      let isLong = value.count > client.mtu - 3
      try await client.write(
        value, to: handle, plan: WriteProcedure(value: value.count, properties: nil, mtu: client.mtu, mode: isLong ? .long : .request))
      try await say("Characteristic value was written successfully")
    case .command(let handle, let value): try await client.writeCommand(value.prefix(client.mtu - 3), to: handle)
    }
    return true
  }

  /// Throws the error with which a device must answer an invalid range of handles. Sends no request.
  private func check(_ range: HandleRange, asking type: UUID?) throws(GATTError) {
    guard !range.isValid else { return }
    throw .errorResponse(.invalidHandle, to: type.map { .readByType(range, type: $0) } ?? .findInformation(range), on: nil)
  }

  /// Returns true. Throws Attribute Not Found if `found` is empty, because the device then answered with this error.
  private func some<T>(_ found: [T], _ request: Request) throws(GATTError) -> Bool {
    if found.isEmpty { throw .errorResponse(.attributeNotFound, to: request, on: nil) }
    return true
  }
}
