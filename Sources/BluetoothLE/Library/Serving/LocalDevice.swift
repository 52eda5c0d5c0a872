// SPDX-License-Identifier: Apache-2.0
/// A device that an adapter serves to centrals: its name, its services, and what it advertises. ``Adapter/serve(_:_:)`` runs it.
///
/// ```swift
/// let level = LocalDevice.Characteristic(.batteryLevel, [.read, .notify], value: [60])
/// let device = LocalDevice(name: "Battery", services: [.init("180f", [level])])
/// try await adapter.serve(device) { server in
///   for try await event in server.events { print(event) }
/// }
/// ```
public struct LocalDevice: Sendable {
  /// The name that centrals read (2a00), at most 248 bytes in UTF-8. The name that they hear is ``Advertisement/name``.
  public var name: String
  /// The category and subcategory of the device (Assigned Numbers §2.6), such as 0x0341 for a heart rate belt. 0 means unknown.
  public var appearance: UInt16 = 0
  /// The services in the order of their handles. The services 1800 (Generic Access) and 1801 (Generic Attribute) precede them, unless
  /// they are among these.
  public var services: [Service]
  /// The advertisement of the device. With nil it does not advertise, so no central connects.
  public var advertisement: Advertisement?
  /// The answers to the questions of a pairing that a central starts. Nil refuses pairings, but not the keys of bonds in the adapter's
  /// ``KeyRing``. The kernel's Bluetooth stack pairs by itself, without a question.
  public var pairing: (any PairingDelegate)?

  /// Creates a device that advertises its name, and does not pair.
  public init(name: String, services: [Service] = []) {
    (self.name, self.services) = (name, services)
    advertisement = Advertisement(name: name)
  }

  /// A service of a device (Vol 3 Part G §3.1).
  public struct Service: Sendable {
    /// The UUID: 4, 8 or 32 hex digits, with or without hyphens, or the assigned name.
    public var uuid: String
    /// The characteristics in the order of their handles.
    public var characteristics: [Characteristic]
    /// Whether the service is primary, not only included by others.
    public var isPrimary = true

    /// Creates a primary service.
    public init(_ uuid: String, _ characteristics: [Characteristic]) { (self.uuid, self.characteristics) = (uuid, characteristics) }
  }

  /// A characteristic of a device, with its first value. A copy is the same characteristic, whatever changes in it: events have it, and the
  /// methods of ``Server`` find the present value by it.
  public struct Characteristic: Sendable, Hashable, CustomStringConvertible {
    /// The type: a UUID or an assigned name.
    public let type: AttributeName
    /// The operations that centrals may do.
    public var properties: RemoteCharacteristic.Properties
    /// The value with which the device starts, at most ``maximumLength`` bytes.
    public var value: [UInt8]
    /// The longest value that a central may write, at most 512 bytes (Vol 3 Part F §3.2.9).
    public var maximumLength = 512
    /// The least level of a link that reads, writes or subscribes: at most ``SecurityLevel/authenticated``.
    public var security = SecurityLevel.unencrypted
    /// The descriptors, which centrals may only read, such as the user description (2901). The library adds the one for subscriptions (2902).
    public var descriptors: [(type: AttributeName, value: [UInt8])] = []
    /// The code that answers reads in place of a stored value. It may take its time, and may call the library. The central waits 30 s.
    /// ``BluetoothError/refusal(_:)`` refuses the read with an ATT error code, and any other error with Unlikely Error (0x0E).
    public var onRead: (@Sendable (_ central: Peripheral) async throws -> [UInt8])?
    /// The code that permits writes, before the device stores the value and answers. It may take its time, and may call the library.
    /// An error refuses the write, as in ``onRead``. Nobody answers a Write Command: a refused one has no effect.
    public var onWrite: (@Sendable (_ value: [UInt8], _ central: Peripheral) async throws -> Void)?
    private let identity = Identity()

    private final class Identity: Sendable {}

    /// Creates a characteristic.
    public init(_ type: AttributeName, _ properties: RemoteCharacteristic.Properties, value: [UInt8] = []) {
      (self.type, self.properties, self.value) = (type, properties, value)
    }

    /// The type, as it was given.
    public var description: String { type.description }

    public static func == (one: Self, other: Self) -> Bool { one.identity === other.identity }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(identity)) }
  }

  /// The content of an advertisement (CSS Part A §1). What does not fit in 31 bytes is in the scan response, where active scans find it.
  public struct Advertisement: Sendable {
    /// The complete local name. Nil for none.
    public var name: String?
    /// The UUIDs of offered services, as text.
    public var services: [String] = []
    /// The manufacturer data: company identifiers (Assigned Numbers §7.1) and the bytes after them.
    public var manufacturerData: [(company: UInt16, bytes: [UInt8])] = []
    /// The whole advertising data, in place of the properties above. Nil lays those out.
    public var bytes: [UInt8]?
    /// The whole scan response, at most 31 bytes. Nil if the layout may use it.
    public var scanResponse: [UInt8]?
    /// Whether centrals may connect.
    public var isConnectable = true
    /// Whether the device uses extended advertising, which holds up to 1,650 bytes where the controller can, and no scan response.
    public var isExtended = false
    /// The time between two advertisements, 20 ms…10.24 s.
    public var interval = Duration.milliseconds(100)

    /// Creates an advertisement.
    public init(name: String? = nil) { self.name = name }

    /// - Throws: AdvertisedContentError; BluetoothError for a wrong UUID.
    var advertising: Advertising {
      get throws {
        var content = AdvertisedContent()
        content.name = name
        content.services = try services.map { try LocalDatabase.uuid($0) }
        content.manufacturerData = manufacturerData.map { .init(company: $0.company, data: $0.bytes) }
        (content.raw, content.scanResponse) = (bytes, scanResponse)
        (content.isConnectable, content.isExtended) = (isConnectable, isExtended)
        var advertising = try content.advertising()
        advertising.interval = interval
        return advertising
      }
    }
  }
}

extension AdvertisedContentError: DescribedError {
  package var kind: BluetoothError.Reason { .invalidArgument }
  package var sentence: String { description }
}
