import Bluetooth

/// Table-driven decoding for the packets of all layers.
extension DecodedPacket {
  /// Decodes the rest of the packet, but nothing after a problem.
  /// - Parameter name: The name of the field for the bytes if the format is unknown.
  mutating func read(_ format: PacketFormat?, _ reader: inout ByteReader, else name: String) {
    guard problem == nil else { return }
    guard let format else { return rest(&reader, name) }
    problem = format.read(&reader, self.name, into: &fields)
    if problem == nil, !reader.isAtEnd {
      problem = MalformedPacket("\(self.name): \(reader.remaining) trailing byte(s)", at: reader.offset)
    }
  }

  mutating func rest(_ reader: inout ByteReader, _ name: String) {
    if !reader.isAtEnd { fields.append(PacketField(name, .octets(reader.rest()))) }
  }

  /// Reports that the packet is not as long as it says.
  /// - Parameter there: The number of bytes that follow. Nil: those not read yet.
  mutating func fail(length: Int, there: Int? = nil, _ reader: inout ByteReader) {
    problem = MalformedPacket("\(name): length \(length), but \(there ?? reader.remaining) byte(s) follow", at: reader.offset)
    rest(&reader, "octets")
  }
}
