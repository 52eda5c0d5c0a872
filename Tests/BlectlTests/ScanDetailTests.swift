import BluetoothLEDeviceFiles
import TestSupport

@testable import Presentation
@testable import blectl

/// `scan -v` prints one line for each AD structure.
@Suite(.timeLimit(.minutes(15))) struct ScanDetailTests {
  static func lines(_ hex: String) -> [String] {
    AdvertisingDetail.lines(Hex.decode(hex) ?? [], isCut: false, of: nil, pdu: .connectable, AdvertisingFormats())
  }

  @Test(arguments: [
    ("020106", "  adv_ind  Flags  LE General Discoverable, BR/EDR Not Supported (06)"), ("020100", "  adv_ind  Flags  none (00)"),
    ("050942616e64", "  adv_ind  Complete Local Name  \"Band\""), ("03081b5b", "  adv_ind  Shortened Local Name  \"\\x1b[\""),
    ("040d0c025a", "  adv_ind  Class of Device  Phone: Smartphone; Networking, Capturing, Object Transfer, Telephony (0c025a)"),
    ("030d0c02", "Class of Device  0c02"), ("020af4", "  adv_ind  Tx Power Level  -12 dBm"),
    ("0319c000", "  adv_ind  Appearance  Watch (c000)"),
    ("05030d180ffe", "  adv_ind  Complete List of 16-bit Service UUIDs  180d Heart Rate, fe0f "),
    ("04ff4c0012", "  adv_ind  Manufacturer Specific Data  004c Apple, Inc.  12"), ("03ff4c00", "004c Apple, Inc.  "),
    ("02ff4c", "Data  4c"),
    ("04160f18aa", "  adv_ind  Service Data - 16-bit UUID  180f Battery Service  aa"), ("021601", "UUID  01"),
    ("037e0102", "AD type 0x7e  0102"),
    ("05120600a000", "Peripheral Connection Interval Range  7.5 ms to 200 ms (0600a000)"), ("", "  adv_ind  (empty)"),
    ("0201", "(malformed: "),
    ("0716d2fc40023c0a", "BTHome 26.2 °C"), ("0716d2fc40fa0102", "BTHome unknown: fa0102"), ("0416d2fc40", "BTHome without values"),
    ("1aff4c000215e2c56db5dffb48d2b060d0f5a71096e000010002c5", "iBeacon 1/2 e2c56db5"),
  ]) func everyType(_ data: String, _ line: String) {
    let lines = Self.lines(data)
    #expect(lines.contains { $0.contains(line) }, "\(lines)")
  }

  /// BTHome has texts, and a sensor may put anything into one.
  @Test func decodedTextIsEscaped() throws {
    let data = "0c16d2fc405306" + "1b5b324a0a41"
    let lines = Self.lines(data)
    #expect(lines.contains { $0.contains("\\x1b[2J\\x0aA") } && lines.allSatisfy { $0.utf8.allSatisfy { $0 >= 0x20 } }, "\(lines)")
    let report = AdvertisingReport(
      pdu: .connectable, isConnectable: true, isScannable: true, peer: nil, rssi: -60, data: Hex.decode(data) ?? [])
    let line = ScanRecord.line(report, Advertisement(report.data), AdvertisingFormats())
    #expect(line.contains("(BTHome ") && line.utf8.allSatisfy { $0 >= 0x20 }, "\(line)")
  }

  /// Any advertising data can be shown.
  @Test func anythingIsShown() {
    var random = SplitMix64(seed: 9)
    for _ in 0..<20_000 {
      let data = (0..<Int.random(in: 0...40, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      let lines = AdvertisingDetail.lines(data, isCut: false, of: nil, pdu: .scanResponse, AdvertisingFormats())
      #expect(!lines.isEmpty && lines.allSatisfy { $0.utf8.allSatisfy { $0 >= 0x20 } }, "\(Hex.encode(data))")
    }
  }

  /// An extended report with a transmit power of its own. Its advertisement has another one, or none.
  private static func report(_ hex: String, txPower: Int8? = nil, isTruncated: Bool = false) -> AdvertisingReport {
    AdvertisingReport(
      pdu: .extended, isConnectable: true, isScannable: false, peer: PeerAddress(Address(rawValue: 1), .public), rssi: -60,
      data: Hex.decode(hex) ?? [], isTruncated: isTruncated, txPower: txPower)
  }

  private static func record(_ build: (inout RecordWriter) -> Void) throws -> Record {
    var json = RecordWriter()
    build(&json)
    return try Record(String(decoding: json.finished(), as: UTF8.self))
  }

  /// `tx_power` is the Tx Power Level of the advertisement, and never the one of the report.
  @Test(arguments: [("020106020af4", -12), ("020106", nil)] as [(String, Int?)])
  func theReportHasATxPowerOfItsOwn(_ hex: String, _ level: Int?) throws {
    let report = Self.report(hex, txPower: 8)
    let (advertisement, formats) = (Advertisement(report.data), AdvertisingFormats())
    var device = DeviceView(try #require(report.peer))
    device.add(report, advertisement)
    for record in [
      try Self.record { ScanRecord.json(&$0, report, advertisement, 0, formats, namesPeer: false) },
      try Self.record { DeviceRecord.json(&$0, device, formats, namesPeer: false) },
    ] {
      #expect(record.int("tx_power") == level && record.isNull("tx_power") == (level == nil), "\(record)")
      #expect(record.int("report_tx_power") == 8, "\(record)")
    }
    let words = ScanRecord.line(report, advertisement, formats).split(separator: " ")
    #expect(words.contains("tx:-12dBm") == (level != nil) && !words.contains("tx:8dBm") && words.contains("report-tx:8dBm"), "\(words)")
    // Without a power of its own, a report has no such field.
    let other = try Self.record { ScanRecord.json(&$0, Self.report(hex), advertisement, 0, formats, namesPeer: false) }
    #expect(other.int("tx_power") == level && !other.keys.contains("report_tx_power"), "\(other)")
  }

  /// What the controller cut is not malformed. A wrong structure before the cut is.
  @Test func aTruncatedReportIsCut() throws {
    let formats = AdvertisingFormats()
    for (hex, isMalformed) in [("020106094142", false), ("020106", false), ("0219410941", true)] {
      let report = Self.report(hex, isTruncated: true)
      let advertisement = Advertisement(report.data)
      let record = try Self.record { ScanRecord.json(&$0, report, advertisement, 0, formats, namesPeer: false) }
      #expect(record.bool("truncated") == true && record.keys.contains("error") == isMalformed, "\(hex): \(record)")
      let line = ScanRecord.line(report, advertisement, formats)
      #expect(line.contains("(truncated by the controller)") && line.contains("(malformed: ") == isMalformed, "\(line)")
      var device = DeviceView(try #require(report.peer))
      device.add(report, advertisement)
      let detail = AdvertisingDetail.lines(device, formats) { $0 }
      #expect(detail.contains { $0.contains("(cut") } && detail.contains { $0.contains("(malformed: ") } == isMalformed, "\(detail)")
      // The whole data comes later.
      let whole = Self.report("02010603094142")
      device.add(whole, Advertisement(whole.data))
      #expect(!AdvertisingDetail.lines(device, formats) { $0 }.contains { $0.contains("(cut") })
    }
    let cut = AdvertisingDetail.lines(Hex.decode("020106094142") ?? [], isCut: true, of: nil, pdu: .extended, formats)
    #expect(cut.suffix(2).map { $0.trimmed } == ["AD type 0x41  42", "(cut: 3 of 10 bytes)"], "\(cut)")
  }

  @Test func afterEachRecordOnAPipe() throws {
    let result = try Blectl.run("scan", "-v", "-d", "2", "--address", "D1:00:00:00:00:02")
    let lines = result.lines
    #expect(lines.count == 8, "\(result.text)")
    #expect(lines.first?.hasPrefix("D1:00:00:00:00:02/random ") == true)
    #expect(
      lines.contains("  scan_rsp  (empty)") && lines.contains { $0.contains("→ MAC A4:C1:38:00:11:33 in manufacturer_data/0305, offset 2") }
    )
    #expect(try Blectl.run("scan", "-d", "2", "--address", "D1:00:00:00:00:02").lines.count == 2)
    let ascii = try Blectl.run(["scan", "-v", "-d", "2"], environment: ["LC_ALL": "C"])
    #expect(ascii.output.allSatisfy { $0 < 0x80 } && ascii.text.contains("> MAC "), "\(ascii.text)")
  }
}
