package import Bluetooth
import Decoding
import GAP

extension DecodedPacket {
  /// The first error in the packet's advertising data.
  package var advertisingError: MalformedPacket? {
    Self.advertisingError(of: fields)
      ?? fields.lazy.compactMap { field -> MalformedPacket? in
        switch field.value {
        case .list(let items): items.lazy.compactMap { DecodedPacket("", $0).advertisingError }.first
        case .packet(let packet, _, _): packet.advertisingError
        default: nil
        }
      }.first
  }

  /// Returns the error in the advertising data of one report or command. Nil for fragments, which may start and end anywhere.
  static func advertisingError(of fields: [PacketField]) -> MalformedPacket? {
    for field in fields {
      switch (field.name, field.value) {
      // Data_Status and Operation (Vol 4 Part E §7.7.65.13, §7.8.54). An extended PDU from a sniffer may be part of a chain.
      case ("event_type", .mask(let bits, _)) where bits & 0x60 != 0: return nil
      case ("data_status", .number(1...)), ("operation", .choice(0...2, _)), ("mode", _): return nil
      case (_, .advertising(let data)): return Advertisement(data).error
      default: break
      }
    }
    return nil
  }
}
