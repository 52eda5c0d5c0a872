import TestSupport

/// A failed read does not hide the values of the others.
@Suite(.timeLimit(.minutes(15))) struct PartialReadTests {
  private static let items: [PlainServer.Item] =
    [.init(handle: 1, type: UUID(0x2800), value: [0xF0, 0xFF])]
    + (1...3).flatMap { number -> [PlainServer.Item] in
      let handle = AttributeHandle(rawValue: UInt16(2 * number))
      return [
        .init(handle: handle, type: UUID(0x2803), value: [2, UInt8(2 * number + 1), 0, UInt8(number), 0xFF]),
        .init(handle: handle.next, type: UUID(0xFF00 + UInt32(number)), value: [UInt8(number)]),
      ]
    }

  enum Fault: CaseIterable {
    /// The bearer ends, so no more attributes can be read.
    case silence, end
    /// Other attributes can still be read.
    case refusal, nonsense

    var isLast: Bool { self == .silence || self == .end }
  }

  /// The fault occurs at the first, the middle and the last read.
  @Test(.onLoop, arguments: Fault.allCases, 1...3) @LoopActor func everyPlace(_ fault: Fault, _ number: Int) async throws {
    let (near, far) = MemoryChannel.pair()
    var server = PlainServer(Self.items)
    let handle = UInt8(2 * number + 1)
    _ = ScriptedPeer(far) { pdu in
      guard pdu == [0x0A, handle, 0] else { return server.answer(pdu) }
      switch fault {
      case .silence: return nil
      case .end:
        far.lose(LinkLost("gone"))
        return nil
      case .refusal: return [0x01, 0x0A, handle, 0, 0x05]
      case .nonsense: return [0x01, 0x0A]
      }
    }
    let client = Client(near)
    let (values, failure) = try await client.readableValues(try await client.discover())
    let read = (1...3).filter { (try? values[AttributeHandle(rawValue: UInt16(2 * $0 + 1))]?.get()) == [UInt8($0)] }
    #expect(read == (fault.isLast ? Array(1..<number) : (1...3).filter { $0 != number }))
    #expect(failure?.attribute.handle.number == (fault == .refusal ? nil : Int(handle)))
    #expect(values.count == (fault.isLast ? number : 3), "nothing is asked on a link that has ended")
    guard case .failure? = values[AttributeHandle(rawValue: UInt16(handle))] else {
      Issue.record("the reason is not in its place")
      return
    }
    client.close()
  }
}
