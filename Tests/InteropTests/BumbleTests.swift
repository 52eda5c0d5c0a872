import Foundation
import TestSupport

/// Every command against Bumble's peripheral over Bumble's controller, so that two independent stacks must agree.
@Suite(.serialized, .timeLimit(.minutes(15))) struct BumbleTests {
  static let peer = BumbleAir.peer
  /// The variants of its controller. Each reports advertisements differently: "bumble" sends extended reports even after legacy commands.
  static let controllers = [["--controller", "legacy"], ["--controller", "extended"], ["--controller", "bumble"]]
  static let picture = Bytes.picture(77_831)

  @Test(arguments: controllers)
  func scan(_ options: [String]) throws {
    let air = try BumbleAir(options)
    let result = try air.blectl("scan", "--count", "1", "--name", "Lock-01", "--json")
    #expect(result.status == 0, "\(result.errors)")
    let record = try #require(try result.records.first)
    #expect(record.string("address") == Self.peer)
    #expect(record.string("address_type") == "random")
    #expect(record["manufacturer_data"]?.string("014c") == "f0f1f2f3f4f5")
    let mac = try #require(try air.blectl("mac-from-adv", Self.peer, "--learn", "--json").records.first)
    #expect(mac.string("mac") == Self.peer && mac.string("order") == "big" && mac.bool("matches_sender") == true)
  }

  @Test(arguments: controllers)
  func connectAndDiscover(_ options: [String]) throws {
    let air = try BumbleAir(options)
    let link = try #require(try air.blectl("connect", "name:lock-*", "--json").records.first)
    #expect(link.int("mtu") == 517)
    #expect((link.double("interval_ms") ?? 0) > 0)
    let asked = try #require(try air.blectl("connect", Self.peer, "--mtu", "100", "--interval", "50", "--json").records.first)
    #expect(asked.int("mtu") == 100 && asked.double("interval_ms") == 50 && asked.string("address") == Self.peer)
    let services = try air.blectl("services", "mac:\(Self.peer)", "--json").records
    let lock = try #require(services.first { $0.string("uuid") == "ffe0" })
    let uuids = lock.records("characteristics").compactMap { $0.string("uuid") }
    #expect(uuids == ["ffe1", "ffe2", "ffe3", "ffe4", "ffe5", "ffe6", "ffe7", "ffe8", "ffe9", "ffea"])
    #expect(lock.records("characteristics").first?.strings("properties") == ["write_without_response", "write"])
    let wide = try #require(services.first { $0.string("uuid")?.count == 36 })
    let descriptors = wide.records("characteristics").flatMap { $0.records("descriptors") }.compactMap { $0.string("uuid") }
    #expect(descriptors.contains("2901") && descriptors.contains("2904"))
  }

  @Test func reads() throws {
    let air = try BumbleAir()
    #expect(try air.blectl("read", Self.peer, "ffe2").text == "hello lock\n")
    #expect(try air.blectl("read", Self.peer, "ffe3", "--raw").output == Array((0...255).map { UInt8($0) } + (0...255).map { UInt8($0) }))
    let short = try BumbleAir(["--mtu", "23"])
    #expect(try short.blectl("read", Self.peer, "ffe3", "--raw").output.count == 512)
    let refused = try air.blectl("read", Self.peer, "ffea", "--json")
    #expect(refused.status == 5)
    #expect(refused.error?.string("name") == "insufficient_encryption")
  }

  @Test(arguments: [["--mtu", "517"], ["--mtu", "23"]])
  func writes(_ options: [String]) throws {
    let air = try BumbleAir(options)
    let long = Array(Self.picture.prefix(300))
    let request = try air.blectl("write", "\(Self.peer)/random", "ffe4", "0102", "--mode", "request", "--read-back", "--json")
    #expect(request.status == 0, "\(request.errors)")
    let whole = try air.blectl("write", Self.peer, "ffe4", "-", "--mode", "long", "--read-back", "--json", input: long)
    #expect(whole.status == 0, "\(whole.errors)")
    #expect(try whole.records.first?.string("mode") == "long")
    let reliable = try air.blectl("write", Self.peer, "ffe4", "-", "--mode", "reliable", "--read-back", input: long)
    #expect(reliable.status == 0, "\(reliable.errors)")
    let command = try air.blectl("write", Self.peer, "ffe9", "-", "--json", input: long)
    #expect(try command.records.first?.string("mode") == "command")
    #expect(try air.blectl("read", Self.peer, "ffe7", "--as", "u32le").text.split(separator: " ").first == "300")
    let ping = try air.blectl("write", Self.peer, "ffe1", Bytes.hex("ping"), "--expect", "ffe2=\(Bytes.hex("pong"))")
    #expect(ping.status == 0, "\(ping.errors)")
  }

  @Test func notificationsAndIndications() throws {
    let air = try BumbleAir()
    let notified = try air.blectl("notify", Self.peer, "ffe5", "--count", "7", "--json")
    #expect(notified.status == 0, "\(notified.errors)")
    #expect(try notified.records.map { $0.string("event") } == Array(repeating: "notification", count: 7))
    let indicated = try air.blectl("notify", Self.peer, "ffe6", "--count", "4", "--json")
    #expect(indicated.status == 0, "\(indicated.errors)")
    #expect(try indicated.records.map { $0.string("event") } == Array(repeating: "indication", count: 4))
  }

  @Test(arguments: [[], ["--controller", "extended", "--acl", "251x4"], ["--mtu", "23"], ["--acl", "27x1"]], ["command", "request"])
  func sendFile(_ options: [String], _ mode: String) throws {
    // Single requests with 20 bytes each show nothing new about loss and take long, so send less.
    let picture = mode == "request" && options.first == "--mtu" ? Array(Self.picture.prefix(4000)) : Self.picture
    let air = try BumbleAir(options)
    _ = try air.blectl("write", Self.peer, "ffe8", "00")
    let result = try air.blectl("send-file", Self.peer, "ffe1", "-", "--mode", mode, "--json", input: picture)
    #expect(result.status == 0, "\(result.errors)")
    #expect(try result.records.last?.int("bytes") == picture.count)
    #expect(try air.blectl("read", Self.peer, "ffe7", "--json").records.first?.string("value") == BumbleAir.report(picture))
  }

  @Test(arguments: [5000, 40_000])
  func linkLossInMidTransfer(_ bytes: UInt32) throws {
    let air = try BumbleAir()
    _ = try air.blectl("write", Self.peer, "ffe8", "00")
    let limit = (0..<4).map { UInt8(truncatingIfNeeded: bytes >> (8 * $0)) }
    _ = try air.blectl("write", Self.peer, "ffe8", Bytes.hex([1] + limit))
    let result = try air.blectl("send-file", Self.peer, "ffe1", "-", "--mode", "command", "--ack-every", "8", "--json", input: Self.picture)
    #expect(result.status == 6, "\(result.errors)")
    #expect(result.error?.string("kind") == "link_lost")
    let message = result.error?.string("message") ?? ""
    let known = try #require(
      message.firstMatch(of: /(?:At least|Between) (\d+) (?:and \d+ )?of \d+ bytes arrived/).flatMap { UInt32($0.1) })
    #expect(message.contains("--offset \(known)"), "\(message)")
    // Bumble may receive more bytes before its link is down. Its own count is the number that arrived.
    let report = try #require(Hex.decode(try air.blectl("read", Self.peer, "ffe7", "--json").records.first?.string("value") ?? ""))
    let arrived = report.prefix(4).reversed().reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
    #expect(arrived >= bytes && known <= arrived, "\(known) known, \(arrived) arrived")
    #expect(try !result.records.contains { $0.string("event") == "sent" })
    // It advertises again, and the next command works.
    #expect(try air.blectl("read", Self.peer, "ffe2").text == "hello lock\n")
  }

  @Test func controlCWhileWeListenEndsTheLink() throws {
    let air = try BumbleAir()
    let listening = try Blectl.start(["notify", Self.peer, "ffe5", "--json"], adapter: air.adapter, virtual: false)
    #expect(listening.waitForOutput(containing: "notification"))
    #expect(listening.end(by: SIGINT).status == 130)
    #expect(air.event("disconnected")?.int("reason") == 0x13)
  }

  /// The device ends the link with a disconnect, or by going out of range.
  @Test(arguments: [("bye", 0x13), ("away", 0x08)]) func aPeerThatDropsTheLinkWhileWeListen(_ word: String, _ reason: Int) throws {
    let air = try BumbleAir()
    let listening = try Blectl.start(["notify", Self.peer, "ffe5", "--json"], adapter: air.adapter, virtual: false)
    #expect(listening.waitForOutput(containing: "notification"))
    air.say(word)
    let lost = listening.wait()
    #expect(lost.status == 6, "\(lost.errors)")
    #expect(lost.error?.string("kind") == "link_lost" && lost.error?.int("code") == reason, "\(lost.errors)")
    #expect(try !lost.records.isEmpty && lost.records.allSatisfy { $0.string("event") == "notification" })
  }
}
