import BluetoothLE

/// A reader for pcapng files. Their sections may have either byte order, and each section has its own interfaces.
/// The reader skips interfaces without Bluetooth packets, unless the file has no Bluetooth packet.
struct PcapngReader: Sendable {
  private var reader: ByteReader
  private var isLittle = true
  private var interfaces: [Interface] = []
  /// The error for the first interface without Bluetooth packets. Nil before such an interface.
  private var refused: MalformedPacket?
  private var found = 0
  /// Whether to read also the monitor's records that are not packets.
  private var readsNotes = false
  /// The number of packets that the reader skipped on interfaces without Bluetooth packets.
  private(set) var leftOut = 0

  private struct Interface: Sendable {
    /// The form of the interface's packets. Nil for packets that are not Bluetooth packets.
    var link: CaptureLink?
    /// The index, from 0, of this interface among the interfaces whose packets do not name an adapter.
    var adapter: UInt16 = 0
    /// The maximum number of bytes that the recorder kept of a packet. 0 means all.
    var longest: UInt64 = 0
    /// The number of time units in a second.
    var resolution: UInt64 = 1_000_000
    /// The offset to add to the times of packets, in seconds.
    var offset: Int64 = 0
    var guess = DirectionGuess()

    /// Whether the packets of this interface do not name an adapter.
    var isHosts: Bool { link == .h4 || link == .h4WithDirection }
  }

  static func isFile(_ file: [UInt8]) -> Bool { file.starts(with: [0x0A, 0x0D, 0x0D, 0x0A]) }

  init(_ file: [UInt8]) throws(MalformedPacket) {
    guard Self.isFile(file) else { throw MalformedPacket("not a pcapng file", at: 0) }
    reader = ByteReader(file)
  }

  /// Reads the next packet, or with `notes` the next record. Returns nil at the end of the file.
  mutating func next(notes: Bool = false) throws(MalformedPacket) -> Snoop.Record? {
    readsNotes = notes
    while !reader.isAtEnd {
      if let record = try takeBlock() {
        found += 1
        return record
      }
    }
    if found == 0, let refused { throw refused }
    return nil
  }

  private static let sectionHeader: UInt64 = 0x0A0D_0D0A

  private mutating func takeBlock() throws(MalformedPacket) -> Snoop.Record? {
    let start = reader.offset
    let type = try reader.number(4, isLittle, "pcapng block")
    // This is the same in both byte orders.
    if type == Self.sectionHeader {
      var ahead = reader
      _ = try ahead.slice(4, "pcapng section")
      switch Array(try ahead.slice(4, "pcapng section")) {
      case [0x4D, 0x3C, 0x2B, 0x1A]: isLittle = true
      case [0x1A, 0x2B, 0x3C, 0x4D]: isLittle = false
      default: throw MalformedPacket("pcapng section: no byte order", at: start + 8)
      }
      interfaces = []
    }
    let length = try reader.number(4, isLittle, "pcapng block")
    guard length >= 12, length % 4 == 0, length <= 1 << 28 else {
      throw MalformedPacket("pcapng block: invalid length \(length)", at: start + 4)
    }
    var body = ByteReader(try reader.slice(Int(length) - 12, "pcapng block"))
    guard try reader.number(4, isLittle, "pcapng block") == length else {
      throw MalformedPacket("pcapng block: different length at its end", at: reader.offset - 4)
    }
    do throws(MalformedPacket) {
      switch type {
      case 1: try takeInterface(&body, at: start + 8)
      case 2: return try packet(&body, isOld: true)
      case 3: return try simplePacket(&body)
      case 6: return try packet(&body, isOld: false)
      default: break
      }
      return nil
    } catch {
      throw MalformedPacket(error.reason, at: start + 8 + error.offset)
    }
  }

  private mutating func takeInterface(_ body: inout ByteReader, at offset: Int) throws(MalformedPacket) {
    var interface = Interface()
    let type = UInt32(try body.number(2, isLittle, "pcapng interface"))
    do throws(MalformedPacket) { interface.link = try CaptureLink(type, at: offset) } catch { if refused == nil { refused = error } }
    if interface.isHosts { interface.adapter = UInt16(interfaces.count { $0.isHosts }) }
    _ = try body.slice(2, "pcapng interface")
    interface.longest = try body.number(4, isLittle, "pcapng interface")
    for (code, value) in try options(&body) {
      switch code {
      case 9:
        guard let byte = value.first else { break }
        let exponent = byte & 0x7F
        guard exponent <= (byte & 0x80 == 0 ? 19 : 63) else {
          throw MalformedPacket("pcapng interface: invalid resolution \(byte)", at: 0)
        }
        interface.resolution = byte & 0x80 == 0 ? (0..<exponent).reduce(1) { power, _ in power * 10 } : 1 << UInt64(exponent)
      case 14:
        var reader = ByteReader(value)
        interface.offset = Int64(bitPattern: (try? reader.number(8, isLittle, "offset")) ?? 0)
      default: break
      }
    }
    guard interfaces.count < 4096 else { throw MalformedPacket("pcapng section: more than 4096 interfaces", at: 0) }
    interfaces.append(interface)
  }

  private func options(_ body: inout ByteReader) throws(MalformedPacket) -> [(code: UInt64, value: ArraySlice<UInt8>)] {
    var options: [(UInt64, ArraySlice<UInt8>)] = []
    while body.remaining >= 4 {
      let code = try body.number(2, isLittle, "pcapng option")
      let length = Int(try body.number(2, isLittle, "pcapng option"))
      if code == 0 { break }
      options.append((code, try body.slice(length, "pcapng option")))
      _ = try body.slice(min(body.remaining, (4 - length % 4) % 4), "pcapng option")
    }
    return options
  }

  private mutating func packet(_ body: inout ByteReader, isOld: Bool) throws(MalformedPacket) -> Snoop.Record? {
    let index = try body.number(isOld ? 2 : 4, isLittle, "pcapng packet")
    if isOld { _ = try body.slice(2, "pcapng packet") }
    let high = try body.number(4, isLittle, "pcapng packet")
    let low = try body.number(4, isLittle, "pcapng packet")
    let included = try body.number(4, isLittle, "pcapng packet")
    let original = try body.number(4, isLittle, "pcapng packet")
    guard index < UInt64(interfaces.count) else { throw MalformedPacket("pcapng packet: unknown interface \(index)", at: 0) }
    let bytes = try body.slice(Int(included), "pcapng packet")
    _ = try body.slice(min(body.remaining, (4 - bytes.count % 4) % 4), "pcapng packet")
    guard let link = interfaces[Int(index)].link else {
      leftOut += 1
      return nil
    }
    guard included <= original, included <= Snoop.longest else {
      throw MalformedPacket("pcapng packet: invalid length \(included)", at: 12)
    }
    var direction: Direction?
    var comments: [[UInt8]] = []
    for (code, value) in (try? options(&body)) ?? [] {
      if code == 1 { comments.append(Array(value)) }
      guard code == 2, value.count == 4 else { continue }
      switch (isLittle ? value.first : value.last).map({ $0 & 3 }) {
      case 1: direction = .controllerToHost
      case 2: direction = .hostToController
      default: break
      }
    }
    let time = try Self.nanoseconds(high << 32 | low, interfaces[Int(index)])
    var record = link.record(bytes, at: time, direction: direction, guess: &interfaces[Int(index)].guess, notes: readsNotes)
    record?.missing = Int(original - included)
    record?.comments = comments
    if interfaces[Int(index)].isHosts { record?.adapter = interfaces[Int(index)].adapter }
    return record
  }

  /// Reads a Simple Packet Block. Its packet belongs to the section's first interface and has no time.
  private mutating func simplePacket(_ body: inout ByteReader) throws(MalformedPacket) -> Snoop.Record? {
    let original = try body.number(4, isLittle, "pcapng packet")
    guard let interface = interfaces.first, let link = interface.link else {
      leftOut += 1
      return nil
    }
    // Padding follows the kept bytes.
    let kept = interface.longest == 0 ? original : min(original, interface.longest)
    let bytes = try body.slice(min(body.remaining, Int(kept)), "pcapng packet")
    guard bytes.count <= Snoop.longest else { throw MalformedPacket("pcapng packet: invalid length \(original)", at: 0) }
    var record = link.record(bytes, at: 0, direction: nil, guess: &interfaces[0].guess, notes: readsNotes)
    record?.missing = Int(original) - bytes.count
    return record
  }

  private static func nanoseconds(_ time: UInt64, _ interface: Interface) throws(MalformedPacket) -> Int64 {
    let (seconds, rest) = time.quotientAndRemainder(dividingBy: interface.resolution)
    let product = rest.multipliedFullWidth(by: 1_000_000_000)
    // Use the fraction of a second. The rest is smaller than the resolution.
    let fraction = interface.resolution.dividingFullWidth(product).quotient
    let (sum, overflow) = Int64(clamping: seconds).addingReportingOverflow(interface.offset)
    let (whole, tooFar) = sum.multipliedReportingOverflow(by: 1_000_000_000)
    let (nanoseconds, beyond) = whole.addingReportingOverflow(Int64(fraction))
    guard !overflow, !tooFar, !beyond else { throw MalformedPacket("pcapng packet: time out of range", at: 4) }
    return nanoseconds
  }
}
