import Text

/// Advertising data of which parts are made anew for every advertising event.
struct AdvertisementTemplate: Sendable {
  enum Piece: Sendable {
    /// An AD structure: its type, and what follows the type.
    case structure(UInt8, Template)
    /// Octets that stand for themselves.
    case octets(Template)
  }

  /// Legacy advertising PDUs carry no more.
  static let maximumLength = 31

  var pieces: [Piece] = []

  /// The octets, where they are the same at any time; not cut.
  var literal: [UInt8]? {
    var data: [UInt8] = []
    for piece in pieces {
      switch piece {
      case .octets(let template):
        guard let octets = template.literal else { return nil }
        data += octets
      case .structure(let type, let template):
        guard let octets = template.literal else { return nil }
        data += [UInt8(clamping: octets.count + 1), type] + octets
      }
    }
    return data
  }

  /// How many octets there are whatever the parts that change give.
  var leastLength: Int {
    pieces.reduce(0) { sum, piece in
      switch piece {
      case .structure(_, let template): sum + 2 + template.leastLength
      case .octets(let template): sum + template.leastLength
      }
    }
  }

  /// The octets as they are now. A structure is cut at what is left of 31 octets, so that it stays well-formed; one that has no room is left out.
  func data(_ value: (Template) -> [UInt8]) -> [UInt8] {
    var data: [UInt8] = []
    for piece in pieces {
      let room = Self.maximumLength - data.count
      switch piece {
      case .octets(let template): data += value(template).prefix(room)
      case .structure(let type, let template):
        guard room >= 2 else { continue }
        let octets = value(template).prefix(room - 2)
        data += [UInt8(clamping: octets.count + 1), type] + octets
      }
    }
    return data
  }
}
