package import Bluetooth
import Text

/// What is remembered of transfers: how far one came that did not end, and how much a device takes at a time. Kept as a log: records are added at its
/// end, and the later one is right. Lines that are no records are passed over.
package struct TransferMemory: Sendable, Equatable {
  package struct Place: Hashable, Sendable {
    package let peer: PeerAddress
    package let attribute: String

    /// - Parameter attribute: as `Selector` describes it.
    package init(_ peer: PeerAddress, _ attribute: String) {
      self.peer = peer
      self.attribute = attribute
    }
  }

  /// How far a transfer came.
  package struct Point: Sendable, Equatable {
    /// Octets of the file that are known to have arrived; more than 0.
    package let offset: Int
    /// CRC-32 of these.
    package let crc: UInt32

    package init(offset: Int, crc: UInt32) {
      self.offset = offset
      self.crc = crc
    }
  }

  package enum Record: Sendable, Equatable {
    /// Nil: the transfer is whole.
    case point(Place, Point?)
    /// See `TransferPace.gap`, in microseconds.
    case gap(Place, Int)
  }

  package private(set) var points: [Place: Point] = [:]
  package private(set) var gaps: [Place: Int] = [:]

  /// Of each.
  package static let capacity = 256

  package init(parsing log: [UInt8]) {
    var seen: (points: Set<Place>, gaps: Set<Place>) = ([], [])
    for line in log.split(separator: 0x0A).reversed() {
      switch Record(parsing: line) {
      case .point(let place, let point): if seen.points.insert(place).inserted, points.count < Self.capacity { points[place] = point }
      case .gap(let place, let gap):
        if seen.gaps.insert(place).inserted, gaps.count < Self.capacity { gaps[place] = gap }
      case nil: break
      }
    }
  }

  /// The shortest log that says the same.
  package var log: [UInt8] {
    (points.map { Record.point($0.key, $0.value).line } + gaps.map { Record.gap($0.key, $0.value).line })
      .sorted { $0.lexicographicallyPrecedes($1) }.flatMap(\.self)
  }
}

extension TransferMemory.Record {
  init?(parsing line: some Collection<UInt8>) {
    guard let tree = try? JSONTree.parse(Array(line)), let attribute = tree["attribute"]?.string,
      case .address(let address, let type?)? = tree["peer"]?.string.flatMap({ PeerSelector($0) })
    else { return nil }
    let place = TransferMemory.Place(PeerAddress(address, type), attribute)
    if let gap = tree["gap_us"] {
      guard let gap = gap.integer, (0...10_000_000).contains(gap) else { return nil }
      self = .gap(place, gap)
    } else {
      guard tree["offset"] != nil else { return nil }
      guard let offset = tree["offset"]?.integer else {
        self = .point(place, nil)
        return
      }
      guard offset > 0, let crc = tree["crc32"]?.integer.flatMap({ UInt32(exactly: $0) }) else { return nil }
      self = .point(place, TransferMemory.Point(offset: offset, crc: crc))
    }
  }

  /// One line of the log.
  package var line: [UInt8] {
    var json = JSONLine()
    switch self {
    case .point(let place, let point):
      json.string("peer", place.peer.description)
      json.string("attribute", place.attribute)
      json.integer("offset", point?.offset)
      if let point { json.integer("crc32", Int(point.crc)) }
    case .gap(let place, let gap):
      json.string("peer", place.peer.description)
      json.string("attribute", place.attribute)
      json.integer("gap_us", gap)
    }
    return json.finished()
  }
}
