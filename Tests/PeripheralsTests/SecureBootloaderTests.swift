import BluetoothLEFirmware
import BluetoothLESimulator
import TestSupport

/// Tests the simulated device with Nordic Secure DFU, as the bootloader of nRF5 SDK 17 behaves.
@Suite(.timeLimit(.minutes(15))) struct SecureBootloaderTests {
  private static let image = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 * 5 + $0 >> 8) }

  @LoopActor
  private static func client(_ keys: String = "") throws -> UpdateTestClient {
    try UpdateTestClient(UpdateTestClient.device(#""dfu": {\#(keys)}"#))
  }

  /// Makes an init packet of an application: version 2, hardware 52, SoftDevice 0x0100, signed, unless `fields` says otherwise.
  static func packet(
    type: UInt8 = 0, version: UInt8 = 2, hardware: UInt8 = 52, softdevice: [UInt8] = [0x80, 2], size: Int = image.count,
    hashType: UInt8 = 3,
    hash: [UInt8]? = nil, signature: UInt8? = 0
  ) -> [UInt8] {
    func field(_ number: UInt8, _ bytes: [UInt8]) -> [UInt8] {
      [number << 3 | 2, UInt8(bytes.count & 0x7F | 0x80), UInt8(bytes.count >> 7)] + bytes
    }
    func varint(_ number: Int) -> [UInt8] { [UInt8(number & 0x7F | 0x80), UInt8(number >> 7 & 0x7F | 0x80), UInt8(number >> 14)] }
    let key: UInt8 = type == 1 ? 5 : type == 2 ? 6 : 7
    var command = [8, version, 16, hardware] + field(3, softdevice) + [32, type, key << 3] + varint(size)
    command += field(8, [8, hashType] + field(2, hash ?? SHA2.sha256.hash(image).reversed()))
    let whole = [8, 1] + field(2, command)
    return signature.map { field(2, field(1, whole) + [16, $0] + field(3, [UInt8](repeating: 7, count: 64))) } ?? field(1, whole)
  }

  @Test func anUpdateFromTheApplication() async throws {
    try await onLoop {
      var client = try Self.client(#""buttonless": "no_bonds", "boot_ms": 500"#)
      #expect(client.request("07") == "200702" && client.request("01") == "200101")
      client = try await client.again()
      #expect(client.peripheral.address.description == "D1:00:00:00:00:00/random")
      #expect(Hex.encode(client.peripheral.advertising.data) == "020106080944667554617267030359fe")
      let packet = Self.packet()
      #expect(client.request("0601") == "600601" + "00020000" + "0000000000000000")
      #expect(client.object(1, packet[...]) == "600401")
      #expect(client.request("0602") == "600601" + "00100000" + "0000000000000000")
      for start in stride(from: 0, to: Self.image.count, by: 4096) {
        #expect(client.object(2, Self.image[start..<min(start + 4096, Self.image.count)]) == "600401")
        var crc = CRC32()
        crc.add(Self.image[..<min(start + 4096, Self.image.count)])
        let state = UpdateTestClient.number(min(start + 4096, Self.image.count)) + UpdateTestClient.number(Int(crc.value))
        #expect(client.request("03") == "600301" + state, "the CRC runs over the image")
      }
      client = try await client.again()
      let device = try #require(client.peripheral.bootloader)
      #expect(client.peripheral.address.description == "D1:00:00:00:00:FF/random")
      #expect(device.application == Self.image && device.applicationVersion == 2 && !device.isActive)
      #expect(device.ledger.received == Self.image.count && device.ledger.repeated == 0)
    }
  }

  /// The application gives the bootloader a name of 1–20 bytes.
  @Test func theBootloaderTakesAName() async throws {
    try await onLoop {
      var client = try Self.client(#""buttonless": "no_bonds""#)
      let long = String(repeating: "41", count: 21)
      for wrong in ["02", "0200", "020244", "020144" + "66", "0215" + long] { #expect(client.request(wrong) == "200205", "\(wrong)") }
      #expect(client.request("0205" + "4466753031") == "200201" && client.request("01") == "200101")
      client = try await client.again()
      #expect(Hex.encode(client.peripheral.advertising.data) == "020106" + "0609" + "4466753031" + "030359fe")
    }
  }

  /// Answers to init packets that the bootloader refuses.
  @Test(arguments: [
    (packet(signature: nil), "0b08"), (packet(signature: 1), "0b0b"), (packet(hashType: 1), "0b09"), (packet(hardware: 51), "0b06"),
    (packet(softdevice: [0xA3, 2]), "0b07"), (packet(version: 0), "0b05"), (packet(type: 2, version: 1), "0b05"),
    (packet(size: 500_000), "0b0d"), (packet(size: 0), "03"), (packet(type: 9), "0b04"), ([0x0A, 2, 8, 0], "0b03"), ([0xFF], "05"),
    (packet(softdevice: [0xFE, 0xFF, 3]), "01"), (packet(version: 1), "01"), (packet(type: 2), "01"),
  ]) func initPackets(_ packet: [UInt8], _ result: String) async throws {
    try await onLoop {
      let client = try Self.client()
      #expect(client.object(1, packet[...]) == "6004" + result)
      #expect(client.request("010200100000") == (result == "01" ? "600101" : "600108"))
    }
  }

  @Test func refusedRequests() async throws {
    try await onLoop {
      let client = try Self.client()
      #expect(client.request("04") == "600405" && client.request("0103ff000000") == "600107" && client.request("01") == "600103")
      #expect(client.request("0604") == "600607" && client.request("55") == "605502" && client.request("010100000000") == "600103")
      #expect(client.request("010101020000") == "600104" && client.request("04") == "600408")
      _ = client.object(1, Self.packet()[...])
      #expect(
        client.request("010200200000") == "600104" && client.request("010201000000") == "600103"
          && client.request("010200000000") == "600103")
      // A packet that does not fit is dropped, and the CRC tells.
      #expect(client.request("010200100000") == "600101" && client.request("04") == "600408")
      client.packets([UInt8](repeating: 0, count: 5000)[...])
      #expect(client.request("03").hasPrefix("600301" + UpdateTestClient.number(16 * 244 + 120)))
      #expect(client.peripheral.bootloader?.ledger.repeated == 4 * 244)
    }
  }

  @Test func aWrongHash() async throws {
    try await onLoop {
      let client = try Self.client()
      let data = [UInt8](repeating: 1, count: 100)
      #expect(client.object(1, Self.packet(size: 100)[...]) == "600401")
      #expect(client.object(2, data[...]) == "60040b0c")
      #expect(client.request("0602").hasSuffix("0000000000000000"))
    }
  }

  @Test func receiptsAndForcedErrors() async throws {
    try await onLoop {
      let client = try Self.client(#""refuses": {"object": "data", "result": 11, "extended": 14, "times": 1}"#)
      #expect(client.request("020300") == "600201")
      #expect(client.object(1, Self.packet()[...]) == "600401")
      #expect(client.request("010200100000") == "600101")
      client.packets(Self.image[..<2000])
      #expect(client.client.take().count == 3, "a receipt for every three of nine packets")
      client.packets(Self.image[2000..<4096])
      #expect(client.request("04") == "60040b0e" && client.request("04") == "600401")
    }
  }

  /// Executed objects survive a power cut. The current one is lost with its link only if the power goes.
  @Test func powerCutsAnywhere() async throws {
    try await onLoop {
      for cut in 0...11 {
        var client = try Self.client(#""buttonless": "no_bonds", "page_erase_ms": 1"#)
        let device = try #require(client.peripheral.bootloader)
        if cut < 6 { device.ledger.powerCutAfterPages = cut + 1 } else { device.ledger.powerCutAfterBytes = (cut - 5) * 1666 }
        for _ in 0..<3 where device.applicationVersion == 1 {
          if !device.isActive {
            #expect(client.request("01") == "200101")
            client = try await client.again()
          }
          let packet = Self.packet()
          if client.request("0601").suffix(16).prefix(8) == "00000000" {
            _ = client.object(1, packet[...])
          } else {
            _ = client.request("04")
          }
          var (offset, before) = (device.executed, device.executed)
          while offset < Self.image.count, client.peripheral.isRunning {
            let bytes = Self.image[offset..<min(offset + 4096, Self.image.count)]
            client.create(2, bytes.count)
            try await EventLoop.shared.sleep(for: .milliseconds(20))
            guard client.peripheral.isRunning else { break }
            #expect(client.client.take().last?.hasSuffix("600101") == true)
            client.packets(bytes)
            guard client.peripheral.isRunning else { break }
            #expect(client.request("04") == "600401")
            (before, offset) = (offset, device.executed)
            #expect(offset == before + bytes.count)
          }
          try await EventLoop.shared.sleep(for: .seconds(1))
          client = try await client.again()
          #expect(!device.isActive && device.application.count == (device.applicationVersion == 1 ? 4096 : Self.image.count), "cut \(cut)")
        }
        #expect(device.application == Self.image, "cut \(cut)")
        #expect(device.ledger.powerCutAfterPages == nil && device.ledger.powerCutAfterBytes == nil, "cut \(cut)")
        #expect(device.ledger.received <= Self.image.count + 4096, "cut \(cut)")
      }
    }
  }

  /// Without the second bank, the bootloader waits for the rest of the update. With a bond, its address stays.
  @Test func oneBankAndBonds() async throws {
    try await onLoop {
      var client = try Self.client(#""banks": 1, "buttonless": "no_bonds""#)
      client.peripheral.bootloader?.enterBootloader()
      client = try await client.again()
      #expect(client.object(1, Self.packet()[...]) == "600401" && client.object(2, Self.image[..<4096]) == "600401")
      client.client.drop()
      client = try UpdateTestClient(client.peripheral)
      #expect(client.request("0602") == "600601" + "00100000" + "00100000" + client.request("03").suffix(8))
      client.peripheral.powerCut()
      client = try await client.again()
      #expect(client.peripheral.bootloader?.isActive == true && client.peripheral.bootloader?.executed == 4096)
      let bonds = try UpdateTestClient.device(#""dfu": {"buttonless": "bonds"}"#)
      let plain = PeripheralTestClient(bonds)
      let button = "8ec90004-f315-4f60-9fb8-838830daea50"
      #expect(plain.ask("12" + bonds.description.hex(button) + "01").hasSuffix("0f"), "it demands encryption")
      bonds.bootloader?.enterBootloader()
      try await EventLoop.shared.sleep(for: .seconds(2))
      #expect(bonds.address.description == "D1:00:00:00:00:FF/random" && bonds.description.handle(button) == 0)
    }
  }

  /// A SoftDevice takes the place of the application, and the bootloader waits for the next part.
  @Test func aSoftdevice() async throws {
    try await onLoop {
      var client = try Self.client()
      let data = Array(Self.image.prefix(1000))
      let packet = Self.packet(type: 1, softdevice: [0x80, 2, 0xA3, 2], size: 1000, hash: SHA2.sha256.hash(data).reversed())
      #expect(client.object(1, packet[...]) == "600401" && client.object(2, data[...]) == "600401")
      client = try await client.again()
      let device = try #require(client.peripheral.bootloader)
      #expect(device.isActive && device.softdevice == 0x0123 && device.application.isEmpty)
      #expect(client.object(1, Self.packet()[...]) == "60040b07", "the old application does not fit it")
    }
  }
}
