import Foundation
import TestSupport

/// Runs the `att-server` cases of Tests/Vectors/bad_inputs.json.
@Suite(.timeLimit(.minutes(15))) struct ServerBadInputTests {
  struct File: Decodable {
    struct Case: Decodable {
      let id: String
      let layer: String
      let pdus: [Bytes]?
    }
    /// Text, or empty text for the objects of other layers' cases.
    struct Bytes: Decodable {
      let text: String
      init(from decoder: any Decoder) throws { text = (try? decoder.singleValueContainer().decode(String.self)) ?? "" }
    }
    let client_database: DescribedDatabase
    let cases: [Case]
  }

  static func file() throws -> File {
    let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Vectors/bad_inputs.json")
    return try JSONDecoder().decode(File.self, from: Data(contentsOf: url))
  }

  /// The expected answers, one per PDU, empty for silence. Where a case leaves a choice, this is ours.
  static let answers: [String: [String]] = [
    "S01": [
      "010a000004", "010a000004", "0108000004", "0110000004", "010c000004", "0116000004", "0112000004", "0118000004", "0102000004",
      "0102000004",
    ],
    "S03": ["0110000001", "0108050001", "0104000001"],
    "S05": ["01bf000006", ""],
    "S07": ["030502", "030502"],
    "S11": ["0118000004"],
    "S13": ["010c150007"],
    "S15": ["011213000d", "011213000d", "0112130013", "0112130013"],
    "S17": ["21" + "010000" + "010000" + "010000" + "010000" + "010000" + "010000" + "010000" + "01"],
    "S19": ["0108000004", "0108000004", "0108000004"],
    "S21": [""],
  ]

  @Test func theTableIsComplete() throws {
    let cases = try Self.file().cases.filter { $0.layer == "att-server" }
    #expect(cases.count == 13)
    #expect(Set(cases.map(\.id)) == Set(Self.answers.keys).union(["S09", "S23", "S25"]))
  }

  @Test(arguments: answers.keys.sorted())
  func answer(_ id: String) throws {
    let file = try Self.file()
    let pdus = try #require(file.cases.first { $0.id == id }?.pdus)
    let expected = try #require(Self.answers[id])
    var peer = ServerTestPeer(try file.client_database.database(hasConfigurations: true))
    #expect(pdus.count == expected.count)
    for (pdu, answer) in zip(pdus, expected) { #expect(peer.ask(pdu.text) == answer, "\(pdu.text)") }
    if id == "S15" {
      #expect(peer.session.configuration(ofValue: 0x12) == 0)
      #expect(peer.ask("0a1300") == "0b0000")
    }
    if id == "S07" { #expect(peer.state.mtu == 512) }
  }

  @Test func prepareFloodIsBounded() throws {
    let file = try Self.file()
    let pdu = try #require(file.cases.first { $0.id == "S09" }?.pdus?.first?.text.split(separator: " ").first.map(String.init))
    let database = try file.client_database.database(hasConfigurations: true)
    var peer = ServerTestPeer(database)
    let answers = (0..<1000).map { _ in peer.ask(pdu) }
    #expect(answers.prefix(128).allSatisfy { $0 == "17" + pdu.dropFirst(2) })
    #expect(answers.dropFirst(128).allSatisfy { $0 == "0116150009" })
    // Another connection has its own empty queue. Canceling empties this one.
    (peer.state, peer.session) = (BearerState(), ServerSession())
    #expect(peer.ask(pdu) == "17" + pdu.dropFirst(2))
    #expect(peer.ask("1800") == "19" && peer.ask(pdu).hasPrefix("17"))
  }

  @Test func twoClientsHaveTheirOwnConfigurationAndQueue() async throws {
    let database = try Self.file().client_database.database(hasConfigurations: true)
    try await onLoop {
      let store = AttributeStore(database)
      let channels = [ServerTestChannel(), ServerTestChannel()]
      let servers = channels.map { Server(store: store, bearer: Bearer($0, rxMTU: 517)) }
      for server in servers { server.start() }
      channels[0].deliver("1213000100")
      channels[0].deliver("161500000007")
      channels[1].deliver("0a1300")
      channels[1].deliver("1801")
      channels[1].deliver("0a1500")
      #expect(channels[1].take() == ["0b0000", "19", "0b00"])
      #expect(servers.map { $0.notify(0x12, [1]) } == [true, false])
      channels[0].deliver("1801")
      #expect(channels[0].take() == ["13", "171500000007", "1b120001", "19"])
      channels[1].deliver("0a1500")
      #expect(channels[1].take() == ["0b07"])
    }
  }

  @Test func writeCommandFlood() throws {
    let file = try Self.file()
    var peer = ServerTestPeer(try file.client_database.database(hasConfigurations: true))
    var answers = 0
    for _ in 0..<100_000 where !peer.ask(bytes("521500aa")).answers.isEmpty { answers += 1 }
    #expect(answers == 0)
    #expect(peer.ask("0a1500") == "0baa")
  }
}
