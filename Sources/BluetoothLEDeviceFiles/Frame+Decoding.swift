// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE

extension Frame {
  /// Decodes a packet and returns the values of its fields in packet order. Throws if the packet does not fit the frame.
  package func decode(_ packet: [UInt8]) throws(PacketFault) -> [NamedValue] {
    guard likeness(packet) != nil else { throw .foreign }
    let ranges = try layout(packet)
    for (piece, range) in zip(pieces, ranges) {
      guard case .bytes(let bytes) = piece, !packet[range].elementsEqual(bytes) else { continue }
      throw .bytes(offset: range.lowerBound, expected: bytes, found: Array(packet[range]))
    }
    for (piece, range) in zip(pieces, ranges) {
      guard case .checksum(let field) = piece else { continue }
      let expected = field.bytes(of: packet, at: range)
      guard packet[range].elementsEqual(expected) else { throw .checksum(expected: expected, found: Array(packet[range])) }
    }
    var values: [NamedValue] = []
    for (piece, range) in zip(pieces, ranges) { values += try Self.values(piece, packet[range]) }
    return values
  }

  /// Computes the byte range of each piece in a packet. Throws if the length of the packet is wrong.
  private func layout(_ packet: [UInt8]) throws(PacketFault) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    var sizes: [String: Int] = [:]
    var position = 0
    for (index, piece) in pieces.enumerated() {
      let behind = Self.fixedSize(pieces[(index + 1)...])
      let length = try length(piece, sizes, room: packet.count - position - behind, at: position, behind)
      guard length <= packet.count - position else { throw .cut(packet.count, needs: position + length + behind) }
      let range = position..<position + length
      if case .size(let field) = piece { try read(field, packet, range, &sizes) }
      ranges.append(range)
      position += length
    }
    guard position == packet.count else { throw .tooLong(packet.count, allowed: position) }
    return ranges
  }

  /// Returns the length of a piece in bytes.
  /// - Parameter room: The number of packet bytes left for the piece. Negative if the packet is too short.
  private func length(_ piece: Piece, _ sizes: [String: Int], room: Int, at position: Int, _ behind: Int) throws(PacketFault) -> Int {
    if let fixed = Self.fixedSize(piece) { return fixed }
    let (name, extent, stride) =
      switch piece {
      case .string(let field): (field.name, field.extent, 1)
      case .list(let field): (field.name, field.extent, field.stride)
      default: ("", Extent.fixed(0), 1)
      }
    // Sizes were checked when they were read.
    if case .sized = extent { return sizes[name] ?? 0 }
    guard room >= 0 else { throw .cut(room + position + behind, needs: position + behind) }
    guard room % stride == 0 else { throw .cut(room + position + behind, needs: position + behind + (room / stride + 1) * stride) }
    return room
  }

  private func read(_ field: SizeField, _ packet: [UInt8], _ range: Range<Int>, _ sizes: inout [String: Int]) throws(PacketFault) {
    let number = field.layout.integer(field.layout.bits(packet[range])) - Int128(field.add)
    guard (0...Int128(Frame.maximumCommand)).contains(number), let size = Int(exactly: number) else { throw .size(number) }
    switch field.target {
    case .field(let name): sizes[name] = field.countsItems ? size * stride(name) : try whole(size, name)
    case .all: try compare(packet.count, size)
    case .rest: try compare(packet.count, size + range.upperBound)
    }
  }

  private func compare(_ count: Int, _ says: Int) throws(PacketFault) {
    if count < says { throw .cut(count, needs: says) }
    if count > says { throw .tooLong(count, allowed: says) }
  }

  private func stride(_ name: String) -> Int {
    for case .list(let field) in pieces where field.name == name { return field.stride }
    return 1
  }

  /// Checks that `size` bytes are whole items of the list called `name`, and returns `size`.
  private func whole(_ size: Int, _ name: String) throws(PacketFault) -> Int {
    guard size % stride(name) == 0 else { throw .size(Int128(size)) }
    return size
  }

  // MARK: Values

  private static func values(_ piece: Piece, _ bytes: ArraySlice<UInt8>) throws(PacketFault) -> [NamedValue] {
    switch piece {
    case .bytes, .skip, .size, .checksum: return []
    case .number(let field): return [NamedValue(field.name, field.value(field.layout.bits(bytes)))]
    case .bits(let field):
      let bits = field.layout.bits(bytes)
      return field.bits.map { NamedValue($0.name, $0.value(bits)) }
    case .string(let field): return [NamedValue(field.name, try field.value(bytes))]
    case .list(let field):
      var items: [DeviceValue] = []
      let stride = field.stride
      for start in Swift.stride(from: bytes.startIndex, to: bytes.endIndex, by: stride) {
        items.append(try field.value(bytes[start..<min(start + stride, bytes.endIndex)]))
      }
      return [NamedValue(field.name, .list(items))]
    }
  }

  fileprivate static func group(_ pieces: [Piece], _ bytes: ArraySlice<UInt8>) throws(PacketFault) -> [NamedValue] {
    var values: [NamedValue] = []
    var position = bytes.startIndex
    for piece in pieces {
      let end = min(position + (fixedSize(piece) ?? 0), bytes.endIndex)
      values += try self.values(piece, bytes[position..<end])
      position = end
    }
    return values
  }
}

extension Frame.StringField {
  fileprivate func value(_ bytes: ArraySlice<UInt8>) throws(PacketFault) -> DeviceValue {
    guard isText else { return .bytes(Array(bytes)) }
    var bytes = bytes
    // Remove the padding of a text of fixed size.
    if case .fixed = extent { while bytes.last == 0 { bytes.removeLast() } }
    guard let text = String(validating: bytes, as: UTF8.self), choices.isEmpty || choices.contains(text) else {
      throw .text(field: name, Array(bytes))
    }
    return .text(text)
  }
}

extension Frame.ListField {
  fileprivate func value(_ bytes: ArraySlice<UInt8>) throws(PacketFault) -> DeviceValue {
    switch item {
    case .number(let field): field.value(field.layout.bits(bytes))
    case .group(let pieces): .object(try Frame.group(pieces, bytes))
    }
  }
}

extension Frame.ChecksumField {
  /// Computes the correct checksum of a packet whose checksum field is at the byte range `range`.
  func bytes(of packet: [UInt8], at range: Range<Int>) -> [UInt8] {
    let covered: [UInt8] =
      switch scope {
      case .before: Array(packet[..<range.lowerBound])
      case .after: Array(packet[range.upperBound...])
      case .all: Array(packet[..<range.lowerBound]) + packet[range.upperBound...]
      }
    let bytes = checksum.bytes(of: covered.dropFirst(from).dropLast(until), order)
    guard exclusiveOr != 0 else { return bytes }
    let mask = bytes.indices.map { UInt8(truncatingIfNeeded: exclusiveOr >> UInt32(8 * $0)) }
    return zip(bytes, order == .little ? mask : mask.reversed()).map { $0 ^ $1 }
  }
}
