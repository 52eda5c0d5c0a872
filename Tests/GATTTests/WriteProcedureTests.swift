import TestSupport

@Suite(.timeLimit(.minutes(15))) struct WriteProcedureTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let count: Int
    let properties: Properties?
    let mtu: Int
    let mode: WriteMode
    let chunk: Int?
    /// The expected plan (`mode: equal segments, and the last`), or a part of the error.
    let expected: String
    init(_ count: Int, _ properties: Properties?, _ mtu: Int, _ mode: WriteMode, _ chunk: Int?, _ expected: String) {
      (self.count, self.properties, self.mtu, self.mode, self.chunk, self.expected) = (count, properties, mtu, mode, chunk, expected)
    }
    var testDescription: String { "\(count) octets, \(properties?.names ?? ["?"]), MTU \(mtu), \(mode.rawValue), chunk \(chunk ?? 0)" }
  }

  static let both: Properties = [.write, .writeWithoutResponse]

  @Test(arguments: [
    // auto: a request if the characteristic accepts one, a long write if it does not fit, else commands in segments.
    Row(20, [.write], 23, .auto, nil, "request 1x20"), Row(21, [.write], 23, .auto, nil, "long 1x18+3"),
    Row(20, both, 23, .auto, nil, "request 1x20"),
    Row(104, [.writeWithoutResponse], 23, .auto, nil, "command 5x20+4"), Row(0, [.write], 23, .auto, nil, "request 1x0"),
    Row(0, [.writeWithoutResponse], 23, .auto, nil, "command 1x0"), Row(5, nil, 23, .auto, nil, "request 1x5"),
    Row(512, [.write], 517, .auto, nil, "request 1x512"),
    Row(512, [.write], 514, .auto, nil, "long 1x509+3"), Row(5, [.read], 23, .auto, nil, "request 1x5"),
    Row(513, [.write], 517, .auto, nil, "more than an attribute"),
    Row(600, [.writeWithoutResponse], 517, .auto, nil, "command 1x512+88"), Row(40, [.write], 23, .auto, 20, "request 2x20"),
    Row(600, [.write], 247, .auto, 244, "request 2x244+112"), Row(10, [.writeWithoutResponse], 23, .auto, 4, "command 2x4+2"),
    // An explicit mode is obeyed.
    Row(20, [.writeWithoutResponse], 23, .request, nil, "request 1x20"),
    Row(21, [.write], 23, .request, nil, "do not fit one Write Request"),
    Row(21, [.write], 23, .request, 20, "request 1x20+1"), Row(104, [.write], 23, .command, nil, "command 5x20+4"),
    Row(3, [.write], 23, .command, nil, "command 1x3"),
    Row(77_831, both, 247, .command, 244, "command 318x244+239"), Row(3, [.writeWithoutResponse], 23, .long, nil, "long 1x3"),
    Row(0, [.write], 23, .long, nil, "long 1x0"), Row(36, [.write], 23, .reliable, nil, "reliable 2x18"),
    Row(512, [.write], 23, .reliable, nil, "reliable 28x18+8"),
    Row(513, [.write], 23, .long, nil, "more than an attribute"), Row(20, [.write], 23, .long, 10, "long 2x10"),
    // Writes that cannot be sent are refused.
    Row(20, [.write], 23, .request, 21, "at most 20"), Row(20, [.write], 23, .long, 19, "at most 18"),
    Row(20, [.write], 23, .command, 0, "1 or more"),
    Row(20, [.write], 23, .auto, -1, "1 or more"), Row(1000, [.writeWithoutResponse], 517, .command, 513, "at most 512"),
  ]) func table(_ row: Row) throws {
    do {
      let plan = try WriteProcedure(value: row.count, properties: row.properties, mtu: row.mtu, mode: row.mode, chunk: row.chunk)
      let size = plan.segments[0].count
      let whole = plan.segments.prefix { $0.count == size }
      let rest = plan.segments.dropFirst(whole.count)
      #expect("\(plan.mode.rawValue) \(whole.count)x\(size)" + rest.map { "+\($0.count)" }.joined() == row.expected)
      // Every byte appears once, in order.
      #expect(plan.segments.first?.lowerBound == 0 && plan.segments.last?.upperBound == row.count)
      #expect(zip(plan.segments, plan.segments.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
    } catch {
      let refusal =
        switch error {
        case .tooLongForAttribute(row.count, segment: _, mode: row.mode): "more than an attribute"
        case .tooLongForWriteRequest(row.count, limit: _, mtu: row.mtu): "do not fit one Write Request"
        case .segmentTooLong(row.chunk ?? 0, limit: let limit, mtu: row.mtu): "at most \(limit)"
        case .segmentTooShort(row.chunk ?? 1): "1 or more"
        default: "\(error)"
        }
      #expect(refusal == row.expected)
    }
  }

  /// For every size and MTU, the segments fit and are complete.
  @Test func holdsEverywhere() throws {
    for mtu in [23, 24, 65, 185, 247, 515, 516, 517] {
      for count in 0...600 {
        for mode in WriteMode.allCases {
          guard let plan = try? WriteProcedure(value: count, properties: nil, mtu: mtu, mode: mode, chunk: nil) else { continue }
          let header = plan.mode == .long || plan.mode == .reliable ? 5 : 3
          #expect(plan.mode != .auto && plan.segments.allSatisfy { $0.count + header <= mtu && $0.count <= 512 })
          #expect(plan.segments.map(\.count).reduce(0, +) == count)
        }
      }
    }
  }

  /// The best segment size by MTU and data length, from the table of air times.
  @Test(arguments: [
    (65, 27, 47), (247, 27, 236), (256, 27, 236), (185, 251, 182), (200, 251, 197), (247, 251, 244), (256, 251, 244), (300, 251, 244),
    (512, 251, 495),
    (517, 251, 495), (23, 251, 20), (23, 27, 20), (517, 0, 495), (517, 1000, 495),
  ]) func fastestSegments(_ mtu: Int, _ dataLength: Int, _ best: Int) {
    #expect(LinkCapacity(dataLength: dataLength == 0 ? nil : dataLength).fastestSegment(mtu: mtu) == best)
  }

  @Test func fastestSegmentIsNeverTooLong() {
    for mtu in 23...517 {
      for length in 27...251 { #expect((1...min(mtu - 3, 512)).contains(LinkCapacity(dataLength: length).fastestSegment(mtu: mtu))) }
    }
  }
}
