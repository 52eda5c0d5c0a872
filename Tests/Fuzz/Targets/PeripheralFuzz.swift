import BluetoothLESimulator
import TestSupport

extension FuzzTarget {
  /// A peripheral file. An accepted device advertises and is queried completely.
  static let peripheral = FuzzTarget(
    "peripheral", seeds: files("man/examples", [".json"]).filter { (try? PeripheralFile.parse($0, name: "seed")) != nil },
    words: [
      "\"reactions\"", "\"when\"", "\"then\"", "\"if\"", "\"notify\"", "\"indicate\"", "\"set\"", "\"count\"", "\"let\"", "\"variables\"",
      "\"timers\"", "\"every_ms\"", "\"after_ms\"", "\"value_of\"", "\"written\"", "\"disconnect\"", "\"services\"", "\"characteristics\"",
      "\"properties\"", "\"firmware\"", "\"link\"", "\"answers\"", "\"u64be\"", "\"crc32\"", "\"random\"", "\"??\"", "{", "}", "[", "]",
      ":", ",",
      "-1", "9223372036854775807", "-9223372036854775808", "1e308",
    ]
  ) { bytes in
    guard let descriptions = try? PeripheralFile.parse(bytes, name: "fuzz") else { return }
    await VirtualTime.run {
      for description in descriptions.prefix(3) {
        let client = PeripheralClient(VirtualPeripheral(description))
        for attribute in description.database.attributes.prefix(24) {
          let (low, high) = (UInt8(truncatingIfNeeded: attribute.handle.rawValue), UInt8(attribute.handle.rawValue >> 8))
          let isConfiguration = attribute.type == UUID(0x2902)
          client.deliver([0x12, low, high] + (isConfiguration ? [3, 0] : Array(bytes.suffix(2 + Int(low & 7)))))
          client.deliver([0x0A, low, high])
        }
        try await EventLoop.shared.sleep(for: .milliseconds(2500))
        client.lose()
        client.connect()
        try await EventLoop.shared.sleep(for: .milliseconds(500))
        client.lose()
      }
    }
  }

  /// Clients of the example devices: PDUs (each after its length), pauses, lost links.
  static let server = FuzzTarget("server") { bytes in
    await VirtualTime.run {
      var tape = Tape(bytes)
      let client = PeripheralClient(VirtualPeripheral(examples[Int(tape.byte()) % examples.count]))
      for _ in 0..<64 where !tape.isAtEnd {
        let choice = tape.byte()
        switch choice {
        case 0..<200: client.deliver(tape.bytes(Int(choice)))
        case ..<248: try await EventLoop.shared.sleep(for: .milliseconds(1 << Int(choice % 12)))
        default:
          client.lose()
          client.connect()
        }
      }
      client.lose()
    }
  }

  private static let examples = files("man/examples", [".json"]).flatMap { (try? PeripheralFile.parse($0, name: "seed")) ?? [] }
}

/// A client that exchanges PDUs with a device directly, without a simulated air.
@LoopActor
private final class PeripheralClient: Channel {
  var handler: (@LoopActor (ChannelEvent) -> Void)?
  private let peripheral: VirtualPeripheral
  private var isOpen = false
  /// The number of requests, each of which may get one answer.
  private var asked = 0

  init(_ peripheral: VirtualPeripheral) {
    self.peripheral = peripheral
    connect()
  }

  func connect() {
    let advertising = peripheral.advertising
    expect(advertising.data.count <= 1650 && advertising.scanResponse.count <= 1650, "it advertises too much")
    (isOpen, asked) = (true, 0)
    peripheral.connected(self)
  }

  func lose() {
    isOpen = false
    handler?(.closed(LinkLost("gone")))
    expect(peripheral.connectionCount == 0, "a lost link is served")
  }

  func deliver(_ pdu: [UInt8]) {
    guard isOpen else { return }
    if let first = pdu.first, case .request = ATTOpcode(rawValue: first) { asked += 1 }
    if let first = pdu.first, case .unknown = ATTOpcode(rawValue: first) { asked += 1 }
    handler?(.received(pdu))
  }

  // MARK: Channel

  func send(_ pdu: [UInt8]) {
    guard isOpen else { return }
    guard let read = try? PDU(parsing: pdu) else {
      // A value that is cut at ATT_MTU.
      return expect(!pdu.isEmpty, "it sends nothing")
    }
    guard case .response = read else { return }
    asked -= 1
    expect(asked >= 0, "an answer to nothing")
  }

  func waitUntilWritable(until _: LoopClock.Instant?) async throws -> Bool { true }

  func close() { isOpen = false }
}
