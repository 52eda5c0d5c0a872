package import ATT
package import Bluetooth

/// The name and the ordered fields of an HCI packet, Link Layer packet, L2CAP frame or ATT PDU.
package struct DecodedPacket: Sendable, Equatable {
  /// The name in the specification: `LE Set Scan Enable`.
  package var name: String
  package var fields: [PacketField] = []
  /// The place where the packet does not follow its format. `fields` has the fields before it.
  package var problem: MalformedPacket?

  package init(_ name: String, _ fields: [PacketField] = [], problem: MalformedPacket? = nil) {
    self.name = name
    self.fields = fields
    self.problem = problem
  }

  /// The problem of the packet, or of a packet in its fields.
  package var anyProblem: MalformedPacket? {
    problem
      ?? fields.lazy.compactMap { field -> MalformedPacket? in
        if case .packet(let packet, _, _) = field.value { packet.anyProblem } else { nil }
      }.first
  }

  package subscript(name: String) -> PacketField.Value? { fields.first { $0.name == name }?.value }
}

/// The protocol layer of a packet.
package enum PacketLayer: String, Sendable { case hci, ll, att, signalling, smp, l2cap }

package struct PacketField: Sendable, Equatable {
  /// The name in the specification, in snake case: `scan_interval`.
  package var name: String
  package var value: Value

  package init(_ name: String, _ value: Value) {
    self.name = name
    self.value = value
  }

  package enum Value: Sendable, Equatable {
    case number(Int64)
    /// A number with a meaning, and the name of the meaning.
    case code(Int64, String?)
    /// A status or a reason.
    case status(ControllerErrorCode)
    case attError(ErrorCode)
    /// Bits or a handle, displayed in hex.
    /// - Parameter octets: The size in bytes.
    case mask(UInt64, octets: Int)
    /// A quantity: the number times `factor` in this unit.
    case quantity(Int64, factor: Double, unit: String)
    case choice(UInt8, String?)
    case flag(Bool)
    case address(Address)
    case uuid(UUID)
    case text([UInt8])
    case octets([UInt8])
    /// The bytes of AD structures.
    case advertising([UInt8])
    /// An attribute. The database may know its name.
    case attribute(AttributeHandle)
    /// The value of an attribute.
    /// - Parameter isWhole: Whether the value is complete.
    case value([UInt8], of: AttributeHandle?, isWhole: Bool)
    case list([[PacketField]])
    /// A packet inside this one, its layer and its bytes.
    case packet(DecodedPacket, PacketLayer, [UInt8])

    package var number: Int64? {
      switch self {
      case .number(let number), .code(let number, _), .quantity(let number, _, _): number
      case .status(let code): Int64(code.rawValue)
      case .attError(let code): Int64(code.rawValue)
      case .mask(let bits, _): Int64(exactly: bits)
      case .choice(let number, _): Int64(number)
      case .flag(let flag): flag ? 1 : 0
      case .attribute(let handle): Int64(handle.rawValue)
      case .address, .uuid, .text, .octets, .advertising, .value, .list, .packet: nil
      }
    }
  }
}
