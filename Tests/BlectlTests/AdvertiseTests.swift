import Foundation
import TestSupport

/// `advertise` describes an advertisement without a file. Here, another blectl hears it in a shared air.
@Suite(.timeLimit(.minutes(15))) struct AdvertiseTests {
  private static let uuid = "00112233-4455-6677-8899-aabbccddeeff"

  /// Advertises in a new air, hears `count` packets, and ends the advertiser with Ctrl-C.
  private func packets(_ count: Int = 1, _ options: String...) throws -> [Record] {
    let air = try ListeningAir()
    let device = try Blectl.start(["advertise", "--json"] + options, adapter: air.adapter, virtual: false)
    let line = try #require(device.nextLine { $0.contains(#""event":"advertising""#) })
    let address = try #require(try Record(line).string("address"))
    let scan = try air.blectl("scan", "--address", address, "-n", "\(count)", "-d", "60", "--json")
    #expect(scan.status == 0, "\(scan.errors)")
    let ended = device.end(by: SIGINT)
    #expect(ended.status == 130, "\(ended.errors)")
    #expect(try ended.records.count == 1)
    // It has left the air.
    #expect(try air.blectl("scan", "--address", address, "-n", "1", "-d", "1").status == 2)
    return try scan.records
  }

  @Test func aScannerHearsTheContent() throws {
    let packet = try #require(
      try packets(1, "--name", "Söp", "--service", "180f", "--service", "heart_rate", "--manufacturer", "0305:0102").first)
    #expect(packet.string("raw") == "02010605030f180d1805ff05030102050953c3b670", "\(packet)")
    #expect(packet.string("name") == "Söp" && packet.strings("services") == ["180f", "180d"])
    #expect(packet["manufacturer_data"]?.string("0305") == "0102")
    #expect(packet.string("pdu") == "adv_nonconn_ind" && packet.bool("connectable") == false)
  }

  @Test func theScanResponseHoldsTheRest() throws {
    let packets = try packets(2, "--ibeacon", "\(Self.uuid)/258/3/-60", "--name", "Shop", "--interval", "50ms")
    let beacon = packets.first { $0.string("pdu") == "adv_scan_ind" }?["decoded"]?["ibeacon"]
    #expect(beacon?.string("uuid") == Self.uuid && beacon?.int("major") == 258 && beacon?.int("minor") == 3, "\(packets)")
    #expect(packets.first { $0.string("pdu") == "scan_rsp" }?.string("name") == "Shop")
  }

  @Test func measurements() throws {
    let packet = try #require(try packets(1, "--bthome", "temperature=21.5", "door=open", "--bthome", "battery=87").first)
    let objects = packet["decoded"]?["bthome"]?.records("objects") ?? []
    #expect(objects.compactMap { $0.string("name") } == ["battery", "temperature", "door"], "\(packet)")
    #expect(objects.compactMap { $0.double("value") }.prefix(2) == [87, 21.5])
  }

  @Test func extendedAdvertisements() throws {
    let name = String(repeating: "n", count: 200)
    let packet = try #require(
      try packets(1, "--extended", "--name", name, "--manufacturer", "0305:" + String(repeating: "ab", count: 200)).first)
    #expect(packet.string("pdu") == "adv_ext_ind" && packet.string("name") == name && packet.bool("connectable") == false, "\(packet)")
    #expect(packet["manufacturer_data"]?.string("0305")?.count == 400)
    let response = try packets(2, "--extended", "--scan-response", "05ff0305abcd" + String(repeating: "00", count: 60))
    #expect(response.last?.string("pdu") == "scan_rsp" && response.last?["manufacturer_data"]?.string("0503") == "abcd", "\(response)")
  }

  @Test func theLineHasTheContent() throws {
    func line(_ options: String...) throws -> String {
      let result = try Blectl.run(["advertise", "-d", "60"] + options)
      #expect(result.status == 0 && result.output.isEmpty)
      return result.errors
    }
    let text = try line("--name", "Shop", "--bthome", "temperature=21.5", "--scan-response", "0303ffe0")
    #expect(
      text.wholeMatch(
        of: /Advertising "Shop" svc:fcd2=40026608 \(BTHome 21.5 °C\) e0ff as [0-9A-F:]{17}\/\w+\. Press Ctrl-C to stop\.\n/)
        != nil, "\(text)")
    #expect(try line("--raw", "0102 03", "-q").isEmpty)
    #expect(try line("--raw", "0102 03").hasPrefix("Advertising 010203 as "))
  }

  @Test func theRadioGoes() throws {
    let air = try ListeningAir()
    let device = try air.start("advertise", "--raw", "020106", "--json")
    #expect(device.waitForOutput(containing: #""event":"advertising""#))
    _ = air.end(SIGKILL)
    #expect([3, 6].contains(device.wait().status))
  }

  /// Mistakes are found before the radio is used: this one does not exist.
  @Test(arguments: [
    ([], "Nothing to advertise. Use --name, --service, "), (["--name", ""], "The name is empty"),
    (["--name", String(repeating: "n", count: 32)], "and 31 in the scan response. Advertise less, or use --extended.\n"),
    (["--raw", String(repeating: "00", count: 32)], "32 bytes (maximum 31)"),
    (["--raw", "00", "--name", "N"], "replaces all other content"),
    (["--raw", "01 020"], #"Invalid hex "020" (column 4): odd number of digits"#), (["--scan-response", "xx"], "Invalid hex"),
    (["--extended", "--raw", "00", "--scan-response", "00"], "cannot have a scan response"),
    (["--ibeacon", "ffe0/1"], "--ibeacon needs UUID/MAJOR/MINOR"), (["--bthome", "temprature=1"], "Unknown measurement"),
    (["--manufacturer", "Aple"], "Did you mean apple?"), (["--service", "hart_rate"], "Did you mean heart_rate?"),
    (["--name", "N", "--interval", "19"], "20 to 10240 ms"), (["--name", "N", "-d", "-1"], "--duration"),
  ])
  func mistakes(_ options: [String], _ text: String) throws {
    let result = try Blectl.run(["advertise"] + options, adapter: "unix:/nonexistent")
    #expect(result.status == 64 && result.errors.contains(text), "\(options): \(result.errors)")
  }

  @Test func aRecordingCannotAdvertise() throws {
    let trace = TemporaryFolder.path()
    _ = try Blectl.run("--trace", trace, "scan", "-d", "1")
    let result = try Blectl.run("advertise", "--name", "N", adapter: "replay:\(trace)")
    #expect(result.status == 64 && result.errors.contains("A recording cannot advertise"), "\(result.errors)")
  }
}
