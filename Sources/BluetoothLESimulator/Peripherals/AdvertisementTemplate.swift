// SPDX-License-Identifier: Apache-2.0
/// Advertising data with parts that the device computes for each advertising event.
struct AdvertisementTemplate: Sendable {
  enum Piece: Sendable {
    /// An AD structure: its type and its data.
    case structure(UInt8, Template)
    /// Raw bytes, which need not form AD structures.
    case bytes(Template)
  }

  /// The maximum length of the data in a legacy advertising PDU, in bytes.
  static let maximumLength = 31

  var pieces: [Piece] = []

  /// The advertising data before truncation. Nil if the device computes a part of the data.
  var literal: [UInt8]? {
    var data: [UInt8] = []
    for piece in pieces {
      switch piece {
      case .bytes(let template):
        guard let bytes = template.literal else { return nil }
        data += bytes
      case .structure(let type, let template):
        guard let bytes = template.literal else { return nil }
        data += [UInt8(clamping: bytes.count + 1), type] + bytes
      }
    }
    return data
  }

  /// The length in bytes if all computed parts are empty.
  var leastLength: Int {
    pieces.reduce(0) { sum, piece in
      switch piece {
      case .structure(_, let template): sum + 2 + template.leastLength
      case .bytes(let template): sum + template.leastLength
      }
    }
  }

  /// Returns the current advertising data, at most 31 bytes. Truncates or omits the structures that exceed this limit.
  func data(_ value: (Template) -> [UInt8]) -> [UInt8] {
    var data: [UInt8] = []
    for piece in pieces {
      let room = Self.maximumLength - data.count
      switch piece {
      case .bytes(let template): data += value(template).prefix(room)
      case .structure(let type, let template):
        guard room >= 2 else { continue }
        let bytes = value(template).prefix(room - 2)
        data += [UInt8(clamping: bytes.count + 1), type] + bytes
      }
    }
    return data
  }
}
