import Foundation
import TestSupport

/// `services --values` shows descriptors: names, formats, ranges, and reasons for failed reads.
@Suite(.timeLimit(.minutes(15))) struct DescriptorTests {
  static let meter = """
    [{"name": "Meter", "address": "D1:00:00:00:00:33/random", "advertisement": {"flags": 6, "name": "Meter"},
      "services": [{"uuid": "fff0", "characteristics": [
        {"uuid": "fff1", "properties": ["read", "notify"], "value": {"i16le": -253},
         "descriptors": [
           {"uuid": "2901", "value": {"utf8": "Outdoor \\u001b[31mtemperature\\u0000"}}, {"uuid": "2904", "value": "0efe 2f27 01 0d01"},
           {"uuid": "2906", "value": {"i16le": [-4000, 8500]}}]},
        {"uuid": "fff2", "properties": ["read"], "value": ["01", {"u32le": 77831}],
         "descriptors": [
           {"uuid": "2904", "value": "0100 0027 01 0000"}, {"uuid": "2904", "value": "0800 0027 01 0100"}, {"uuid": "2905", "value": "1300 1400"}]},
        {"uuid": "fff3", "properties": ["read"], "permissions": ["read_encrypted"],
         "descriptors": [
           {"uuid": "2901", "permissions": [], "value": {"utf8": "secret"}}, {"uuid": "2901", "value": "ff00"},
           {"uuid": "2901", "value": {"utf8": "Third"}}]},
        {"uuid": "2a19", "properties": ["read", "notify"], "value": {"u8": 60},
         "descriptors": [{"uuid": "2904", "value": "06ff 2f27 01 0601"}, {"uuid": "2906", "value": "0564"}]},
        {"uuid": "fff4", "properties": ["read"], "value": "010203", "descriptors": [{"uuid": "2904", "value": "0800 0027 01 0000"}]},
        {"uuid": "fff5", "properties": ["read"], "value": "6800 6900",
         "descriptors": [{"uuid": "2904", "value": "1a00 0027 00 0000"}, {"uuid": "2906", "value": "010203"}, {"uuid": "1234", "value": "0102"}]},
        {"uuid": "fff6", "properties": ["read"], "value": "cdcccc3d", "descriptors": [{"uuid": "2904", "value": "1400 2827 01 0000"}]}
      ]}]}]
    """

  private let file = TemporaryPath()
  private var adapter: String { "sim:\(file.path)" }

  init() throws { try file.write(Array(Self.meter.utf8)) }

  @Test func theTreeShowsThem() throws {
    let result = try Blectl.run("services", "name:meter", "--values", adapter: adapter)
    #expect(result.status == 0, "\(result.errors)")
    let tree = result.text.components(separatedBy: "fff0  primary").last ?? ""
    for line in [
      #"├─ fff1 "Outdoor \x1b[31mtemperature"  0x000b, value 0x000c  [read, notify]"#,
      "│  = 03ff  -2.53 °C",
      "2902 Client Characteristic Configuration  0x000d  off",
      #"2901 Characteristic User Description  0x000e  "Outdoor \x1b[31mtemperature""#,
      "2904 Characteristic Presentation Format  0x000f  sint16 × 10^-2 °C, left",
      "2906 Valid Range  0x0010  -40 … 85 °C",
      "│  = 0107300100  value true, value 77831",
      "2904 Characteristic Presentation Format  0x0013  boolean",
      "2904 Characteristic Presentation Format  0x0014  uint32, first",
      "2905 Characteristic Aggregate Format  0x0015  0x0013, 0x0014",
      #"├─ fff3 "Third"  0x0016, value 0x0017  [read]"#,
      "│  = (needs encryption)",
      "2901 Characteristic User Description  0x0018  (not permitted)",
      "2901 Characteristic User Description  0x0019  ff00  does not fit Characteristic User Description: User Description is not UTF-8",
      "│  = 3c  60 %",
      "2906 Valid Range  0x001f  5 … 100 %",
      "│  = 010203  does not fit its presentation format: 3 bytes, too few for Value",
      #"│  = 68006900  "hi""#,
      "2904 Characteristic Presentation Format  0x0025  utf16s",
      "2906 Valid Range  0x0026  010203",
      "1234  0x0027  0102",
      "   = cdcccc3d  0.1 V",
    ] { #expect(tree.contains(line + "\n"), "\(line) is missing in\n\(tree)") }
  }

  @Test func recordsHaveThem() throws {
    let result = try Blectl.run("services", "name:meter", "--values", "--json", adapter: adapter)
    let service = try #require(try result.records.first { $0.string("uuid") == "fff0" }, "\(result.errors)")
    let items = Dictionary(grouping: service.records("characteristics")) { $0.string("uuid") ?? "" }.compactMapValues(\.first)
    let temperature = try #require(items["fff1"])
    #expect(temperature.string("user_description") == "Outdoor \u{1B}[31mtemperature")
    #expect(temperature["decoded"]?["value"]?.double("value") == -2.53 && temperature["decoded"]?["value"]?.string("unit") == "°C")
    let parts = temperature.records("descriptors")
    #expect(parts.map { $0.string("uuid") } == ["2902", "2901", "2904", "2906"])
    #expect(parts[0]["decoded"]?["configuration"]?.bool("notifications") == false && parts[0].string("value") == "0000")
    #expect(parts[1]["decoded"]?["user_description"]?.string("value") == "Outdoor \u{1B}[31mtemperature")
    #expect(parts[2]["decoded"]?["format"]?.string("name") == "sint16" && parts[2]["decoded"]?["unit"]?.string("name") == "°C")
    #expect(parts[2]["decoded"]?["unit"]?.string("value") == "272f" && parts[2]["decoded"]?["exponent"]?.int("value") == -2)
    #expect(parts[3]["decoded"]?["minimum"]?.int("value") == -40 && parts[3]["decoded"]?["maximum"]?.int("value") == 85)
    #expect(items["fff2"]?["decoded"]?["value"]?.string("name") == "true" && items["fff2"]?["decoded"]?["value_2"]?.int("value") == 77831)
    let secret = try #require(items["fff3"])
    #expect(secret.isNull("value") && secret["error"]?.int("code") == 15 && secret["error"]?.string("name") == "insufficient_encryption")
    let refused = try #require(secret.records("descriptors").first)
    #expect(refused.isNull("value") && refused["error"]?.int("code") == 2 && refused["error"]?.string("name") == "read_not_permitted")
    #expect(secret.records("descriptors")[1].string("decoded_error") == "User Description is not UTF-8")
    #expect(items["fff6"]?["decoded"]?["value"]?.double("value") == 0.1)
    // The Bluetooth SIG's description takes precedence over the format.
    #expect(items["2a19"]?["decoded"]?["battery_level"]?.int("value") == 60)
    #expect(items["fff4"]?.isNull("decoded") == true && items["fff4"]?.string("decoded_error") == "3 bytes, too few for Value")
    #expect(items["fff5"]?["decoded"]?["value"]?.string("value") == "hi")
  }

  /// Without --values nothing is read.
  @Test func onlyWhenAsked() throws {
    let result = try Blectl.run("services", "name:meter", "--json", adapter: adapter)
    let all = try result.records.flatMap { $0.records("characteristics") }
    #expect(all.count > 5 && all.allSatisfy { !$0.keys.contains("value") && !$0.keys.contains("user_description") })
    #expect(all.flatMap { $0.records("descriptors") }.allSatisfy { !$0.keys.contains("value") && !$0.keys.contains("decoded") })
  }

  /// Each descriptor that discovery has not read takes one request.
  @Test func eachIsReadOnce() throws {
    let result = try Blectl.run("services", "name:meter", "--values", "-vv", adapter: adapter)
    let handles = result.errors.matches(of: /< Read Request 0a(\w{4})/).map { String($0.1) }
    #expect(handles.count == Set(handles).count && handles.count > 20, "\(result.errors)")
  }

  @Test(
    arguments: [
      ("fff1@2902", "0000  off\n"), ("fff1@2904", "0efe2f27010d01  sint16 × 10^-2 °C, left\n"), ("fff2@2905", "13001400  0x0013, 0x0014\n"),
      ("fff3@2901[3]", "Third\n"),
    ]) func readShowsWhatADescriptorMeans(_ attribute: String, _ shown: String) throws
  {
    let result = try Blectl.run("read", "name:meter", attribute, adapter: adapter)
    #expect(result.text == shown, "\(result.errors)")
  }

  /// A name from the firmware may have any content, up to the length limit of attributes.
  @Test func aHostileNameStaysInItsPlace() throws {
    let name = String(repeating: "長", count: 150) + "\\u202e\\n\\u0000\\u0007x"
    let peer =
      #"[{"name": "Long", "address": "D1:00:00:00:00:34/random", "advertisement": {"name": "Long"}, "services": [{"uuid": "fff0", "characteristics": "#
      + #"[{"uuid": "fff1", "properties": ["read"], "descriptors": [{"uuid": "2901", "value": {"utf8": "\#(name)"}}]}]}]}]"#
    let path = TemporaryPath()
    try path.write(Array(peer.utf8))
    let result = try Blectl.run("services", "name:long", "--values", adapter: "sim:\(path.path)")
    #expect(result.status == 0, "\(result.errors)")
    let line = try #require(result.lines.first { $0.contains("fff1") })
    #expect(line.hasPrefix("└─ fff1 \"長長") && line.count < 110 && line.contains("…\"  0x"), "\(line)")
    #expect(result.text.unicodeScalars.allSatisfy { $0 == "\n" || ($0.value >= 0x20 && $0 != "\u{202E}") })
    #expect(result.lines.filter { $0.contains("長") }.count == 2)
  }

  @Test func aPresetHasNames() throws {
    let tree = try Blectl.run("services", "name:panel", "--values").text
    #expect(tree.contains(#"fff6 "Picture""#) && tree.contains(#"fff7 "Received""#), "\(tree)")
  }
}
