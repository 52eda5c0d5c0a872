// SPDX-License-Identifier: Apache-2.0
/// A service of a connected device.
public struct RemoteService: Sendable, CustomStringConvertible {
  /// The UUID as lowercase text: four, eight or 36 characters.
  public let uuid: String
  /// The assigned name. Nil for a service without one.
  public let name: String?
  /// Whether the service is primary, not only included by others.
  public let isPrimary: Bool
  /// The characteristics in the order of their handles.
  public let characteristics: [RemoteCharacteristic]

  init(_ service: Service, in table: AttributeTable, of device: ConnectedDevice) {
    (uuid, name, isPrimary) = (service.uuid.description, AssignedNumbers.name(of: service.uuid), service.isPrimary)
    characteristics = service.characteristics.compactMap { item in
      // By its place: a handle may be another attribute after an update of the firmware.
      let attribute = Attribute.characteristic(item, service)
      guard let selector = try? Selector(table.selector(of: attribute)) else { return nil }
      return RemoteCharacteristic(attribute, selector, of: device)
    }
  }

  /// The UUID and the name.
  public var description: String { uuid + (name.map { " \($0)" } ?? "") }
}
