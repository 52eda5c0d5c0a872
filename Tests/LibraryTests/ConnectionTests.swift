import BluetoothLESimulator
import TestSupport

/// A simulated device that keeps what is written to ff01, notifies ff02, refuses ff03, takes
/// only commands at ff04, disconnects after 00 at ff05, and counts the subscribers of ff02 at ff06.
/// - Parameters:
///   - more: Further members of the device, with a comma after each.
///   - item: Another characteristic.
func made(_ more: String = "", with item: String? = nil) -> String {
  """
  {
    "name": "Made", "address": "D1:00:00:00:00:99/random", "advertisement": {"flags": 6, "name": "Made", "services": ["ff00"]}, "mtu": 64,
    \(more)
    "services": [{"uuid": "ff00", "characteristics": [
      {"uuid": "ff01", "properties": ["read", "write"], "value": "", "max_length": 512},
      {"uuid": "ff02", "properties": ["read", "notify"], "value": "00", "periodic": {"every_ms": 1000, "values": ["01", "02", "03"]}},
      {"uuid": "ff03", "properties": ["read"], "permissions": ["read_authenticated"], "value": "00"},
      {"uuid": "ff04", "properties": ["write_without_response"]},
      {"uuid": "ff05", "properties": ["write"], "reactions": [{"when": "00", "then": [{"disconnect": true}]}]},
      {"uuid": "ff06", "properties": ["read"], "read_reactions": [{"then": [{"set": "ff06", "value": {"u8": {"subscribers": "ff02"}}}]}]}
      \(item.map { ", \($0)" } ?? "")
    ]}]
  }
  """
}

/// Opens an adapter of a new simulator with one device.
func opened(_ text: String = made(), keys: KeyRing = KeyRing()) async throws -> (adapter: Adapter, device: Peripheral) {
  startLoop()
  let adapter = try await Adapter.open(try Simulator(text).adapter, keys: keys)
  return (adapter, try await adapter.find("Made"))
}

/// Returns the reason of the error that `body` throws. Nil without an error of the library.
func reason(_ body: () async throws -> Void) async -> BluetoothError.Reason? {
  do { try await body() } catch { return (error as? BluetoothError)?.reason }
  return nil
}

/// Returns the virtual time that `body` takes. Only the body of a connection keeps other tests from adding theirs.
func elapsed(_ body: () async throws -> Void) async rethrows -> Duration {
  let begin = await now()
  try await body()
  return begin.duration(to: await now())
}

func now() async -> LoopClock.Instant { await EventLoop.shared.spawn { EventLoop.shared.now }.value }

/// Waits in a call of the library.
func wait(_ seconds: Int) async throws { try await EventLoop.shared.call { try await EventLoop.shared.sleep(for: .seconds(seconds)) } }

@Suite(.timeLimit(.minutes(15))) struct ConnectionTests {
  @Test func aScanFindsNamesAndContents() async throws {
    let (adapter, device) = try await opened()
    let found = try #require(try await adapter.advertisements(.active).first { $0.name != nil })
    #expect(found.peripheral == device && found.name == "Made" && found.services == ["ff00"] && found.isConnectable && found.missed == 0)
    #expect(device == Peripheral(address: "D1:00:00:00:00:99", isRandom: true))
    #expect(await reason { _ = try await adapter.find("Nobody", within: .seconds(2)) } == .notFound)
  }

  @Test func theNameOfAScanResponseIsKnownLater() async throws {
    let text = made("\"scan_response\": {\"name\": \"Made\"},").replacing("\"flags\": 6, \"name\": \"Made\"", with: "\"flags\": 6")
    let (adapter, _) = try await opened(text)
    for try await found in adapter.advertisements(.passive).prefix(5) { #expect(found.name == nil) }
    let names = try await adapter.advertisements(.active).prefix(10).reduce(into: [String?]()) { $0.append($1.name) }
    let first = try #require(names.firstIndex { $0 != nil })
    #expect(first < 3 && names[first...].allSatisfy { $0 == "Made" })
  }

  /// The queue has 16,384 places, and the device advertises about 40 times a second.
  @Test func aScanCountsWhatItLost() async throws {
    let (adapter, _) = try await opened(made("\"interval_ms\": 20,"))
    var reports = adapter.advertisements(.passive).makeAsyncIterator()
    #expect(try await reports.next()?.missed == 0)
    try await wait(450)
    var last: Discovery?
    for _ in 0..<16_384 { last = try await reports.next() }
    #expect(last?.missed == 0)
    let next = try await reports.next()
    #expect((next?.missed ?? 0) > 0)
  }

  @Test func timeStandsStillWhileAnAdvertisementIsProcessed() async throws {
    let (adapter, _) = try await opened()
    for try await _ in adapter.advertisements().prefix(3) {
      let passed = await elapsed { for _ in 0..<64 { await EventLoop.shared.spawn {}.value } }
      #expect(passed == .zero)
    }
  }

  @Test func valuesOfAnyLengthAreWholeOrAnError() async throws {
    let (adapter, device) = try await opened()
    try await adapter.withConnection(to: device) { device in
      #expect(device.mtu == 64)
      let kept = try await device.characteristic("ff01")
      for count in [0, 1, 61, 62, 300, 512] {
        let value = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        try await kept.write(value)
        #expect(try await kept.read().bytes == value)
      }
      #expect(await reason { try await kept.write(Array(repeating: 1, count: 513)) } == .invalidArgument)
      #expect(await reason { try await kept.write(Array(repeating: 1, count: 62), by: .request) } == .invalidArgument)
      #expect(try await kept.read().bytes.count == 512)
      #expect(await reason { try await device.characteristic("ff05").write([1], by: .command) } == nil)
      #expect(await reason { try await device.characteristic("ff04").write([1], by: .request) } == .refused(0x03))
    }
  }

  /// A value of 500 hundredths of a degree, according to its presentation format.
  @Test func theDeviceDescribesItsValues() async throws {
    let item =
      #"{"uuid": "ff07", "properties": ["read", "notify"], "value": "f401", "periodic": {"every_ms": 1000, "values": ["f401"]}, "#
      + #""descriptors": [{"uuid": "2904", "value": "0efe2f27010000"}]}"#
    let (adapter, device) = try await opened(made(with: item))
    try await adapter.withConnection(to: device) { device in
      let item = try await device.characteristic("ff07")
      #expect(try await item.read().decoded == "5 °C")
      let value = try await item.notifications().first { _ in true }
      #expect(value?.decoded == "5 °C")
    }
  }

  @Test func namesThatMeanNothingSayWhy() async throws {
    let (adapter, device) = try await opened()
    try await adapter.withConnection(to: device) { device in
      #expect(await reason { _ = try await device.characteristic("abcd") } == .notFound)
      #expect(await reason { _ = try await device.characteristic("0x0") } == .invalidArgument)
      #expect(await reason { _ = try await device.characteristic("ff01").notifications() } == .unsupported)
      #expect(await reason { _ = try await device.characteristic("ff03").read() } == .security)
      let all = try await device.services().first { $0.uuid == "ff00" }?.characteristics.compactMap(\.uuid)
      #expect(all == ["ff01", "ff02", "ff03", "ff04", "ff05", "ff06"])
    }
  }

  @Test func oneOfSeveralIsNamedByItsNumber() async throws {
    let twins = #"{"uuid": "ff01", "properties": ["read"], "value": "01"}, {"uuid": "ff01", "properties": ["read"], "value": "02"}"#
    let (adapter, device) = try await opened(
      #"{"name": "Made", "address": "D1:00:00:00:00:99/random", "advertisement": {"name": "Made"}, "#
        + #""services": [{"uuid": "ff00", "characteristics": [\#(twins)]}]}"#)
    try await adapter.withConnection(to: device) { device in
      #expect(await reason { _ = try await device.characteristic("ff01") } == .ambiguous)
      let second = try await device.characteristic("ff01[2]").read()
      #expect(second.bytes == [2])
    }
  }

  @Test func everyReaderGetsEveryValueAndTheLastOneClearsTheCCCD() async throws {
    let (adapter, device) = try await opened()
    try await adapter.withConnection(to: device) { device in
      let (item, subscribers) = (try await device.characteristic("ff02"), try await device.characteristic("ff06"))
      let (first, second) = (try await item.notifications(), try await item.notifications())
      async let others = first.prefix(3).reduce(into: []) { $0 += $1.bytes }
      #expect(try await second.prefix(2).reduce(into: []) { $0 += $1.bytes } == [1, 2])
      #expect(try await subscribers.read().bytes == [1])
      #expect(try await others == [1, 2, 3])
      for try await value in try await item.notifications() where value.bytes == [1] { break }
      #expect(try await subscribers.read().bytes == [0])
    }
  }

  @Test func theLinkEndsOnEveryPath() async throws {
    struct Own: Error {}
    let (adapter, device) = try await opened()
    var kept: ConnectedDevice?
    await #expect(throws: Own.self) {
      try await adapter.withConnection(to: device) {
        kept = $0
        throw Own()
      }
    }
    #expect(await reason { _ = try await kept?.characteristic("ff01").read() } == .disconnected)
    let task = Task {
      try await adapter.withConnection(to: device) { device in
        for try await _ in try await device.characteristic("ff02").notifications() { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
      }
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    // The device accepts one central at a time.
    #expect(try await adapter.withConnection(to: device) { try await $0.characteristic("ff01").read().bytes } == [])
    await adapter.close()
    #expect(try await adapter.withConnection(to: device) { $0.mtu } == 64)
  }

  @Test func aTransferProvesItselfOrFails() async throws {
    startLoop()
    let adapter = try await Adapter.open(Simulator.preset.adapter)
    let image = (0..<20_000).map { UInt8(truncatingIfNeeded: $0) }
    try await adapter.withConnection(to: try await adapter.find("Panel")) { panel in
      let picture = try await panel.characteristic("fff6")
      var last: RemoteCharacteristic.FileSending.Progress?
      for try await progress in try await picture.send(image, verify: .notification("fff7")) { last = progress }
      #expect(last?.sent == 20_000 && last?.confirmed == 20_000 && last?.total == 20_000 && last?.isVerified == true)
      // It counts from the first picture on, so the sum of both is another one.
      #expect(await reason { for try await _ in try await picture.send([1, 2], verify: .notification("fff6")) {} } == .unsupported)
      #expect(await reason { for try await _ in try await picture.send([1, 2], verify: .readBack) {} } == .invalidArgument)
      #expect(await reason { for try await _ in try await picture.send([1, 2], segment: 0) {} } == .invalidArgument)
    }
  }

  @Test func aFileThatTheDeviceDoesNotHaveIsAnError() async throws {
    let other = #"{"uuid": "ff07", "properties": ["read", "write"], "reactions": [{"then": [{"set": "ff07", "value": "00"}]}]}"#
    let (adapter, device) = try await opened(made(with: other))
    try await adapter.withConnection(to: device) { device in
      let (kept, changed) = (try await device.characteristic("ff01"), try await device.characteristic("ff07"))
      for (verification, isVerified) in [(.none, false), (.readBack, true)] as [(RemoteCharacteristic.Verification, Bool)] {
        let last = try await kept.send([1, 2], verify: verification).reduce(nil) { $1 as RemoteCharacteristic.FileSending.Progress? }
        #expect(last?.confirmed == 2 && last?.isVerified == isVerified)
      }
      #expect(await reason { for try await _ in try await changed.send([1, 2], verify: .readBack) {} } == .verification)
    }
  }

  @Test func aTransferEndsWithItsIteration() async throws {
    let (adapter, device) = try await opened()
    try await adapter.withConnection(to: device) { device in
      let item = try await device.characteristic("ff01")
      for try await _ in try await item.send((0..<100).map { UInt8($0) }, segment: 1) { break }
      let last = try #require(try await item.read().bytes.last)
      #expect(last < 50)
    }
  }

  @Test func aPolicyRestoresTheLinkWithItsSubscriptions() async throws {
    let (adapter, device) = try await opened()
    var options = ConnectionOptions()
    options.reconnect = .times(3)
    try await adapter.withConnection(to: device, options) { device in
      var values = try await device.characteristic("ff02").notifications().makeAsyncIterator()
      _ = try await values.next()
      _ = await reason { try await device.characteristic("ff05").write([0]) }
      #expect(try await values.next() != nil)
      #expect(try await device.characteristic("ff01").read().bytes == [])
    }
    try await adapter.withConnection(to: device) { device in
      _ = await reason { try await device.characteristic("ff05").write([0]) }
      let end = try await device.untilDisconnected()
      #expect(end.reason == .disconnected)
      #expect(await reason { _ = try await device.characteristic("ff01").read() } == .disconnected)
    }
  }

  @Test @MainActor func parametersTellWhatWasAskedAndGranted() async throws {
    let (adapter, device) = try await opened(made("\"phys\": [\"1m\", \"2m\"], \"data_length\": 100,"))
    try await adapter.withConnection(to: device) { device in
      MainActor.assertIsolated()
      let interval = try await device.request(interval: .milliseconds(30))
      #expect(interval.asked == .milliseconds(30) && interval.granted == .milliseconds(30))
      #expect(try await device.request(phy: .le2M).granted == .le2M)
      let length = try await device.request(dataLength: 251)
      #expect(length.asked == 251 && length.granted == 100)
      let link = try await device.parameters()
      #expect(link.interval == .milliseconds(30) && link.phy == .le2M && link.dataLength == 100 && link.security == .unencrypted)
      #expect(await reason { _ = try await device.request(interval: .seconds(5)) } == .invalidArgument)
    }
  }

  @Test func realTimeBesideVirtualTimeIsAnError() async throws {
    _ = try await opened()
    #expect(await reason { _ = try await Adapter.open(.h4("tcp:127.0.0.1:1")) } == .clock)
    #expect(await reason { _ = try await Adapter.open(try Simulator(made(), isVirtual: false).adapter) } == .clock)
    #expect(await reason { _ = try Simulator("{\"name\": 1}") } == .invalidArgument)
  }
}
