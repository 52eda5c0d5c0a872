import BluetoothLESimulator
import TestSupport

/// Two adapters of one simulator: one serves a device, the other is the central.
struct ServedAir {
  let simulator: Simulator
  let server: Adapter
  let central: Adapter

  init(keys: KeyRing = KeyRing(), centralKeys: KeyRing = KeyRing()) async throws {
    startLoop()
    simulator = .empty
    server = try await Adapter.open(simulator.adapter, keys: keys)
    central = try await Adapter.open(simulator.adapter, keys: centralKeys)
  }

  /// Connects to the device from the other adapter.
  func connect<Value>(_ options: ConnectionOptions = ConnectionOptions(), _ body: (ConnectedDevice) async throws -> Value) async throws
    -> Value
  { try await central.withConnection(to: try await central.find("Own"), options, body) }
}

/// A device with a value of each kind.
struct Own {
  var level = LocalDevice.Characteristic(.batteryLevel, [.read, .notify], value: [60])
  var kept = LocalDevice.Characteristic("ff01", [.read, .write, .writeWithoutResponse])
  var device: LocalDevice { LocalDevice(name: "Own", services: [.init("180f", [level]), .init("ff00", [kept])]) }
}

/// Takes the next event as text.
func next(_ events: inout LocalDevice.Events.Iterator) async throws -> String {
  switch try await events.next() {
  case .connected: "connected"
  case .read(let item, let value, _): "read \(item) \(value)"
  case .written(let item, let value, _): "wrote \(item) \(value)"
  case .subscribed(let item, _): "subscribed \(item)"
  case .unsubscribed(let item, _): "unsubscribed \(item)"
  case .paired(_, let level): "paired \(level)"
  case .disconnected(_, let error): "disconnected \(error.reason)"
  case nil: "end"
  }
}

@Suite(.timeLimit(.minutes(15))) struct ServeTests {
  @Test func eventsTellWhatACentralDoes() async throws {
    let (air, own) = (try await ServedAir(), Own())
    try await air.server.serve(own.device) { server in
      var events = server.events.makeAsyncIterator()
      #expect(await server.peripheral?.address == "00:00:5E:00:53:01")
      try await air.connect { device in
        #expect(try await next(&events) == "connected")
        #expect(try await device.characteristic(.batteryLevel).read().bytes == [60])
        #expect(try await next(&events) == "read 2a19 [60]")
        try await device.characteristic("ff01").write([1, 2])
        #expect(try await next(&events) == "wrote ff01 [1, 2]")
        try await device.characteristic("ff01").write([3], by: .command)
        #expect(try await next(&events) == "wrote ff01 [3]")
        #expect(try await server.value(of: own.kept) == [3])
        try await server.set(own.kept, [9])
        #expect(try await device.characteristic("ff01").read().bytes == [9])
        #expect(try await next(&events) == "read ff01 [9]")
        let names = try await device.services().map(\.uuid)
        #expect(names == ["1800", "1801", "180f", "ff00"])
        #expect(try await device.characteristic(.deviceName).read().text == "Own")
      }
      #expect(try await next(&events) == "disconnected disconnected")
      #expect(try await server.connectedCentrals().isEmpty)
    }
  }

  @Test func codeAnswersReadsAndRefusesWrites() async throws {
    let (air, counter) = (try await ServedAir(), Guarded(0))
    var own = Own()
    own.level.onRead = { central in
      #expect(central.address == "00:00:5E:00:53:02")
      let count = counter.withLock {
        $0 += 1; return $0
      }
      if count == 3 { throw BluetoothError.refusal(0x81) }
      return Array(repeating: UInt8(count), count: count == 4 ? 513 : 300)
    }
    own.kept.onWrite = { value, _ in
      // A call of the library takes its time.
      try await wait(1)
      if value != [1] { throw BluetoothError.refusal(0x80) }
    }
    try await air.server.serve(own.device) { server in
      try await air.connect { device in
        let (level, kept) = (try await device.characteristic(.batteryLevel), try await device.characteristic("ff01"))
        // Longer than one packet, and each time another one.
        #expect(try await level.read().bytes == Array(repeating: 1, count: 300))
        #expect(try await level.read().bytes == Array(repeating: 2, count: 300))
        #expect(await reason { _ = try await level.read() } == .refused(0x81))
        #expect(await reason { _ = try await level.read() } == .refused(0x0E))
        #expect(await reason { try await kept.write([2]) } == .refused(0x80))
        #expect(try await server.value(of: own.kept) == [])
        // Commands and requests keep their order.
        for value in [[1], [3]] as [[UInt8]] { try await kept.write(value, by: .command) }
        #expect(try await kept.read().bytes == [1])
        try await kept.write([1])
      }
    }
  }

  @Test func onlySubscribersGetValues() async throws {
    let (air, own) = (try await ServedAir(), Own())
    let other = try await Adapter.open(air.simulator.adapter)
    try await air.server.serve(own.device) { server in
      var events = server.events.makeAsyncIterator()
      #expect(try await server.notify(own.level, [1]).isEmpty)
      try await air.connect { device in
        try await other.withConnection(to: try await other.find("Own")) { second in
          #expect(try await server.connectedCentrals().count == 2)
          let values = try await device.characteristic(.batteryLevel).notifications()
          let reached = try await server.notify(own.level, [2])
          #expect(try await values.first { _ in true }?.bytes == [2] && reached.map(\.address) == ["00:00:5E:00:53:02"])
          // The next call waits for the end of the subscription.
          _ = try await device.services()
          #expect(try await server.subscribers(of: own.level) == [])
          let later = try await second.characteristic(.batteryLevel).notifications()
          #expect(try await server.notify(own.level, [3], to: reached).isEmpty)
          #expect(try await server.value(of: own.level) == [2])
          #expect(await reason { try await server.notify(own.level, Array(repeating: 0, count: 513)) } == .invalidArgument)
          // More than the link takes at once: each call waits for room.
          async let sum = later.prefix(500).reduce(0) { $0 + $1.bytes.count }
          for _ in 0..<500 { try await server.notify(own.level, Array(repeating: 7, count: 400)) }
          #expect(try await sum == 200_000)
        }
      }
      var seen: [String] = []
      while !seen.contains("disconnected disconnected") { seen.append(try await next(&events)) }
      #expect(seen.filter { $0.contains("ubscribed") } == ["subscribed 2a19", "unsubscribed 2a19", "subscribed 2a19", "unsubscribed 2a19"])
    }
  }

  @Test func indicationsWaitForTheirConfirmation() async throws {
    let air = try await ServedAir()
    let item = LocalDevice.Characteristic("ff02", [.indicate])
    try await air.server.serve(LocalDevice(name: "Own", services: [.init("ff00", [item])])) { server in
      try await air.connect { device in
        let values = try await device.characteristic("ff02").notifications()
        let passed = try await elapsed { try await server.notify(item, [5]) }
        #expect(passed > .zero)
        #expect(try await values.first { _ in true }?.isIndication == true)
      }
    }
  }

  @Test func theEndStopsAdvertisingAndDisconnects() async throws {
    struct Mistake: Error {}
    // The central must have a whole link, because it connects again after half of one.
    func end(of device: ConnectedDevice) async throws -> BluetoothError.Reason {
      _ = try await device.characteristic(.batteryLevel).read()
      return try await device.untilDisconnected().reason
    }
    let (air, own) = (try await ServedAir(), Own())
    var (kept, linked): (LocalDevice.Server?, Task<BluetoothError.Reason, any Error>?)
    await #expect(throws: Mistake.self) {
      try await air.server.serve(own.device) { server in
        kept = server
        let device = try await air.central.find("Own")
        linked = Task { try await air.central.withConnection(to: device) { try await end(of: $0) } }
        for try await event in server.events { if case .read = event { break } }
        #expect(await reason { try await air.server.serve(own.device) { _ in } } == .adapter)
        throw Mistake()
      }
    }
    #expect(try await linked?.value == .disconnected)
    #expect(await reason { _ = try await kept?.notify(own.level, [1]) } == .disconnected)
    #expect(await reason { _ = try await air.central.find("Own", within: .seconds(12)) } == .notFound)
    // A cancellation is another end.
    let task = Task {
      try await air.server.serve(own.device) { server in
        for try await event in server.events { if case .read = event { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } } }
      }
    }
    #expect(try await air.connect { try await end(of: $0) } == .disconnected)
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(await reason { _ = try await air.central.find("Own", within: .seconds(12)) } == .notFound)
  }

  @Test func aPairedCentralComesBackWithItsSubscriptions() async throws {
    struct Person: PairingDelegate { let abilities = PairingAbilities.none }
    let air = try await ServedAir()
    var own = Own()
    own.level.security = .encrypted
    var device = own.device
    device.pairing = Person()
    var options = ConnectionOptions()
    options.pairing = Person()
    try await air.server.serve(device) { server in
      var events = server.events.makeAsyncIterator()
      var held: RemoteCharacteristic.Notifications?
      for pass in 0..<2 {
        try await air.connect(options) { device in
          #expect(try await next(&events) == "connected")
          let level = try await device.characteristic(.batteryLevel)
          if pass == 0 {
            held = try await level.notifications()
            #expect(try await next(&events) == "paired encrypted")
          }
          #expect(try await next(&events) == "subscribed 2a19")
          #expect(try await server.subscribers(of: own.level).count == 1)
          // Without an end of its subscriptions.
          try await server.disconnect(try #require(server.connectedCentrals().first))
        }
        #expect(try await next(&events) == "disconnected disconnected")
        withExtendedLifetime(held) {}
        held = nil
      }
    }
    #expect(air.server.keys.peripherals.map(\.address) == ["00:00:5E:00:53:02"])
    #expect(air.central.keys.peripherals.map(\.address) == ["00:00:5E:00:53:01"])
    device.pairing = nil
    device.services[0].characteristics[0].security = .authenticated
    try await air.server.serve(device) { server in
      #expect(await reason { try await air.connect(options) { _ = try await $0.characteristic(.batteryLevel).read() } } == .pairing)
      try await air.connect { _ in
        let (count, subscribers) = (try await server.connectedCentrals().count, try await server.subscribers(of: own.level))
        #expect(count == 1 && subscribers.isEmpty)
      }
    }
  }

  @Test func anUpdateKeepsWhatStays() async throws {
    let (air, own) = (try await ServedAir(), Own())
    try await air.server.serve(own.device) { server in
      var events = server.events.makeAsyncIterator()
      try await air.connect { device in
        let values = try await device.characteristic(.batteryLevel).notifications()
        #expect(try await [next(&events), next(&events)] == ["connected", "subscribed 2a19"])
        try await server.set(own.level, [61])
        var changed = own.device
        changed.services[1] = .init("180a", [.init(.serialNumber, [.read], value: [0x31])])
        changed.services.reverse()
        try await server.update(changed)
        let subscribers = try await server.subscribers(of: own.level).count
        // The central has found the characteristic at its new place.
        #expect(try await next(&events) == "subscribed 2a19" && subscribers == 1)
        #expect(try await device.characteristic(.batteryLevel).read().bytes == [61])
        try await server.notify(own.level, [8])
        #expect(try await values.first { _ in true }?.bytes == [8])
        #expect(try await device.services().map(\.uuid) == ["1800", "1801", "180a", "180f"])
        #expect(await reason { _ = try await server.value(of: own.kept) } == .notFound)
        // Not advertised any more, but served.
        changed.advertisement = nil
        try await server.update(changed)
        #expect(await reason { _ = try await air.central.find("Own", within: .seconds(12)) } == .notFound)
        #expect(try await device.characteristic(.serialNumber).read().text == "1")
      }
    }
  }

  @Test func aDeviceThatCannotBeIsAnError() async throws {
    let air = try await ServedAir()
    func refusal(_ change: (inout LocalDevice) -> Void) async -> BluetoothError.Reason? {
      var device = Own().device
      change(&device)
      return await reason { try await air.server.serve(device) { _ in } }
    }
    let changes: [(inout LocalDevice) -> Void] = [
      { $0.services[0].uuid = "no service" },
      { $0.services.append($0.services[0]) },
      { $0.services[0].characteristics[0].value = Array(repeating: 0, count: 513) },
      { $0.services[0].characteristics[0].security = .secureConnections },
      { $0.advertisement?.name = String(repeating: "a", count: 40) },
      { $0.advertisement?.interval = .seconds(11) },
    ]
    for change in changes { #expect(await refusal(change) == .invalidArgument) }
    // None of them keeps the adapter.
    #expect(await refusal { _ in } == nil)
  }
}
