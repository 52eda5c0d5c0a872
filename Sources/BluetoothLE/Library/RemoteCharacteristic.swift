// SPDX-License-Identifier: Apache-2.0
/// A characteristic of a connected device, or one of its descriptors.
///
/// ``ConnectedDevice/characteristic(_:)`` and ``ConnectedDevice/services()`` return them. They are valid during the body of
/// ``Adapter/withConnection(to:_:_:)``. After it, their methods throw ``BluetoothError/Reason/disconnected``.
public struct RemoteCharacteristic: Sendable, CustomStringConvertible {
  /// The operations that a characteristic permits (Vol 3 Part G §3.3.1.1).
  public struct Properties: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Requests read the value.
    public static let read = Properties(rawValue: 0x02)
    /// Write Commands, which the device does not answer, write the value.
    public static let writeWithoutResponse = Properties(rawValue: 0x04)
    /// Write Requests write the value.
    public static let write = Properties(rawValue: 0x08)
    /// The device sends values that the host does not confirm.
    public static let notify = Properties(rawValue: 0x10)
    /// The device sends values that the host confirms.
    public static let indicate = Properties(rawValue: 0x20)
  }

  /// The procedure for writing a value.
  public enum Procedure: Sendable, Hashable {
    /// The procedure by properties and length: a request, a long write, or a command if the characteristic permits only commands.
    case auto
    /// A Write Request, which the device answers (Vol 3 Part G §4.9.3).
    case request
    /// A Write Command, which the device does not answer (Vol 3 Part G §4.9.1).
    case command
    /// Prepare Write Requests, for values of up to 512 bytes (Vol 3 Part G §4.9.4).
    case long
    /// Prepare Write Requests whose answers must repeat the value (Vol 3 Part G §4.9.5).
    case reliable

    var mode: WriteMode {
      switch self {
      case .auto: .auto
      case .request: .request
      case .command: .command
      case .long: .long
      case .reliable: .reliable
      }
    }
  }

  /// The UUID as lowercase text: four, eight or 36 characters. Nil if the characteristic was named by a handle that discovery did not find.
  public let uuid: String?
  /// The name that the Bluetooth SIG assigned, such as `Battery Level`. Nil without one.
  public let name: String?
  /// The operations that the characteristic permits. Nil for a descriptor.
  public let properties: Properties?
  /// The handle of the value on this link, 1…65535.
  public let handle: Int
  let device: ConnectedDevice
  let selector: Selector
  /// The text that finds it on this link, also at another handle.
  package var place: String { "\(selector)" }

  init(_ attribute: Attribute, _ selector: Selector, of device: ConnectedDevice) {
    (self.selector, self.device) = (selector, device)
    (uuid, handle) = (attribute.uuid?.description, attribute.handle.number)
    name = attribute.uuid.flatMap { AssignedNumbers.name(of: $0) }
    properties = attribute.properties.map { Properties(rawValue: $0.rawValue) }
  }

  /// The UUID and the name, or the handle.
  public var description: String { (uuid ?? "handle \(handle)") + (name.map { " \($0)" } ?? "") }

  // MARK: Values

  /// Reads the value, up to 512 bytes, with as many requests as its length needs (Vol 3 Part G §4.8.1, §4.8.3).
  /// - Throws: ``BluetoothError/Reason/refused(_:)``, ``BluetoothError/Reason/security``, and the reasons of a lost link;
  ///   CancellationError.
  public func read() async throws -> AttributeValue {
    try await device.call { [selector] in
      let client = $0.client
      return try await client.followingChanges(of: [selector]) {
        let attribute = try await client.attribute(selector, discovering: true)
        let bytes = try await client.read(attribute.handle, as: attribute.uuid)
        let time = EventLoop.shared.wallClock
        if let item = attribute.characteristic { try await client.readDescription(of: item) }
        return AttributeValue(bytes, at: time, attribute.uuid, attribute.characteristic.flatMap { client.description(of: $0) })
      }
    }
  }

  /// Writes a whole value, and returns when it has arrived.
  /// - Parameters:
  ///   - bytes: The value, at most 512 bytes. A value that does not fit is an error: nothing is cut.
  ///   - procedure: The procedure. `auto` chooses by the properties and the length.
  /// - Throws: ``BluetoothError/Reason/refused(_:)``, ``BluetoothError/Reason/security``, ``BluetoothError/Reason/invalidArgument`` for a
  ///   value that does not fit, and the reasons of a lost link; CancellationError.
  public func write(_ bytes: [UInt8], by procedure: Procedure = .auto) async throws {
    try await device.call { [selector] in
      let client = $0.client
      try await client.followingChanges(of: [selector]) {
        let attribute = try await client.attribute(selector, discovering: true)
        let plan = try WriteProcedure(value: bytes.count, properties: attribute.properties, mtu: client.mtu, mode: procedure.mode)
        // A device drops commands in silence.
        if plan.mode == .command { try await client.checkCommands(to: attribute) }
        var pacing = WritePacing()
        pacing.provesArrival = true
        try await client.send(bytes, to: attribute.handle, plan: plan, pacing: pacing)
      }
    }
  }

  /// Subscribes to the values that the device sends (Vol 3 Part G §4.10, §4.11), and returns when the device has confirmed it.
  ///
  /// Subscribe before a write whose answer is a notification. Each call makes a sequence of its own, and all of them get every value. The
  /// device stops when the last sequence ends: after its iteration, or when the program drops it.
  /// - Parameter indications: Whether to ask for indications if the characteristic has both.
  /// - Throws: ``BluetoothError/Reason/unsupported`` if the characteristic sends no values, and the reasons of a write; CancellationError.
  public func notifications(indications: Bool = false) async throws -> Notifications {
    try await device.call { [selector, device] connection in
      let client = connection.client
      return try await client.followingChanges(of: [selector]) {
        let item = try await client.characteristic(selector)
        try await client.readDescription(of: item)
        let values = SubscribedValues(lastingOn: connection)
        values.onRenewed = { [weak values] in values?.close(missing: $0) }
        do { try await values.add(item, kind: indications && item.properties.contains(.indicate) ? .indication : .auto) } catch {
          await values.end()
          throw error
        }
        return Notifications(values, connection, device)
      }
    }
  }

  /// The values that a device sends, in the order of arrival, from the subscription on.
  ///
  /// Iterate once: another iteration has no values. Up to 16,384 values wait while the caller works. The sequence has no end while the link
  /// lasts, and waits for the next value without a limit. With a ``ReconnectPolicy``, it continues on the restored link. Nothing follows an
  /// error.
  public struct Notifications: AsyncSequence, Sendable {
    private let queue: CallQueue<AttributeValue>

    init(_ values: SubscribedValues, _ connection: Connection, _ device: ConnectedDevice) {
      queue = CallQueue(of: device.adapter, device.endings, onEnd: { await values.end() }) {
        // The values that wait still arrive, and the loss is known after them.
        if values.dropped > 0, !values.isClosed { values.close(throwing: Overrun(count: values.dropped)) }
        guard let (event, uuid) = try await values.next(until: nil) else { return nil }
        let item = values.characteristics.first { $0.valueHandle == event.handle }
        return AttributeValue(
          event.value, at: event.wallClock, isIndication: event.isIndication, uuid, item.flatMap { connection.client.description(of: $0) })
      }
    }

    public func makeAsyncIterator() -> Iterator { Iterator(queue) }

    /// The one iteration of the values.
    public struct Iterator: AsyncIteratorProtocol {
      private let queue: CallQueue<AttributeValue>.Reader

      init(_ queue: CallQueue<AttributeValue>) { self.queue = CallQueue.Reader(queue) }

      /// Waits for the next value.
      /// - Throws: ``BluetoothError/Reason/disconnected`` after the last value of a lost link, ``BluetoothError/Reason/overrun`` after the
      ///   values that waited if others were lost because the caller was too slow, ``BluetoothError/Reason/notFound`` if the device has
      ///   the characteristic no more; CancellationError.
      public mutating func next() async throws -> AttributeValue? { try await queue.next() }
    }
  }
}
