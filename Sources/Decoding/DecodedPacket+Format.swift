import Bluetooth

/// What packets of all layers have in common when they are read by a table.
extension DecodedPacket {
  /// The rest of the packet. Nothing is read behind a problem.
  /// - Parameter name: of the field that has the octets where the format is not known.
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

  /// Reports that the packet is not as long as it says. - Parameter there: how many bytes follow. Nil: those that were not read.
  mutating func fail(length: Int, there: Int? = nil, _ reader: inout ByteReader) {
    problem = MalformedPacket("\(name): length \(length), but \(there ?? reader.remaining) byte(s) follow", at: reader.offset)
    rest(&reader, "octets")
  }
}
