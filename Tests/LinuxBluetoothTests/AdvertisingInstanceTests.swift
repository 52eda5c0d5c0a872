import Glibc
import TestSupport

@testable import BluetoothLELinux

private let adapter = AdapterInfo(index: 3, address: Address(rawValue: 0x0011_2233_4455), isUp: true, bus: "virtual", le: true)
private let flags: [UInt8] = [0x02, 0x01, 0x06]

/// One AD structure of manufacturer-specific data, `count` bytes in all.
private func data(_ count: Int) -> [UInt8] { [UInt8(count - 1), 0xFF] + [UInt8](repeating: 0x5A, count: count - 2) }

private func advertising(_ data: [UInt8], scanResponse: [UInt8] = [], isExtended: Bool = false, isConnectable: Bool = true) -> Advertising {
  var advertising = Advertising()
  (advertising.data, advertising.scanResponse) = (data, scanResponse)
  (advertising.isExtended, advertising.isConnectable) = (isExtended, isConnectable)
  return advertising
}

@Suite(.timeLimit(.minutes(15))) struct AdvertisingInstanceTests {
  /// Runs `body` beside a kernel whose adapter has five instances, of which `taken` are in use.
  private func with(
    taken: [UInt8] = [], most: UInt8 = 5, data: UInt8 = 31, file: String? = nil,
    _ body: @escaping @LoopActor (KernelRig, AdvertisingInstance) async throws -> Void
  ) async throws {
    try await onLoop {
      let rig = KernelRig()
      rig.reactions[0x003D] = { $0.event(1, [0x3D, 0, 0, 0xFF, 0xFF, 1, 0, data, data, most, UInt8(taken.count)] + taken) }
      try await rig.serving {
        let management = try rig.keyring.open(adapter)
        try await body(rig, try await AdvertisingInstance(adapter, management, file: file))
      }
    }
  }

  /// The parameters come first, with the interval in units of 0.625 ms, and the data as they are.
  @Test func commands() async throws {
    try await with(taken: [1, 3]) { rig, instance in
      try await instance.set(advertising(flags + data(28), scanResponse: [3, 3, 0xE0, 0xFF]))
      #expect(rig.commands.map(\.0) == [0x003D, 0x0054, 0x0055])
      #expect(rig.commands[1].1 == [2, 0x01, 0x40, 0, 0, 0, 0, 0, 0, 160, 0, 0, 0, 160, 0, 0, 0, 0x7F])
      #expect(rig.commands[2].1 == [2, 31, 4] + flags + data(28) + [3, 3, 0xE0, 0xFF])
      // The same instance takes other data.
      try await instance.set(advertising(flags, isConnectable: false))
      #expect(rig.commands[4].1.prefix(3) == [2, 0x00, 0x40] && rig.commands[5].1 == [2, 3, 0] + flags)
      await instance.remove()
      await instance.remove()
      #expect(rig.commands.dropFirst(6).map(\.0) == [0x003F] && rig.commands.last?.1 == [2])
    }
  }

  /// The kernel puts Flags in front of data without them: only data that leave it room for that are sent.
  @Test(arguments: [
    (advertising(data(28)), 31 as UInt8, nil as Int?), (advertising(data(29)), 31, 28), (advertising(flags + data(28)), 31, nil),
    (advertising(flags + data(29)), 31, 31), (advertising(flags + data(29)), 251, 31), (advertising(data(31)), 251, 28),
    (advertising(data(248), isExtended: true), 251, nil), (advertising(data(249), isExtended: true), 251, 248),
    (advertising(flags + data(248), isExtended: true), 251, nil), (advertising([]), 31, nil),
  ])
  func lengths(_ advertising: Advertising, _ most: UInt8, _ limit: Int?) async throws {
    try await with(data: most) { rig, instance in
      do {
        try await instance.set(advertising)
        #expect(limit == nil)
      } catch let KernelAdvertisingProblem.dataTooLong(adapter, count, most, lacksFlags) {
        #expect((adapter, count, most) == ("hci3", advertising.data.count, limit ?? 0) && lacksFlags == (advertising.data[1] != 1))
        #expect(rig.commands.map(\.0) == [0x003D])
      }
    }
  }

  @Test func refusals() async throws {
    try await with(taken: [1, 2], most: 2) { rig, instance in
      await #expect(throws: KernelAdvertisingProblem.noFreeInstance(adapter: "hci3", instances: 2)) {
        try await instance.set(advertising(flags))
      }
      #expect(rig.commands.count == 1)
    }
    try await with { rig, instance in
      await #expect(throws: GAPError.advertisingTooLong(adapter: "hci3", .scanResponse, 32, limit: 31)) {
        try await instance.set(advertising(flags, scanResponse: data(32)))
      }
      await #expect(throws: GAPError.advertisingTooLong(adapter: "hci3", .scanResponse, 4, limit: 0)) {
        try await instance.set(advertising(flags, scanResponse: data(4), isExtended: true))
      }
      var slow = advertising(flags)
      for interval: Duration in [.milliseconds(19), .milliseconds(10_241)] {
        slow.interval = interval
        await #expect(throws: GAPError.advertisingIntervalOutOfRange(interval)) { try await instance.set(slow) }
      }
      rig.settings = 1 << 1
      await #expect(throws: KernelAdvertisingProblem.alwaysConnectable(adapter: "hci3")) {
        try await instance.set(advertising(flags, isConnectable: false))
      }
      #expect(rig.commands.map(\.0) == [0x003D, 0x0004])
      rig.statuses[0x0054] = 0x14
      await #expect(throws: KernelAdvertisingProblem.notPermitted(adapter: "hci3")) { try await instance.set(advertising(flags)) }
      rig.statuses = [0x0055: 0x0D]
      await #expect(throws: KernelAdvertisingProblem.refused(adapter: "hci3", command: 0x0055, status: 0x0D)) {
        try await instance.set(advertising(flags))
      }
      // The refused instance is not left behind.
      #expect(rig.commands.last?.0 == 0x003F)
    }
  }

  /// A process that was killed leaves its instance, which the next one removes, and only that.
  @Test func leftInstance() async throws {
    let file = "\(TemporaryFolder.path())/state/hci3"
    try await with { _, instance in try await instance.set(advertising(flags)) }
    for (taken, removed) in [([1, 2] as [UInt8], [1] as [UInt8]?), ([2], nil)] {
      // Without `remove`, as after kill -9.
      try await with(file: file) { _, instance in try await instance.set(advertising(flags)) }
      try await with(taken: taken, file: file) { rig, instance in
        #expect(rig.commands.dropFirst().first?.1 == removed && rig.commands.count == (removed == nil ? 1 : 2))
        try await instance.set(advertising(flags))
        await instance.remove()
      }
      try await with(taken: [1, 2], file: file) { rig, _ in #expect(rig.commands.count == 1) }
    }
  }

  @Test(.onLoop) @LoopActor func records() throws {
    let file = TemporaryFolder.path()
    do {
      let record = try InstanceRecord(file, "hci3", start: "a-start")
      #expect(record.left == nil)
      record.left = 255
      #expect(record.left == 255)
      #expect(throws: KernelAdvertisingProblem.servesAlready(adapter: "hci3", file)) { try InstanceRecord(file, "hci3", start: "a-start") }
    }
    // Another start of the system has no instance of ours.
    #expect(try InstanceRecord(file, "hci3", start: "b-start").left == nil)
    #expect(try InstanceRecord(file, "hci3", start: "a-start").left == 255)
    for text in ["", "a-start 256", "a-start", "a-start 1 2", "\u{0}"] {
      try StateFile.write(Array(text.utf8), to: file)
      #expect(try InstanceRecord(file, "hci3", start: "a-start").left == nil)
    }
  }
}
