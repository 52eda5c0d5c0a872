// SPDX-License-Identifier: Apache-2.0
/// The identity of a characteristic without its handle, which may change with the database.
struct CharacteristicPlace: Hashable {
  let service: UUID
  let characteristic: UUID
  /// The zero-based index among all characteristics of the table with the same `service` and `characteristic`.
  let index: Int
}

extension AttributeTable {
  private func all(_ service: UUID, _ characteristic: UUID) -> [Characteristic] {
    services.filter { $0.uuid == service }.flatMap(\.characteristics).filter { $0.uuid == characteristic }
  }

  /// Returns the identity of a characteristic, which survives new handles. Returns nil if the table lacks the characteristic.
  func place(of item: Characteristic) -> CharacteristicPlace? {
    guard let (found, service) = characteristic(owning: item.valueHandle), found.uuid == item.uuid,
      let index = all(service.uuid, found.uuid).firstIndex(where: { $0.valueHandle == item.valueHandle })
    else { return nil }
    return CharacteristicPlace(service: service.uuid, characteristic: found.uuid, index: index)
  }

  /// Returns the characteristic with an identity. Returns nil if the table lacks the characteristic.
  func characteristic(at place: CharacteristicPlace) -> Characteristic? {
    let all = all(place.service, place.characteristic)
    return all.indices.contains(place.index) ? all[place.index] : nil
  }
}
