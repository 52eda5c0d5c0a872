import TestSupport

@testable import BluetoothLESimulator

/// The conversations of ServerVectorTests with a served device, over a link of two hosts.
@Suite(.timeLimit(.minutes(15))) struct ServedVectorTests {
  @Test(
    .enabled(if: Vectors.folder != nil, "BLECTL_VECTORS names no folder: the 94 conversations were not held with a served device"), .onLoop)
  @LoopActor func everyCaseOverALink() async throws {
    let file = try ServerConversations.all()
    for entry in file.cases {
      var description = PeripheralDescription(
        name: "T", address: PeerAddress(Address(rawValue: 0xD1_00_00_00_00_01), .random), database: try file.database(of: entry))
      description.mtu = 512
      let served = try await ServedHost(description)
      let phone = try await served.phone(1)
      let central = RawCentral(try await phone.connect(served.address, timeout: .seconds(5)))
      for (index, step) in entry.pdus.enumerated() {
        let isAnswered = index + 1 < entry.pdus.count && entry.pdus[index + 1].dir == "s2c"
        switch step.dir {
        case "c2s":
          central.send(step.hex)
          if !isAnswered { #expect(try await central.next() == nil, "\(entry.id): an answer to \(step.hex)") }
        case "s2c":
          // The application sends unsolicited PDUs.
          let value: [UInt8] = [1, 2, 3]
          if step.hex.hasPrefix("1b") { #expect(try served.device.perform(.notify(try Selector("0x0003"), value)) == 1) }
          if step.hex.hasPrefix("1d") { #expect(try served.device.perform(.indicate(try Selector("0x0003"), value)) == 1) }
          #expect(try await central.next() == step.hex, "\(entry.id)")
        default: #expect(try await central.next() == nil, "\(entry.id): an answer where there is none")
        }
      }
      #expect(try await central.next() == nil && central.end == nil, "\(entry.id)")
      try await served.end([phone])
    }
  }
}
