import BluetoothLESimulator
import TestSupport

extension FuzzTarget {
  /// Lines that control a device. A parsed line acts on a device.
  static let control = FuzzTarget(
    "control",
    seeds: [
      "set ffe1 0100", "notify 0x000c 57 as u8", "indicate ffe1", "disconnect 0x13", "advertise off", "fault ffe1 error 0x0e 2 times",
      "fault ffe1 delay 2s", "fault ffe1 silent 1 time", "fault ffe1 drop", "fault ffe1 truncate 1", "fault ffe1 raw 0b01", "fault mtu 12",
      "fault refuse pairing repeated_attempts", "fault forget bonds", "fault disconnect on write ffe1", "fault off",
      "set ffe1@2901 'a b' as utf8",
    ].map { Array($0.utf8) },
    words: [
      "set", "notify", "indicate", "disconnect", "advertise", "on", "off", "fault", "error", "delay", "silent", "drop", "truncate", "raw",
      "mtu", "refuse", "pairing", "forget", "bonds", "write", "times", " as ", "u8", "f64be", "utf8", "hex", "ffe0/ffe1@2902", "#", "'",
      "\"", "\\", "1h", "9223372036854775808ns", "0xFFFFFFFFFFFFFFFFF", "1000001",
    ]
  ) { bytes in
    let radio = FuzzRadio()
    guard let description = examples.first else { return expect(false, "no example") }
    let device = ServedDevice(description, on: radio)
    await VirtualTime.run {
      try await device.start()
      let central = FuzzCentral(1)
      radio.onCentral?(central)
      for line in bytes.split(separator: UInt8(ascii: "\n")).prefix(16) {
        // A correct line remains one when a device refuses it.
        guard let line = try? PeripheralLineParser.parse(String(decoding: line, as: UTF8.self)) else { continue }
        _ = try? device.perform(line)
        for pdu in [[0x0A, 0x0C, 0], [0x12, 0x0C, 0, 1]] as [[UInt8]] { central.deliver(pdu) }
      }
      try await EventLoop.shared.sleep(for: .seconds(4))
    }
    await device.end()
    expect(device.device.connectionCount == 0, "an ended device serves")
  }

  /// PDUs of up to four centrals of a served device (each after its length), pauses, changes of security, lost links.
  static let served = FuzzTarget("served", seeds: conversations) { bytes in
    var tape = Tape(bytes)
    let radio = FuzzRadio()
    let device = ServedDevice(examples[Int(tape.byte()) % examples.count], on: radio)
    await VirtualTime.run {
      try await device.start()
      let centrals = (0..<4 as Range<UInt64>).map { FuzzCentral($0) }
      for central in centrals { radio.onCentral?(central) }
      for _ in 0..<96 where !tape.isAtEnd {
        let choice = tape.byte()
        let central = centrals[Int(choice & 3)]
        switch choice {
        case 0..<0xF0: central.deliver(tape.piece())
        case ..<0xF4: central.securityLevel = central.securityLevel == .unencrypted ? .encrypted : .unencrypted
        case ..<0xFC: try await EventLoop.shared.sleep(for: .milliseconds(1 << Int(tape.byte() % 16)))
        default: central.lose()
        }
      }
    }
    await device.end()
    expect(device.device.connectionCount == 0, "an ended device serves")
    expect(device.memory.centrals.count <= 4, "it remembers \(device.memory.centrals.count) centrals")
  }

  private static let conversations: [[UInt8]] = [
    [0, 3, 0x0A, 3, 0, 1, 3, 0x02, 0, 2, 2, 7, 0x08, 1, 0, 0xFF, 0xFF, 0, 0x28, 3, 5, 0x12, 9, 0, 2, 0, 0xF1, 0xF9, 0, 1, 0x1E, 0xFF],
    [0, 5, 0x52, 0x0C, 0, 1, 2, 0xF8, 0xF4, 0xFC, 3, 1, 0x01, 0xFD],
  ]

  private static let examples = files("man/examples", [".json"]).flatMap { (try? PeripheralFile.parse($0, name: "seed")) ?? [] }
}

/// A host in memory.
@LoopActor
private final class FuzzRadio: PeripheralRole {
  let advertisedAddress: PeerAddress? = PeerAddress(Address(rawValue: 1), .public)
  let hasSecurityManager = false
  var onFailure: (@LoopActor (any Error) -> Void)?
  private var centrals: [FuzzCentral] = []
  private var handler: (@LoopActor (any CentralLink) -> Void)?

  var onCentral: (@LoopActor (any CentralLink) -> Void)? {
    get {
      { [weak self] link in
        if let central = link as? FuzzCentral { self?.centrals.append(central) }
        self?.handler?(link)
      }
    }
    set { handler = newValue }
  }

  func advertise(_ advertising: Advertising?) async throws {}
  func end() async { for central in centrals { central.lose() } }
}

/// A link of a central, and its channel. Each request may get one answer.
@LoopActor
private final class FuzzCentral: CentralLink, Channel {
  let peer: PeerAddress
  let manager: SecurityManager? = nil
  var channel: any Channel { self }
  var onParameters: (@LoopActor (LinkParameters) -> Void)?
  var securityLevel = SecurityLevel.unencrypted { didSet { onSecurityLevel?(securityLevel) } }
  var onSecurityLevel: (@LoopActor (SecurityLevel) -> Void)?
  var handler: (@LoopActor (ChannelEvent) -> Void)?
  private var asked = 0
  private var isOpen = true

  init(_ number: UInt64) { peer = PeerAddress(Address(rawValue: 0xC0_00_00_00_00_00 + number), .random) }

  func deliver(_ pdu: [UInt8]) {
    guard isOpen else { return }
    switch pdu.first.map({ ATTOpcode(rawValue: $0) }) {
    case .request, .unknown: asked += 1
    default: break
    }
    handler?(.received(pdu))
  }

  func lose() {
    guard isOpen else { return }
    isOpen = false
    handler?(.closed(LinkLost("gone")))
  }

  // MARK: Channel

  var unacknowledged: Int? { 0 }

  func send(_ pdu: [UInt8]) {
    guard isOpen, let read = try? PDU(parsing: pdu), case .response = read else { return }
    asked -= 1
    expect(asked >= 0, "an answer to nothing")
  }

  func waitUntilWritable(until _: LoopClock.Instant?) async throws -> Bool { true }
  func close() { lose() }

  // MARK: Link

  func parameters() async throws -> LinkParameters { LinkParameters() }
  func requestInterval(_ interval: Duration) async throws -> LinkParameters { LinkParameters() }
  func requestPHY(_ phy: PHY) async throws -> LinkParameters { LinkParameters() }
  func requestDataLength(_ bytes: Int) async throws -> LinkParameters { LinkParameters() }
  func disconnect() async { lose() }
  func disconnect(reason: ControllerErrorCode) async { lose() }
}
