// SPDX-License-Identifier: Apache-2.0
/// The positions of interrupted transfers and the paces of devices. `FileDelivery` resumes from them. The store is an append-only log,
/// in which later records win. The parser ignores invalid lines.
package struct TransferMemory: Sendable, Equatable {
  package struct Place: Hashable, Sendable {
    package let peer: PeerAddress
    package let handle: AttributeHandle
    /// The kind of air: `sim` or `replay`. Nil for a radio. A simulated or replayed device may have the address of a real one.
    package let air: String?

    package init(_ peer: PeerAddress, _ handle: AttributeHandle, air: String? = nil) {
      (self.peer, self.handle, self.air) = (peer, handle, air)
    }
  }

  /// The position of an interrupted transfer, with the CRC-32 of the file up to the position.
  package struct Point: Sendable, Equatable {
    /// The number of bytes known to have arrived, greater than 0.
    package let offset: Int
    /// The CRC-32 of the first `offset` bytes of the file.
    package let crc: UInt32
  }

  /// The pace of a device, and the parameters of the link on which a transfer measured the pace.
  package struct Pace: Sendable, Equatable {
    /// The value of `TransferPace.gap`, in microseconds. It is 0 if the device keeps up with the link.
    package let gap: Int
    /// The connection interval of the measured link, in microseconds.
    package let interval: Int
    /// The air time of a segment on the measured link, in microseconds.
    package let airTime: Int

    package init(gap: Int, interval: Int, airTime: Int) { (self.gap, self.interval, self.airTime) = (gap, interval, airTime) }

    /// Returns whether the pace suits a link. The link's interval must not exceed the longer of 15 ms and the measured interval.
    /// At gap 0, `airTime` must be at least 95 % of the measured air time.
    package func holds(on interval: Duration?, airTime: Duration) -> Bool {
      guard let interval, interval <= max(.microseconds(self.interval), .milliseconds(15)) else { return false }
      return gap > 0 || airTime >= .microseconds(self.airTime) * 0.95
    }
  }

  package enum Record: Sendable, Equatable {
    /// The position of an interrupted transfer. Nil after a complete transfer.
    case point(Place, Point?)
    case pace(Place, Pace)
  }

  package private(set) var points: [Place: Point] = [:]
  package private(set) var paces: [Place: Pace] = [:]

  /// The maximum number of points, and also of paces.
  package static let capacity = 256

  package init(parsing log: [UInt8]) {
    var seen: (points: Set<Place>, paces: Set<Place>) = ([], [])
    for line in log.split(separator: 0x0A).reversed() {
      switch Record(parsing: line) {
      case .point(let place, let point): if seen.points.insert(place).inserted, points.count < Self.capacity { points[place] = point }
      case .pace(let place, let pace): if seen.paces.insert(place).inserted, paces.count < Self.capacity { paces[place] = pace }
      case nil: break
      }
    }
  }

  /// The shortest log that parses to an equal value.
  package var log: [UInt8] {
    (points.map { Record.point($0.key, $0.value).line } + paces.map { Record.pace($0.key, $0.value).line })
      .sorted { $0.lexicographicallyPrecedes($1) }.flatMap(\.self)
  }
}

/// A store that keeps the memory of transfers beyond the process.
@LoopActor
package protocol TransferStore {
  var transfers: TransferMemory { get }
  /// Appends a record to the store.
  /// - Returns: False if the store cannot write the record.
  @discardableResult
  func remember(_ record: TransferMemory.Record) -> Bool
}

extension TransferMemory.Record {
  init?(parsing line: some Collection<UInt8>) {
    guard let tree = try? JSONTree.parse(Array(line)), let handle = tree["handle"]?.integer, (1...0xFFFF).contains(handle),
      case .address(let address, let type?)? = tree["peer"]?.string.flatMap({ PeerSelector($0) })
    else { return nil }
    let place = TransferMemory.Place(PeerAddress(address, type), AttributeHandle(clamping: handle), air: tree["air"]?.string)
    if let gap = tree["gap_us"] {
      let range = 0...10_000_000
      guard let gap = gap.integer, range.contains(gap), let interval = tree["interval_us"]?.integer, range.contains(interval),
        let airTime = tree["air_us"]?.integer, range.contains(airTime)
      else { return nil }
      self = .pace(place, TransferMemory.Pace(gap: gap, interval: interval, airTime: airTime))
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

  /// The record as a line of the log.
  package var line: [UInt8] {
    var json = RecordWriter()
    switch self {
    case .point(let place, let point):
      json.string("peer", place.peer.description)
      json.integer("handle", place.handle.number)
      if let air = place.air { json.string("air", air) }
      json.integer("offset", point?.offset)
      if let point { json.integer("crc32", Int(point.crc)) }
    case .pace(let place, let pace):
      json.string("peer", place.peer.description)
      json.integer("handle", place.handle.number)
      if let air = place.air { json.string("air", air) }
      json.integer("gap_us", pace.gap)
      json.integer("interval_us", pace.interval)
      json.integer("air_us", pace.airTime)
    }
    return json.finished()
  }
}
