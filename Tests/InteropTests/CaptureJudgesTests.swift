import Foundation
import TestSupport

/// What other decoders say of captures on which decoders disagree. `DecodedCaptureTests` has what blectl says, and who is right.
@Suite(.timeLimit(.minutes(15))) struct CaptureJudgesTests {
  /// Rows: file, arguments of the judge, texts that its output has, texts that it lacks, and whether it is right.
  @Test(
    arguments: [
      // Right: the data status. Wrong: a part is not malformed.
      ("chain.btsnoop", "tshark", ["Data Status: Incomplete, more to come", "Malformed Packet: BT Common"], ["two reports to be"], false),
      ("chain2.btsnoop", "tshark", ["Data Status: Incomplete, truncated, no more to come", "Malformed Packet"], [], false),
      ("chain.btsnoop", "btmon", ["Incomplete, more data to come"], ["Name (complete): A name"], false),
      ("chain2.btsnoop", "btmon", ["Incomplete, data truncated, no more to come"], ["Name (complete)"], false),
      (
        "ext.btsnoop", "btmon",
        ["Legacy PDU Type: ADV_IND (0x0013)", "Use legacy advertising PDUs", "Address type: Resolved Public (0x02)"], [], true
      ),
      // Wrong: 0x1B is the scan response to ADV_IND, and PHY 4, 0xFE and 0xFF are not reserved.
      (
        "ext.btsnoop", "btmon", ["SCAN_RSP to an ADV_SCAN_IND (0x001b)", "Primary PHY: Reserved", "Address type: Reserved (0xff)"], [],
        false
      ),
      ("newsub.btsnoop", "btmon", ["Unknown (0x24)", "Unknown (0x2b)", "Unknown (0x35)"], [], false),
      ("newsub.btsnoop", "tshark", ["Sub Event: Unknown (0x24)"], [], false),
      ("lost.btsnoop", "btmon", ["ATT: Read Request (0x0a) len 2", "ATT: Read Response (0x0b) len 1"], [], true),
      ("ad.btsnoop", "tshark", ["Type: Unknown (0x2e)", "Type: Unknown (0x34)"], [], false),
      ("snap.btsnoop", "tshark", ["Packet size limited during capture"], [], true),
      // Wrong: the file lacks most of these bits.
      ("snap.btsnoop", "btmon", ["Commands: "], ["truncated"], false),
      ("notes.pklg", "tshark", ["note text"], [], true),
    ] as [(String, String, [String], [String], Bool)])
  func judges(_ file: String, _ judge: String, _ mentions: [String], _ others: [String], _ isRight: Bool) throws {
    let command = judge == "btmon" ? ["btmon", "-r", Vectors.path(file)] : ["tshark", "-V", "-r", Vectors.path(file)]
    let said = try RunningProcess.run(command)
    for mention in mentions { #expect(said.text.contains(mention), "\(mention) is not in \(said.text)") }
    for other in others { #expect(!said.text.contains(other), "\(other) is in \(said.text)") }
  }

  /// Bumble knows three of the events that btmon and tshark do not know. Its fields and ours have the same numbers.
  @Test func bumblesEvents() throws {
    let python = try #require(ProcessInfo.processInfo.environment["BLECTL_PYTHON"], "run scripts/test")
    let program = """
      import json, sys
      from bumble import hci
      for packet in sys.argv[1:]:
          event = hci.HCI_Packet.from_bytes(bytes.fromhex(packet))
          print(json.dumps({key: int(value) for key, value in vars(event).items() if isinstance(value, int)}))
      """
    let packets = [
      "043e14240005000301010000eeffc002500000040a0508", "043e0e2505007fc4ff070001000302 0106".replacingOccurrences(of: " ", with: ""),
      "043e182600010002000500 0301010000eeffc002500000040a0508".replacingOccurrences(of: " ", with: ""),
    ]
    let said = try RunningProcess.run([python, "-c", program] + packets)
    try #require(said.status == 0, "\(said.errors)")
    let names = [
      "sync_handle": "sync_handle", "advertising_sid": "sid", "periodic_advertising_interval": "periodic_interval",
      "num_subevents": "num_subevents", "subevent_interval": "subevent_interval", "response_slot_delay": "response_slot_delay",
      "response_slot_spacing": "response_slot_spacing", "rssi": "rssi", "cte_type": "cte_type", "subevent": "subevent",
      "periodic_event_counter": "periodic_event_counter", "data_status": "data_status", "status": "status", "connection_handle": "handle",
      "service_data": "service_data",
    ]
    var compared = 0
    for (packet, theirs) in zip(packets, try said.records) {
      let ours = try #require(try Blectl.run("decode", "hci", packet, "--json").records.first?["fields"])
      for (their, our) in names {
        guard let number = theirs.int(their) else { continue }
        #expect(ours.int(our) == number, "\(packet): \(our)")
        compared += 1
      }
    }
    #expect(compared >= 20)
  }
}
