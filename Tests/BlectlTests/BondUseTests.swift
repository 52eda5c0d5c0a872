import Foundation
import TestSupport
import Traces

/// Bonds of earlier processes: what a connection costs with them, and devices whose address changes.
@Suite(.timeLimit(.minutes(15))) struct BondUseTests {
  private static func device(_ name: String, _ address: String, _ security: String, _ permission: String) -> String {
    """
    {"name": "\(name)", "address": "\(address)/random", "advertisement": {"name": "\(name)"}, \(security) "services": [{"uuid": "ff00",
      "characteristics": [{"uuid": "ff01", "properties": ["read"], "permissions": ["\(permission)"], "value": "6f6b"}]}]}
    """
  }

  /// What a host did from the connection to the value that it read.
  private struct Cost {
    /// The number of packets that the host sent.
    let packets: Int
    let nanoseconds: Int64
    /// The time from the request to the value.
    let roundTrip: Int64

    init(_ trace: String) throws {
      let records = try Snoop.parse(Array(try Data(contentsOf: URL(fileURLWithPath: trace))))
      let start = try #require(records.firstIndex { $0.packet.starts(with: [4, 0x3E]) && [0x01, 0x0A].contains($0.packet[3]) })
      let end = try #require(records.firstIndex { $0.direction == .controllerToHost && $0.packet.suffix(2) == [0x6F, 0x6B] })
      let request = try #require(records[..<end].lastIndex { $0.direction == .hostToController && $0.packet[0] == 2 })
      packets = records[start..<end].count { $0.direction == .hostToController }
      nanoseconds = records[end].wallClock - records[start].wallClock
      roundTrip = records[end].wallClock - records[request].wallClock
    }
  }

  @Test(arguments: [#"{"io": "none"}"#, #"{"io": "none", "sc": false}"#]) func anEncryptedReadTakesThreeMoreRoundTrips(_ security: String)
    throws
  {
    let devices = [
      Self.device("Plain", "D1:00:00:00:03:60", "", "read"),
      Self.device("Safe", "D1:00:00:00:03:61", "\"security\": \(security),", "read_encrypted"),
    ]
    let adapter = "sim:\(try TemporaryFolder.file("[\(devices.joined(separator: ","))]"))"
    let state = TemporaryFolder.path()
    func cost(_ address: String) throws -> Cost {
      let trace = TemporaryFolder.path()
      let result = try Blectl.run(
        ["read", "\(address)/random", "ff01", "--trace", trace], environment: ["XDG_STATE_HOME": state], adapter: adapter)
      #expect(result.text == "ok\n", "\(result.errors)")
      return try Cost(trace)
    }
    let paired = try Blectl.run(["pair", "Safe"], environment: ["XDG_STATE_HOME": state], adapter: adapter)
    #expect(paired.status == 0, "\(paired.errors)")
    let (plain, safe) = (try cost("D1:00:00:00:03:60"), try cost("D1:00:00:00:03:61"))
    #expect(safe.packets == plain.packets + 1, "\(safe) \(plain)")
    #expect(safe.nanoseconds - plain.nanoseconds <= 3 * plain.roundTrip, "\(safe) \(plain)")
  }

  // MARK: Changing addresses

  private static let irk: UInt128 = 0xEC02_34A3_57C8_AD05_3410_10A6_0A39_7D9B
  private static let irkDigits = "ec0234a357c8ad05341010a60a397d9b"
  private static let identity = "D1:00:00:00:03:62"

  /// A resolvable private address with this random part.
  private static func address(_ random: UInt32) -> Address {
    let prand = random & 0x3F_FFFF | 0x40_0000
    return Address(rawValue: UInt64(prand) << 24 | UInt64(Toolbox.ah(irk: irk, prand: prand)))
  }

  @Test func aDeviceWithAChangingAddress() throws {
    let state = TemporaryFolder.path()
    let store = "\(state)/blectl/bonds/00:00:5E:00:53:01-public.json"
    func run(_ address: String, _ arguments: String...) throws -> Blectl.Result {
      let text = Self.device("Tag", address, #""security": {"io": "none"},"#, "read_encrypted")
      return try Blectl.run(
        arguments, environment: ["XDG_STATE_HOME": state], adapter: "sim:\(TemporaryFolder.file(text))")
    }
    #expect(try run(Self.identity, "pair", "Tag").status == 0)
    // Simulated devices distribute no identity resolving key.
    let contents = try String(contentsOfFile: store, encoding: .utf8)
    try contents.replacing(#""irk":null"#, with: #""irk":"\#(Self.irkDigits)""#).write(toFile: store, atomically: true, encoding: .utf8)
    for random in [UInt32(1), 0x12_3456] {
      let now = Self.address(random).description
      let heard = try #require(try run(now, "scan", "--count", "1", "--json").records.first)
      #expect(heard.string("address") == now && heard.string("identity") == Self.identity && heard.string("identity_type") == "random")
      for peer in [Self.identity, "\(Self.identity)/random", "Tag", now] {
        let result = try run(now, "read", peer, "ff01")
        #expect(result.text == "ok\n", "\(peer): \(result.errors)")
      }
    }
    // The device with another key is another device.
    let other = Address(rawValue: Self.address(1).rawValue ^ 1).description
    let heard = try #require(try run(other, "scan", "--count", "1", "--json").records.first)
    #expect(heard.string("address") == other && heard["identity"] == nil && heard.string("identity") == nil && !heard.isNull("identity"))
    let absent = try run(other, "read", Self.identity, "ff01")
    #expect(absent.status == 2, "\(absent.errors)")
  }

  @Test func aKeyOnTheCommandLine() throws {
    let now = Self.address(7).description
    let adapter = "sim:\(try TemporaryFolder.file(Self.device("Tag", now, "", "read")))"
    func scan(_ arguments: String...) throws -> Blectl.Result { try Blectl.run(["scan", "--count", "1"] + arguments, adapter: adapter) }
    let unknown = try #require(try scan("--json", "--irk", Self.irkDigits).records.first)
    #expect(unknown.string("address") == now && unknown.isNull("identity"))
    let known = try #require(try scan("--json", "--irk", "\(Self.identity)/random=\(Self.irkDigits)").records.first)
    #expect(known.string("identity") == Self.identity && known.string("identity_type") == "random")
    let wrong = try #require(try scan("--json", "--irk", String(Self.irkDigits.reversed())).records.first)
    #expect(!wrong.isNull("identity") && wrong.string("identity") == nil)
    #expect(try scan("--irk", "12").status == 64)
    #expect(try scan("--devices", "--irk", "\(Self.identity)/random=\(Self.irkDigits)").text.contains("identity \(Self.identity)/random"))
  }
}
