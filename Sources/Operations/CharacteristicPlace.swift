import Bluetooth
import GATT

/// Which characteristic of a peer it is, without handles: those may change with the database.
struct CharacteristicPlace: Hashable {
  let service: UUID
  let characteristic: UUID
  /// Among all in services of this type with this type, from 0.
  let index: Int
}

extension AttributeTable {
  private func all(_ service: UUID, _ characteristic: UUID) -> [Characteristic] {
    services.filter { $0.uuid == service }.flatMap(\.characteristics).filter { $0.uuid == characteristic }
  }

  /// Nil when it is not of this table.
  func place(of item: Characteristic) -> CharacteristicPlace? {
    guard let (found, service) = characteristic(owning: item.valueHandle), found.uuid == item.uuid,
      let index = all(service.uuid, found.uuid).firstIndex(where: { $0.valueHandle == item.valueHandle })
    else { return nil }
    return CharacteristicPlace(service: service.uuid, characteristic: found.uuid, index: index)
  }

  /// Nil when there is none any more.
  func characteristic(at place: CharacteristicPlace) -> Characteristic? {
    let all = all(place.service, place.characteristic)
    return all.indices.contains(place.index) ? all[place.index] : nil
  }
}
