package import ATT
package import Bluetooth

/// What a packet is and what its fields say, in their order: HCI commands and events, ACL data, frames of L2CAP's channels and ATT PDUs alike.
package struct DecodedPacket: Sendable, Equatable {
  /// The specification's: `LE Set Scan Enable`.
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

/// What a packet is one of.
package enum PacketLayer: String, Sendable { case hci, ll, att, signalling, smp, l2cap }

package struct PacketField: Sendable, Equatable {
  /// The specification's, in snake case: `scan_interval`.
  package var name: String
  package var value: Value

  package init(_ name: String, _ value: Value) {
    self.name = name
    self.value = value
  }

  package enum Value: Sendable, Equatable {
    case number(Int64)
    /// A number that stands for something, with its name.
    case code(Int64, String?)
    /// A status, or a reason.
    case status(ControllerErrorCode)
    case attError(ErrorCode)
    /// Bits, and handles: in hex for the eye. - Parameter octets: how many they take.
    case mask(UInt64, octets: Int)
    /// In units: so many times `factor`.
    case quantity(Int64, factor: Double, unit: String)
    case choice(UInt8, String?)
    case flag(Bool)
    case address(Address)
    case uuid(UUID)
    case text([UInt8])
    case octets([UInt8])
    /// AD structures.
    case advertising([UInt8])
    /// An attribute, which the database names where it is known.
    case attribute(AttributeHandle)
    /// The value of an attribute. - Parameter isWhole: not a part of it only.
    case value([UInt8], of: AttributeHandle?, isWhole: Bool)
    case list([[PacketField]])
    /// What it carries: that layer's octets.
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
