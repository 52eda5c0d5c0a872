// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE

extension Frame {
  /// Encodes a packet from the values of its fields. Ignores values whose names match no field.
  package func encode(_ values: [NamedValue]) throws(FieldFault) -> [UInt8] {
    var packet: [UInt8] = []
    var ranges: [Range<Int>] = []
    for piece in pieces {
      let bytes = try Self.bytes(piece, values)
      guard packet.count + bytes.count <= Self.maximumCommand else {
        throw FieldFault(field: name, reason: .tooLong(packet.count + bytes.count, allowed: Self.maximumCommand, .bytes))
      }
      ranges.append(packet.count..<packet.count + bytes.count)
      packet += bytes
    }
    for (piece, range) in zip(pieces, ranges) {
      guard case .size(let field) = piece else { continue }
      packet.replaceSubrange(range, with: try bytes(field, at: range, packet.count, ranges))
    }
    for (piece, range) in zip(pieces, ranges) {
      guard case .checksum(let field) = piece else { continue }
      packet.replaceSubrange(range, with: field.bytes(of: packet, at: range))
    }
    return packet
  }

  /// Encodes one piece of a packet. Writes zeros for sizes and checksums, which `encode(_:)` replaces.
  private static func bytes(_ piece: Piece, _ values: [NamedValue]) throws(FieldFault) -> [UInt8] {
    func value(_ name: String) throws(FieldFault) -> DeviceValue {
      guard let value = values[name] else { throw FieldFault(field: name, reason: .missing) }
      return value
    }
    switch piece {
    case .bytes(let bytes): return bytes
    case .skip, .size, .checksum: return Array(repeating: 0, count: fixedSize(piece) ?? 0)
    case .number(let field): return field.layout.bytes(try field.bits(try value(field.name)))
    case .bits(let field):
      var bits: UInt64 = 0
      for bit in field.bits { bits |= try bit.bits(try value(bit.name)) }
      return field.layout.bytes(bits)
    case .string(let field): return try field.bytes(try value(field.name))
    case .list(let field): return try field.bytes(try value(field.name))
    }
  }

  private func bytes(_ field: SizeField, at range: Range<Int>, _ total: Int, _ ranges: [Range<Int>]) throws(FieldFault) -> [UInt8] {
    let size: Int
    switch field.target {
    case .all: size = total
    case .rest: size = total - range.upperBound
    case .field(let name):
      let index = pieces.firstIndex { Self.fields($0).contains { $0.name == name } }
      let length = index.map { ranges[$0].count } ?? 0
      if field.countsItems, let index, case .list(let list) = pieces[index] { size = length / list.stride } else { size = length }
    }
    let said = Int128(size) + Int128(field.add)
    guard field.layout.range.contains(said) else {
      let what = if case .field(let target) = field.target { target } else { name }
      throw FieldFault(
        field: what,
        reason: .tooLong(
          size, allowed: Int(clamping: field.layout.range.upperBound - Int128(field.add)), field.countsItems ? .items : .bytes))
    }
    return field.layout.bytes(UInt64(truncatingIfNeeded: said))
  }

  fileprivate static func group(_ pieces: [Piece], _ values: [NamedValue]) throws(FieldFault) -> [UInt8] {
    var bytes: [UInt8] = []
    for piece in pieces { bytes += try self.bytes(piece, values) }
    return bytes
  }
}

extension Frame.StringField {
  fileprivate func bytes(_ value: DeviceValue) throws(FieldFault) -> [UInt8] {
    func fault(_ reason: FieldFault.Reason) -> FieldFault { FieldFault(field: name, reason: reason) }
    var bytes: [UInt8]
    switch value {
    case .text(let text):
      guard isText else { throw fault(.notBytes) }
      guard choices.isEmpty || choices.contains(text) else { throw fault(.unknownName(text, choices)) }
      bytes = Array(text.utf8)
    case .bytes(let given):
      guard !isText else { throw fault(.notText) }
      bytes = given
    case .integer, .number, .list, .object: throw fault(isText ? .notText : .notBytes)
    }
    guard case .fixed(let count) = extent else { return bytes }
    guard isText else {
      guard bytes.count == count else { throw fault(.wrongLength(bytes.count, allowed: count, .bytes)) }
      return bytes
    }
    guard bytes.count <= count else { throw fault(.tooLong(bytes.count, allowed: count, .bytes)) }
    // Decoding removes trailing NULs, so the text would change.
    guard bytes.last != 0 else { throw fault(.notText) }
    bytes += Array(repeating: 0, count: count - bytes.count)
    return bytes
  }

  /// Parses text that a user typed, as hex digits if the field holds bytes.
  /// - Throws: FieldFault for invalid hex.
  package func parse(_ text: String) throws(FieldFault) -> DeviceValue {
    guard !isText else { return .text(text) }
    do { return .bytes(try Hex.parse(text)) } catch {
      throw FieldFault(field: name, reason: error == .notHex ? .notHex(text) : .oddDigits(error))
    }
  }
}

extension Frame.ListField {
  fileprivate func bytes(_ value: DeviceValue) throws(FieldFault) -> [UInt8] {
    guard case .list(let items) = value else { throw FieldFault(field: name, reason: .notAList) }
    if case .fixed(let count) = extent, items.count != count {
      throw FieldFault(field: name, reason: .wrongLength(items.count, allowed: count, .items))
    }
    guard items.count <= Frame.maximumCommand else {
      throw FieldFault(field: name, reason: .tooLong(items.count, allowed: Frame.maximumCommand, .items))
    }
    var bytes: [UInt8] = []
    for element in items {
      switch (item, element) {
      case (.number(let field), _):
        var named = field
        named.name = name
        bytes += field.layout.bytes(try named.bits(element))
      case (.group(let pieces), .object(let members)): bytes += try Frame.group(pieces, members)
      case (.group, _): throw FieldFault(field: name, reason: .notAList)
      }
    }
    return bytes
  }

  /// Parses numbers, separated by commas or spaces. A slash separates the fields of an item with several fields: `7/30, 8/15`.
  package func parse(_ text: String) throws(FieldFault) -> DeviceValue {
    var items: [DeviceValue] = []
    let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { $0.split(separator: " ") }
    if parts.count > 1, parts.contains(where: \.isEmpty) { throw FieldFault(field: name, reason: .noNumber("")) }
    for word in parts.joined() {
      switch item {
      case .number(let field):
        var named = field
        named.name = name
        items.append(try named.parse(String(word)))
      case .group(let pieces):
        let fields = pieces.flatMap(Frame.fields)
        let parts = word.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == fields.count else {
          throw FieldFault(field: name, reason: .wrongLength(parts.count, allowed: fields.count, .fields))
        }
        var members: [NamedValue] = []
        for (field, part) in zip(fields, parts) { members.append(NamedValue(field.name, try field.parse(String(part)))) }
        items.append(.object(members))
      }
    }
    return .list(items)
  }
}

extension Frame.Field {
  /// Parses a value of the field from text that a user typed.
  package func parse(_ text: String) throws(FieldFault) -> DeviceValue {
    switch self {
    case .number(let field): try field.parse(text)
    case .bit(let bit): try bit.parse(text)
    case .string(let field): try field.parse(text)
    case .list(let field): try field.parse(text)
    }
  }

  /// Returns the value in the form that `Frame.decode(_:)` returns, with the name of the number if it has one.
  /// - Throws: FieldFault if the value does not fit.
  package func canonical(_ value: DeviceValue) throws(FieldFault) -> DeviceValue {
    switch self {
    case .number(let field): return field.value(try field.bits(value))
    case .bit(let bit): return bit.value(try bit.bits(value))
    case .string(let field):
      _ = try field.bytes(value)
      return value
    case .list(let field):
      _ = try field.bytes(value)
      guard case .list(let elements) = value else { return value }
      var items: [DeviceValue] = []
      for element in elements {
        switch (field.item, element) {
        case (.number(let number), _): items.append(try Self.number(number).canonical(element))
        case (.group(let pieces), .object(let members)):
          var canonical: [NamedValue] = []
          for inner in pieces.flatMap(Frame.fields) {
            guard let member = members[inner.name] else { throw FieldFault(field: inner.name, reason: .missing) }
            canonical.append(NamedValue(inner.name, try inner.canonical(member)))
          }
          items.append(.object(canonical))
        case (.group, _): throw FieldFault(field: field.name, reason: .notAList)
        }
      }
      return .list(items)
    }
  }

  /// The range of scaled numbers that the field can hold. Nil for floats, strings and lists of objects.
  var span: ClosedRange<Double>? {
    switch self {
    case .number(let field): field.span
    case .bit(let bit): 0...Double(bit.mask)
    case .list(let list): if case .number(let field) = list.item { field.span } else { nil }
    case .string: nil
    }
  }

  /// Returns the scaled number that a value or its name represents. Nil if the value represents no number.
  func double(_ value: DeviceValue) -> Double? {
    guard case .text(let text) = value else { return value.double }
    return switch self {
    case .number(let field):
      field.names.first { $0.name == text }.map { number in
        field.scale.map { $0.value(Double(number.number)) } ?? Double(number.number)
      }
    case .bit(let bit): bit.names.first { $0.name == text }.map { Double($0.number) }
    case .string, .list: nil
    }
  }

  package var isNumber: Bool {
    switch self {
    case .number, .bit: true
    case .string, .list: false
    }
  }

  /// Converts an unscaled whole number, truncated to the width of the field, to a value. Returns nil for a string or list field.
  package func value(of number: Int64) -> DeviceValue? {
    switch self {
    case .number(let field):
      if field.layout.kind == .float { return .number(field.scale.map { $0.value(Double(number)) } ?? Double(number)) }
      return field.value(field.layout.bits(field.layout.bytes(UInt64(bitPattern: number))[...]))
    case .bit(let bit): return bit.value((UInt64(bitPattern: number) & bit.mask) << UInt64(bit.low))
    case .string, .list: return nil
    }
  }

  /// Returns the unscaled whole number that encodes a value in a packet. Returns 0 if the field cannot encode the value.
  package func number(in value: DeviceValue) -> Int64 {
    switch self {
    case .number(let field):
      if field.layout.kind == .float { return Int64(exactly: (value.double ?? 0).rounded(.towardZero)) ?? 0 }
      guard let bits = try? field.bits(value) else { return 0 }
      return Int64(truncatingIfNeeded: field.layout.integer(field.layout.bits(field.layout.bytes(bits)[...])))
    case .bit(let bit):
      guard let bits = try? bit.bits(value) else { return 0 }
      return Int64(truncatingIfNeeded: bits >> UInt64(bit.low))
    case .string, .list: return 0
    }
  }
}
