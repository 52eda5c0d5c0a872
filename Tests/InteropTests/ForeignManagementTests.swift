import BluetoothLEFirmware
import BluetoothLESimulator
import Foundation
import Glibc
import TestSupport

/// MCUmgr beside independent implementations from PyPI: the messages of smp, and the clients smpclient and mcumgr-toolkit.
@Suite(.serialized, .timeLimit(.minutes(15))) struct ForeignManagementTests {
  private static func python(_ script: String, _ arguments: String...) throws -> RunningProcess {
    let python = try #require(ProcessInfo.processInfo.environment["BLECTL_PYTHON"], "run scripts/test")
    let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(script).path
    return try RunningProcess([python, path] + arguments)
  }

  /// A device that passes requests on to smp_server.py.
  @LoopActor
  private final class Device {
    let process: RunningProcess
    /// What smp took the requests for.
    private(set) var requests: Set<String> = []
    let client: Client
    private let channel: MemoryChannel
    private var attributes: PlainServer
    private var request: [UInt8] = []

    init() throws {
      let characteristic = try #require(UUID("da2e7828-fbce-4e01-ae9e-261174997c48"))
      attributes = PlainServer([
        PlainServer.Item(handle: 1, type: UUID(0x2800), value: ManagementClient.service.attBytes),
        PlainServer.Item(handle: 2, type: UUID(0x2803), value: [0x14, 3, 0] + characteristic.attBytes),
        PlainServer.Item(handle: 3, type: characteristic, value: []),
        PlainServer.Item(handle: 4, type: UUID(0x2902), value: [0, 0]),
      ])
      attributes.largestMTU = 247
      process = try python("smp_server.py")
      let (near, far) = MemoryChannel.pair()
      (client, channel) = (Client(near), far)
      far.handler = { [weak self] in if case .received(let pdu) = $0 { self?.receive(pdu) } }
    }

    private func receive(_ pdu: [UInt8]) {
      if let answer = attributes.answer(pdu) { channel.send(answer) }
      guard pdu.starts(with: [0x52, 3, 0]) else { return }
      request += pdu[3...]
      guard request.count >= 8, request.count >= 8 + Int(request[2]) << 8 + Int(request[3]) else { return }
      process.send(line: Hex.encode(request))
      request = []
      guard let record = process.nextLine(where: { _ in true }).flatMap({ try? Record($0) }) else {
        Issue.record("\(process.wait().errors)")
        return channel.close()
      }
      requests.insert(record.string("request") ?? "")
      // Each answer fits one value.
      channel.send([0x1B, 3, 0] + (Hex.decode(record.string("answer") ?? "") ?? []))
    }
  }

  @Test func smpReadsOurRequestsAndWeReadItsAnswers() async throws {
    try await onLoop {
      let device = try Device()
      let client = try await ManagementClient(device.client)
      #expect(try await client.echo("é") == "é")
      #expect(try await client.parameters()?.bufferCount == 4)
      let bootloader = try await client.bootloader()
      #expect(bootloader.name == "MCUboot" && bootloader.mode == .swapOffset && bootloader.forbidsDowngrade)
      #expect(try await client.applicationInfo() == "Zephyr")
      #expect(try await client.slotInfo() == nil)
      let image = ImageSlots.image(version: ImageVersion(major: 2, minor: 0, revision: 0, build: 7), size: 10_000)
      try await client.upload(image[...], image: 1)
      #expect(client.joinsParts == true)
      let hash = try #require(ImageFile(image).hash)
      #expect(try await client.setState(hash: hash, confirm: false).images.last?.isPending == true)
      let images = try await client.setState(hash: hash, confirm: true).images
      #expect(images.map(\.version) == ["1.0.0", "2.0.0+7"] && images.map(\.isActive) == [true, false] && images.last?.hash == hash)
      #expect(try await client.images().images == images)
      try await client.erase()
      // smp does not know code 34 of the image group, nor general codes above 13 but for 256.
      for (form, group, codes) in [(100, UInt16?(1), 1...33), (200, nil, 1...13)] {
        for code in codes {
          let refusal = ManagementRefusal(group: group, code: code)
          await #expect(throws: ManagementError.refused(.erase, refusal, reason: group == nil ? "no" : nil)) {
            try await client.erase(slot: form + code)
          }
        }
      }
      try await client.reset(bootMode: 1)
      #expect(device.requests.count == 10)
      device.process.finish()
    }
  }

  private static let address = "D1:00:00:00:00:31"
  private static let devices = """
    [{"name": "UpdateMe", "address": "\(address)/random", "advertisement": {"flags": 6, "name": "UpdateMe"}, "mtu": 247,
      "interval_ms": 40, "update": {"mcumgr": {"buffer_size": 1024, "mode": 9, "reset_ms": 50, "boot_ms": 100, "page_erase_ms": 1}}}]
    """

  /// A foreign client updates the simulated device, and then ours lists the images. The update of mcumgr-toolkit ends with the reset.
  @Test(arguments: [("smpclient", ["2.0.1.7 active confirmed", "1.0.0"]), ("toolkit", ["2.0.1.7 active", "1.0.0 confirmed"])])
  func aForeignClientUpdatesOurDevice(_ client: String, _ images: [String]) throws {
    let path = TemporaryPath()
    let air = try Blectl.start(
      ["sim", "--stay", "--json", "--listen", "unix:\(path.path)", try TemporaryFolder.file(Self.devices)], hasInput: false)
    let address = try #require(try air.nextLine { $0.contains("listening") }.map { try Record($0) }?.string("address"))
    let image = ImageSlots.image(version: ImageVersion(major: 2, minor: 0, revision: 1, build: 7), size: 50_000)
    let run = try Self.python("update_clients.py", client, address, Self.address, try TemporaryFolder.file(image)).finish()
    let theirs = try #require(run.status == 0 ? run.records.last : nil, "\(run.errors)")
    if client == "toolkit" {
      #expect(theirs.strings("steps").contains("Activating new firmware ..."))
    } else {
      #expect(theirs.strings("states") == ["1.0.0 active confirmed", "2.0.1.7", "1.0.0 active confirmed", "2.0.1.7 pending"] + images)
    }
    let ours = try Blectl.run(["firmware", Self.address, "list", "--json"], adapter: address, virtual: false).records.map { record in
      ([record.string("version") ?? ""] + ["active", "confirmed", "pending"].filter { record.bool($0) == true }).joined(separator: " ")
    }
    #expect(ours == images.map { $0.replacingOccurrences(of: "2.0.1.7", with: "2.0.1+7") })
    #expect(air.end(by: SIGTERM).status == 143)
  }
}
