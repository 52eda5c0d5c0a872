// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE
package import BluetoothLEDeviceFiles

/// A packet of a device file with values that the device computes when it sends the packet.
package struct FrameTemplate: Sendable, Equatable {
  package var frame: Frame
  /// The values of all fields of the frame.
  package var fields: [Member]
  /// The request that the packet answers. Nil for events.
  package var request: Frame?

  package struct Member: Sendable, Equatable {
    package let name: String
    package let value: Value
  }

  package indirect enum Value: Sendable, Equatable {
    case literal(DeviceValue)
    /// A computed number for a field. If the number is too large, the field stores only its lowest bits.
    case number(NumberExpression, Frame.Field)
    case bytes(Template, isText: Bool)
    case list([Value])
    case object([Member])
    /// The value of the request's field with this name.
    case parameter(String)
  }
}

extension PeripheralState {
  /// Encodes the packet of a template. Returns no bytes if a value does not fit its field.
  mutating func bytes(_ template: FrameTemplate, _ written: [UInt8], _ database: AttributeDatabase) -> [UInt8] {
    guard spend(written.count) else { return [] }
    let request = template.request.flatMap { try? $0.decode(written) } ?? []
    var values: [NamedValue] = []
    for field in template.fields {
      guard let value = value(field.value, request, written, database) else { return [] }
      values.append(NamedValue(field.name, value))
    }
    return (try? template.frame.encode(values)) ?? []
  }

  private mutating func value(
    _ value: FrameTemplate.Value, _ request: [NamedValue], _ written: [UInt8], _ database: AttributeDatabase
  ) -> DeviceValue? {
    guard spend(1) else { return nil }
    switch value {
    case .literal(let literal): return literal
    case .number(let expression, let field): return field.value(of: number(expression, written, database))
    case .bytes(let template, let isText):
      let bytes = self.value(template, written: written, database)
      return isText ? String(validating: bytes, as: UTF8.self).map { .text($0) } : .bytes(bytes)
    case .parameter(let name): return request[name]
    case .list(let items):
      var list: [DeviceValue] = []
      for item in items {
        guard let made = self.value(item, request, written, database) else { return nil }
        list.append(made)
      }
      return .list(list)
    case .object(let members):
      var object: [NamedValue] = []
      for member in members {
        guard let made = self.value(member.value, request, written, database) else { return nil }
        object.append(NamedValue(member.name, made))
      }
      return .object(object)
    }
  }
}
