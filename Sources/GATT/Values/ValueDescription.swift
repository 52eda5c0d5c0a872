package import ATT
package import Bluetooth
import Text

/// What the descriptors of a characteristic say about its value.
package struct ValueDescription: Hashable, Sendable {
  /// The name that the firmware gives it: Characteristic User Description (Vol 3 Part G §3.3.3.2).
  package var userDescription: String?
  /// The formats of the parts of the value: one (§3.3.3.5), or those that an aggregate format puts in order (§3.3.3.6).
  package var formats: [PresentationFormat]

  package init(userDescription: String? = nil, formats: [PresentationFormat] = []) {
    self.userDescription = userDescription
    self.formats = formats
  }

  /// - Parameter value: of a descriptor, nil where it is not known. An aggregate format may name descriptors of other characteristics.
  package init(of characteristic: Characteristic, _ value: (AttributeHandle) -> [UInt8]?) {
    func values(_ type: UUID) -> [[UInt8]] { characteristic.descriptors.filter { $0.uuid == type }.compactMap { value($0.handle) } }
    userDescription = values(.userDescription).lazy.compactMap { String(validating: DisplayText.withoutTrailingNULs($0), as: UTF8.self) }
      .first { !$0.isEmpty }
    if let aggregate = values(.aggregateFormat).first {
      let handles = PresentationFormat.handles(inAggregate: aggregate)
      formats = handles.compactMap(value).compactMap { PresentationFormat($0) }
      if formats.count != handles.count { formats = [] }
    } else {
      formats = values(.presentationFormat).compactMap { PresentationFormat($0) }
      if formats.count != 1 { formats = [] }
    }
  }
}

extension UUID {
  static let userDescription = UUID(0x2901)
  static let presentationFormat = UUID(0x2904)
  static let aggregateFormat = UUID(0x2905)

  /// The type of a descriptor that says something about a value.
  package var describesValue: Bool { self == .userDescription || self == .presentationFormat || self == .aggregateFormat }
}
