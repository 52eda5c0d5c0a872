import BluetoothLEFirmware
import BluetoothLESimulator
import TestSupport

/// Tests the simulated device with MCUmgr, as Zephyr and MCUboot behave.
@Suite(.timeLimit(.minutes(15))) struct ManagementDeviceTests {
  private static let image = ImageSlots.image(version: ImageVersion(major: 2, minor: 0, revision: 3, build: 4), size: 10_000)

  @LoopActor
  private static func client(_ keys: String = "") throws -> UpdateTestClient {
    try UpdateTestClient(UpdateTestClient.device(#""mcumgr": {"slot_size": 32768 \#(keys)}"#))
  }

  @Test func operatingSystem() async throws {
    try await onLoop {
      let client = try Self.client(#", "mode": 9, "no_downgrade": true, "buffer_size": 1024, "buffers": 3"#)
      #expect(try client.ask(0, 0, write: true, .map(["d": .text("abc")])) == .map(["r": .text("abc")]))
      #expect(try client.ask(0, 6) == .map(["buf_size": .integer(1024), "buf_count": .integer(3)]))
      #expect(try client.ask(0, 8) == .map(["bootloader": .text("MCUboot")]))
      #expect(try client.ask(0, 8, .map(["query": .text("mode")])) == .map(["mode": .integer(9), "no-downgrade": .bool(true)]))
      #expect(try client.ask(0, 8, .map(["query": .text("x")])) == .map(["err": .map(["group": .integer(0), "rc": .integer(3)])]))
      #expect(try client.ask(0, 2) == .map(["rc": .integer(8)]))
      #expect(try client.ask(64, 0) == .map(["rc": .integer(8)]))
      #expect(try client.ask(0, 0, write: true, .array([])) == .map(["rc": .integer(3)]))
      #expect(try client.ask(0, 0, version: 2) == .map(["rc": .integer(13)]))
    }
  }

  @Test func versionsAndStates() async throws {
    try await onLoop {
      var client = try Self.client()
      #expect(try client.list() == ["1.0.0 active confirmed"])
      try client.upload(Self.image)
      #expect(try client.list() == ["1.0.0 active confirmed", "2.0.3.4"])
      #expect(try client.mark(Self.image)["images"] != nil)
      #expect(try client.list() == ["1.0.0 active confirmed", "2.0.3.4 pending"])
      #expect(try client.piece(Self.image, at: 0) == nil, "the slot is in use")
      client = try await client.reset()
      #expect(try client.list() == ["2.0.3.4 active", "1.0.0 confirmed"])
      #expect(try client.ask(1, 5, write: true)["err"]?["rc"]?.integer == 9)
      client = try await client.reset()
      #expect(try client.list() == ["1.0.0 active confirmed", "2.0.3.4"], "nobody confirmed it")
      _ = try client.mark(Self.image)
      client = try await client.reset()
      #expect(try client.list(client.ask(1, 0, write: true, .map(["confirm": .bool(true)]))).first == "2.0.3.4 active confirmed")
      client = try await client.reset()
      #expect(try client.list().first == "2.0.3.4 active confirmed")
      let device = try #require(client.peripheral.management)
      #expect(device.ledger.restarts == 4)
      // Power that goes in the middle of a revert does not swap the first pages twice.
      try client.upload(ImageSlots.image(version: ImageVersion(major: 3, minor: 0, revision: 0), size: 20_000))
      _ = try client.mark(ImageSlots.image(version: ImageVersion(major: 3, minor: 0, revision: 0), size: 20_000))
      client = try await client.reset()
      device.ledger.powerCutAfterPages = device.ledger.pages + 6
      client = try await client.reset()
      #expect(try device.ledger.restarts == 7 && client.list() == ["2.0.3.4 active confirmed", "3.0.0"])
    }
  }

  @Test(arguments: [(2, "2.0.3.4 active confirmed"), (1, "2.0.3.4 active"), (9, "2.0.3.4 active")])
  func modes(_ mode: Int, _ running: String) async throws {
    try await onLoop {
      #expect(try Self.client(#", "mode": 0"#).piece(Self.image, at: 0) == nil, "it has one slot")
      var client = try Self.client(#", "mode": \#(mode)"#)
      try client.upload(Self.image)
      #expect(try client.mark(Self.image)["images"] != nil)
      client = try await client.reset()
      #expect(try client.list().contains(running))
      client = try await client.reset()
      #expect(client.peripheral.management?.images.running?.version.major == (mode == 2 ? 2 : 1))
    }
  }

  @Test func anImageWithAWrongHashStays() async throws {
    try await onLoop {
      var (client, image) = (try Self.client(), Self.image)
      image[500] ^= 1
      try client.upload(image)
      _ = try client.mark(image)
      client = try await client.reset()
      #expect(try client.list() == ["1.0.0 active confirmed", "2.0.3.4"])
    }
  }

  /// The codes of group 1 for requests that the device refuses.
  @Test func refusedRequests() async throws {
    try await onLoop {
      let client = try Self.client()
      @LoopActor func code(_ command: UInt8, _ body: CBOR) throws -> Int? {
        try client.ask(1, command, write: true, body)["err"]?["rc"]?.integer
      }
      func first(_ data: [UInt8], _ length: Int = 10_072) -> CBOR {
        .map(["len": .integer(length), "off": .integer(0), "data": .bytes(data)])
      }
      let start = Array(Self.image.prefix(200))
      #expect(try code(1, first(Array(start.prefix(31)))) == 22)
      #expect(try code(1, first([UInt8](repeating: 0, count: 200))) == 23)
      #expect(try code(1, .map(["off": .integer(0), "data": .bytes(start)])) == 21)
      #expect(try code(1, first(start, 40_000)) == 30)
      #expect(try client.ask(1, 1, write: true, first(start))["off"] == .integer(200))
      #expect(try code(1, .map(["off": .integer(200), "data": .bytes([UInt8](repeating: 0, count: 250))])) == nil)
      #expect(try code(0, .map(["hash": .bytes([1])])) == 8)
      #expect(try code(0, .map(["confirm": .bool(false)])) == 24)
      #expect(try code(5, .map(["slot": .integer(7)])) == 14)
      try client.upload(Self.image)
      let running = try #require(client.peripheral.management?.images.running)
      #expect(try client.mark(running.bytes)["err"]?["rc"]?.integer == 33)
      _ = try client.mark(Self.image)
      #expect(try code(1, first(start)) == 9)
      #expect(try client.mark(running.bytes, confirm: true)["err"]?["rc"]?.integer == 28)
    }
  }

  /// Upload state is in RAM. A lost link leaves it, a power cut does not.
  @Test func resuming() async throws {
    try await onLoop {
      var client = try Self.client()
      #expect(try client.piece(Self.image, at: 0) == 256)
      #expect(try client.piece(Self.image, at: 256) == 512)
      #expect(try client.piece(Self.image, at: 1024) == 512, "a wrong offset is answered with the right one")
      client.client.drop()
      client = try UpdateTestClient(client.peripheral)
      #expect(try client.piece(Self.image, at: 0) == 512)
      #expect(try client.piece(Self.image, at: 0, sha: [1]) == 256, "another file")
      client.peripheral.powerCut()
      #expect(!client.peripheral.isRunning && !client.peripheral.advertising.isOn)
      client = try await client.again()
      #expect(try client.piece(Self.image, at: 256) == 0)
      try client.upload(Self.image)
      #expect(try client.piece(Self.image, at: 0) == Self.image.count, "the slot holds it already")
      #expect(client.peripheral.management?.ledger.repeated == 256 * 4)
    }
  }

  @Test func messagesAndBuffers() async throws {
    try await onLoop {
      let echo = { (count: Int) in
        UpdateTestClient.message(0, 0, write: true, sequence: 7, CBOR.map(["d": .text(String(repeating: "x", count: count))]).encoded)
      }
      let whole = try Self.client(#", "request_ms": 10"#)
      whole.send(echo(300), size: 100)
      try await EventLoop.shared.sleep(for: .milliseconds(11))
      #expect(whole.messages().map(\.count) == [314], "reassembled")
      whole.send(echo(1) + [0])
      try await EventLoop.shared.sleep(for: .milliseconds(11))
      #expect(whole.messages().isEmpty, "more than the header says")
      // A message above the buffer is dropped. The end of the subscription clears what its second write began.
      whole.send(echo(400))
      for bits in ["0000", "0100"] {
        whole.client.write("12" + whole.peripheral.description.configuration("da2e7828-fbce-4e01-ae9e-261174997c48") + bits)
      }
      _ = whole.client.take()
      for _ in 0..<6 { whole.send(echo(1)) }
      try await EventLoop.shared.sleep(for: .milliseconds(100))
      #expect(whole.messages().count == 3, "the first answer takes a buffer, too")
      let single = try Self.client(#", "reassembly": false, "request_ms": 1"#)
      single.send(echo(300))
      try await EventLoop.shared.sleep(for: .milliseconds(10))
      // Each write is a message: the first lacks bytes, and the second has a version that nobody knows.
      #expect(single.messages().map { Hex.encode($0) } == ["0b00000500000700a162726309", "1900000578787878a16272630d"])
      for _ in 0..<6 { single.send(echo(1)) }
      try await EventLoop.shared.sleep(for: .milliseconds(10))
      #expect(single.messages().count == 3)
    }
  }

  /// A power cut while pages are erased, written or swapped leaves a device that runs the old or the new image, and takes the update.
  @Test func powerCutsAnywhere() async throws {
    try await onLoop {
      for cut in 1...13 {
        var client = try Self.client(#", "page_erase_ms": 5, "page_swap_ms": 5"#)
        let device = try #require(client.peripheral.management)
        if cut < 12 { device.ledger.powerCutAfterPages = cut } else { device.ledger.powerCutAfterBytes = (cut - 12) * 4096 + 100 }
        var isDone = false
        for _ in 0..<3 where !isDone {
          var offset: Int? = 0
          while let at = offset, at < Self.image.count, client.peripheral.isRunning {
            offset = try client.piece(Self.image, at: at)
            if offset == nil {
              try await EventLoop.shared.sleep(for: .milliseconds(200))
              offset = client.messages().last.flatMap { try? CBOR(decoding: $0[8...])["off"]?.integer }
            }
          }
          if offset == Self.image.count {
            _ = try client.mark(Self.image, confirm: true)
            client = try await client.reset()
          } else {
            client = try await client.again()
          }
          #expect(device.images.running?.version.major == (offset == Self.image.count ? 2 : 1))
          isDone = offset == Self.image.count
        }
        #expect(isDone && device.ledger.powerCutAfterPages == nil && device.ledger.powerCutAfterBytes == nil, "cut \(cut)")
        #expect(try client.list() == ["2.0.3.4 active confirmed", "1.0.0"], "cut \(cut)")
      }
    }
  }

  @Test func hostileClients() async throws {
    try await onLoop {
      let client = try Self.client()
      let upload = CBOR.map(["len": .integer(10_072), "off": .integer(0), "data": .bytes(Array(Self.image.prefix(64)))]).encoded
      let seeds = [UpdateTestClient.message(1, 1, write: true, upload), UpdateTestClient.message(1, 0, write: false, [0xA0])]
      hostile(seeds, mutations: 5_000) { client.send($0) }
      try await EventLoop.shared.sleep(for: .seconds(10))
      #expect(client.peripheral.management?.images.running?.version.major == 1)
    }
  }
}
