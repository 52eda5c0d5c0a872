package import ATT
package import Bluetooth
import Text
package import Values

extension ValueDescription {
  /// Collects the descriptions in the descriptors of a characteristic.
  /// - Parameter value: returns a descriptor's value, nil if unknown. An aggregate format may list descriptors of other characteristics.
  package init(of characteristic: Characteristic, _ value: (AttributeHandle) -> [UInt8]?) {
    func values(_ type: UUID) -> [[UInt8]] { characteristic.descriptors.filter { $0.uuid == type }.compactMap { value($0.handle) } }
    self.init()
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

extension PresentationFormat {
  /// Returns the handles in a Characteristic Aggregate Format descriptor (Vol 3 Part G §3.3.3.6), in the order of the parts of the value.
  package static func handles(inAggregate value: [UInt8]) -> [AttributeHandle] {
    stride(from: 0, to: value.count - value.count % 2, by: 2).map {
      AttributeHandle(rawValue: UInt16(value[$0]) | UInt16(value[$0 + 1]) << 8)
    }
  }
}

extension UUID {
  static let userDescription = UUID(0x2901)
  static let presentationFormat = UUID(0x2904)
  static let aggregateFormat = UUID(0x2905)

  /// Whether this is the type of a descriptor that describes a value.
  package var describesValue: Bool { self == .userDescription || self == .presentationFormat || self == .aggregateFormat }
}
