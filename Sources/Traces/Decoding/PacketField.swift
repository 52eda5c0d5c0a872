package import BluetoothLE

/// The name and the ordered fields of an HCI packet, Link Layer packet, L2CAP frame or ATT PDU.
package struct DecodedPacket: Sendable, Equatable {
  /// The name of the packet in the specification, such as `LE Set Scan Enable`.
  package var name: String
  package var fields: [PacketField] = []
  /// The first violation of the packet's format. `fields` has the fields before the violation. Nil for a valid packet.
  package var problem: MalformedPacket?
  /// The number of bytes at the end of the packet that the recorder cut. `fields` has the fields before the cut.
  package var missing = 0

  package init(_ name: String, _ fields: [PacketField] = [], problem: MalformedPacket? = nil, missing: Int = 0) {
    (self.name, self.fields, self.problem, self.missing) = (name, fields, problem, missing)
  }

  /// The problem of the packet, or else the first problem of a packet in its fields. Nil if all these packets are valid.
  package var anyProblem: MalformedPacket? {
    problem
      ?? fields.lazy.compactMap { field -> MalformedPacket? in
        if case .packet(let packet, _, _) = field.value { packet.anyProblem } else { nil }
      }.first
  }

  /// Marks a packet whose end the recorder cut. The bytes then replace its fields but for the handle of an attribute, because a cut value
  /// looks like a shorter one.
  mutating func cut(_ missing: Int, _ bytes: [UInt8]) {
    guard missing > 0 else { return }
    (problem, self.missing) = (nil, missing)
    let isWhole = { (field: PacketField) in if case .attribute = field.value { true } else { field.name == "channel" } }
    fields = Array(fields.prefix(while: isWhole)) + (bytes.isEmpty ? [] : [PacketField("octets", .bytes(bytes))])
  }

  package subscript(name: String) -> PacketField.Value? { fields.first { $0.name == name }?.value }
}

/// The protocol layer whose packet format a decoder used.
package enum PacketLayer: String, Sendable { case hci, ll, att, signalling, smp, l2cap }

package struct PacketField: Sendable, Equatable {
  /// The name of the field in the specification, in snake case, such as `scan_interval`.
  package var name: String
  package var value: Value

  package init(_ name: String, _ value: Value) { (self.name, self.value) = (name, value) }

  package enum Value: Sendable, Equatable {
    case number(Int64)
    /// A number with the name of its meaning. The name is nil if the number is unknown.
    case code(Int64, String?)
    /// A controller error code in a status or reason parameter.
    case status(ControllerErrorCode)
    case attError(ErrorCode)
    /// Bits or a handle, which blectl prints in hex.
    /// - Parameter bytes: The size in bytes.
    case mask(UInt64, bytes: Int)
    /// A quantity: the number times `factor` in this unit.
    case quantity(Int64, factor: Double, unit: String)
    case choice(UInt8, String?)
    /// A number whose meaning has a name in snake case. The name is nil if the number is unknown.
    case named(UInt8, String?)
    /// Bits, and the names of the set ones in snake case.
    case bits(UInt16, [String])
    case flag(Bool)
    case address(Address)
    case uuid(UUID)
    case text([UInt8])
    case bytes([UInt8])
    /// The bytes of AD structures.
    case advertising([UInt8])
    /// A part of advertising data longer than its packet.
    /// - Parameter of: The data that ends with this part. Nil if another part follows, or if the first part is unknown.
    case part([UInt8], of: JoinedAdvertisingData?)
    /// The handle of an attribute. `LearnedDatabases` may know the name of the attribute.
    case attribute(AttributeHandle)
    /// The value of an attribute, whose handle is nil if unknown.
    /// - Parameter isWhole: Whether the value is complete.
    case value([UInt8], of: AttributeHandle?, isWhole: Bool)
    case list([[PacketField]])
    /// A packet that the field contains, with its protocol layer and its bytes.
    case packet(DecodedPacket, PacketLayer, [UInt8])

    package var number: Int64? {
      switch self {
      case .number(let number), .code(let number, _), .quantity(let number, _, _): number
      case .status(let code): Int64(code.rawValue)
      case .attError(let code): Int64(code.rawValue)
      case .mask(let bits, _): Int64(exactly: bits)
      case .choice(let number, _), .named(let number, _): Int64(number)
      case .bits(let bits, _): Int64(bits)
      case .flag(let flag): flag ? 1 : 0
      case .attribute(let handle): Int64(handle.rawValue)
      case .address, .uuid, .text, .bytes, .advertising, .part, .value, .list, .packet: nil
      }
    }
  }
}

/// Advertising data that its controller or host sent in several parts, or without its end.
package struct JoinedAdvertisingData: Sendable, Equatable {
  package var data: [UInt8]
  /// Whether the end of the data is missing.
  package var isTruncated: Bool
  /// The number of the packet with the first part, counted from 1. Nil if the data has one part.
  package var firstPacket: Int?
}
