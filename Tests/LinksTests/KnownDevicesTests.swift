import TestSupport

@Suite(.timeLimit(.minutes(15))) struct KnownDevicesTests {
  private typealias Device = KnownDevices.Device

  private func time(_ second: Int) -> String { "2026-01-01T00:00:\(second < 10 ? "0" : "")\(second % 60).000Z" }

  private func log(_ records: KnownDevices.Record...) -> [UInt8] { records.flatMap(\.line) }

  @Test func whatIsWrittenIsRead() {
    let lock = Device(peer(1), name: "Tür \"1\"\u{1b}[2J\n", selector: .mac(Address(rawValue: 0xA4C1_3800_1122)), time: time(1))
    let band = Device(PeerAddress(Address(rawValue: 0xC0FF_EE00_0007), .public), name: nil, time: time(2))
    let written = log(
      .connected(lock), .alias("door", .mac(Address(rawValue: 0xA4C1_3800_1122))), .connected(band),
      .alias("band", .address(band.peer.address, .public)))
    #expect(written.count { $0 == 0x0A } == 4)
    let known = KnownDevices(parsing: written)
    #expect(known.devices == [lock, band])
    #expect(known.aliases() == ["door": .mac(Address(rawValue: 0xA4C1_3800_1122)), "band": .address(band.peer.address, .public)])
    #expect(KnownDevices(parsing: known.log) == known)
    #expect(KnownDevices.last(in: written) == band)
    #expect(KnownDevices.last(in: []) == nil)
  }

  /// A later record replaces an earlier one. A name that is missing in it stays known.
  @Test func laterRecordsReplaceEarlierOnes() {
    let known = KnownDevices(
      parsing: log(
        .connected(Device(peer(1), name: "Old", time: time(1))), .alias("a", .name("x")),
        .connected(Device(peer(2), name: "Two", time: time(2))),
        .alias("b", .name("y")), .connected(Device(peer(1), name: "New", time: time(3))), .alias("a", .name("z")), .alias("b", nil),
        .connected(Device(peer(1), name: nil, time: time(4)))))
    #expect(known.devices == [Device(peer(2), name: "Two", time: time(2)), Device(peer(1), name: "New", time: time(4))])
    #expect(known.aliases() == ["a": .name("z")])
  }

  /// A bonded device is one device, whatever addresses it had.
  @Test func earlierAddressesOfOneDevice() {
    let identity = peer(9)
    let known = KnownDevices(
      parsing: log(
        .connected(Device(peer(1), name: "Tag", time: time(1))), .alias("tag", .address(peer(1).address, nil)),
        .connected(Device(peer(2), name: nil, time: time(2))), .connected(Device(peer(3), name: "Other", time: time(3))))
    ) { [peer(1), peer(2)].contains($0) ? identity : nil }
    #expect(known.devices == [Device(identity, name: "Tag", time: time(2)), Device(peer(3), name: "Other", time: time(3))])
    #expect(known.aliases() == ["tag": .address(identity.address, .random)])
  }

  @Test(arguments: [
    "", "{", "null", "[]", "half a li", "{\"connected\":\"2026-01-01T00:00:01.000Z\"}", "{\"alias\":\"a b\",\"peer\":\"name:x\"}",
    "{\"connected\":\"yesterday\",\"peer\":\"D1:00:00:00:00:02/random\"}",
    "{\"connected\":\"2026-01-01T00:00:01.000Z\",\"peer\":\"D1:00:00:00:00:02\"}",
    "{\"connected\":1,\"peer\":2}", "{\"alias\":\"a\",\"peer\":\"no peer\"}", "{\"alias\":\"a\"}",
    "{\"alias\":\"last\",\"peer\":\"name:x\"}",
    "{\"connected\":\"2026-01-01\\u001b[2J00:00:01\",\"peer\":\"D1:00:00:00:00:02/random\"}", "\u{0}\u{FFFD}", "{\"else\":1}",
  ]) func brokenLinesArePassedOver(_ line: String) {
    let (one, two) = (Device(peer(1), name: "One", time: time(1)), Device(peer(3), name: "Three", time: time(2)))
    let known = KnownDevices(parsing: log(.connected(one)) + line.utf8 + [0x0A] + log(.connected(two)) + line.utf8)
    #expect(known.devices == [one, two] && known.aliases().isEmpty)
  }

  /// The oldest device is forgotten, so the log stays short.
  @Test func theOldestIsForgotten() {
    var written: [UInt8] = []
    for number in 0..<2000 {
      written += log(
        .connected(Device(peer(UInt64(number % 1000)), name: UntrustedText(String(repeating: "n", count: 248)), time: time(number % 60))),
        .alias("a\(number)", .name("x")))
    }
    let known = KnownDevices(parsing: written)
    #expect(known.devices.map(\.peer) == (744..<1000).map { peer(UInt64($0)) })
    #expect(known.aliases().count == 256 && known.aliases()["a1999"] != nil && known.aliases()["a1743"] == nil)
    #expect(known.log.count < 128 << 10)
  }

  /// Simulated and recorded devices are separate from real ones, even with the same address.
  @Test func everyAirHasItsOwn() {
    let real = Device(peer(1), name: "Real", time: time(1))
    let made = Device(peer(1), name: "Made", time: time(2), air: "sim")
    let filed = Device(peer(2), name: nil, time: time(3), air: "sim:a.json")
    let written = log(
      .connected(real), .alias("a", .name("real")), .alias("b", .name("real")), .connected(made), .alias("a", .name("made"), air: "sim"),
      .connected(filed), .alias("c", .name("made"), air: "sim"))
    let known = KnownDevices(parsing: written)
    #expect(known.devices == [real, made, filed] && KnownDevices(parsing: known.log) == known)
    #expect([nil, "sim", "sim:a.json", "replay:t"].map { known.devices(on: $0) } == [[real], [made], [filed], []])
    #expect([nil, "sim", "replay:t"].map { KnownDevices.last(in: written, on: $0) } == [real, made, nil])
    #expect(KnownDevices.name(of: peer(1), in: written, on: nil) == "Real")
    #expect(KnownDevices.name(of: peer(1), in: written, on: "sim") == "Made")
    // The name of a real device applies everywhere; the name of a simulated device does not.
    for aliases in [known.aliases(), KnownDevices.aliases(in: written, on: nil)] {
      #expect(aliases == ["a": .name("real"), "b": .name("real")])
    }
    #expect(known.aliases(on: "sim") == ["a": .name("made"), "b": .name("real"), "c": .name("made")])
    #expect(known.hasAlias("a", on: "sim") && !known.hasAlias("b", on: "sim") && known.hasAlias("b", on: nil))
    #expect(KnownDevices(parsing: written + log(.alias("a", nil, air: "sim"))).aliases(on: "sim")["a"] == .name("real"))
    #expect(
      KnownDevices(parsing: Array(#"{"connected":"2026-01-01T00:00:01.000Z","peer":"D1:00:00:00:00:02/random","air":1}"#.utf8)).devices
        .isEmpty)
  }

  @Test func noRealDeviceIsForgottenForASimulatedOne() {
    var written = log(.connected(Device(peer(0), name: nil, time: time(0))), .alias("a", .name("x")))
    for number in 1..<600 {
      written += log(
        .connected(Device(peer(UInt64(number)), name: nil, time: time(1), air: "sim")), .alias("a\(number)", .name("x"), air: "sim"))
    }
    let known = KnownDevices(parsing: written)
    #expect(known.devices(on: nil).count == 1 && known.devices(on: "sim").count == 256 && known.aliases(on: "sim").count == 257)
  }

  @Test(arguments: [
    ("door", true), ("Tür-1", true), ("", false), ("last", false), ("a b", false), ("a\u{1b}", false), ("a;b", false), ("@a", false),
    (String(repeating: "a", count: 64), true), (String(repeating: "a", count: 65), false), ("\u{202E}x", false), ("a'b", false),
  ]) func aliases(_ name: String, _ isOne: Bool) { #expect(KnownDevices.isAlias(name) == isOne) }
}
