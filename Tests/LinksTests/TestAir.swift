import BluetoothLESimulator

/// A simulated air and our host in the same process.
@LoopActor
struct TestAir {
  let central: HostCentral

  /// - Parameter text: Peripherals as in a file of `sim:FILE` (default: the presets).
  init(_ text: String = BuiltInDevices.text) async throws {
    let air = Air()
    air.add(try PeripheralFile.parse(Array(text.utf8), name: "test"))
    central = HostCentral(VirtualController(air: air), name: "sim")
    try await central.start()
  }

  /// Finds a device, connects, runs `body`, and disconnects.
  func withPeer(_ name: String, _ body: @LoopActor (any Link, Client) async throws -> Void) async throws {
    let match = try await central.find(PeerSearch(.name(name), takesFirst: true))
    let link = try await central.connect(match.peer, timeout: .seconds(5))
    let client = Client(link.channel)
    try await client.exchangeMTU()
    do { try await body(link, client) } catch {
      await link.disconnect()
      throw error
    }
    await link.disconnect()
    client.close()
  }
}
