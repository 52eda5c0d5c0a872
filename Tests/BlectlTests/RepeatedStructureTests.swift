import TestSupport

/// Several AD structures of one company, one service or one format are legal, and all are shown.
@Suite(.timeLimit(.minutes(15))) struct RepeatedStructureTests {
  private static let devices = """
    [{"name": "Tempo", "address": "D1:00:00:00:00:05/random", "advertisement": ["020106", "05ff3301aa01", "05ff3301bb02"]},
     {"name": "Svc", "address": "D1:00:00:00:00:07/random", "advertisement": ["020106", "05161a18aa01", "05161a18bb02"]},
     {"name": "Twice", "address": "D1:00:00:00:00:08/random", "advertisement": ["0616d2fc400164", "0616d2fc400132"]},
     {"name": "Mix", "address": "D1:00:00:00:00:06/random", "advertisement": ["05ff34120a0b"], "scan_response": ["05ff3412c0c1"]}]
    """

  private func scan(_ arguments: String...) throws -> ProcessResult {
    let file = try TemporaryFolder.file(Self.devices)
    let result = try Blectl.run(["scan", "-d", "2"] + arguments, adapter: "sim:\(file)")
    #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
    return result
  }

  @Test func theRecordHasAllInOrder() throws {
    let records = try scan("--json").records
    func advertisement(_ last: String) throws -> Record {
      try #require(records.first { $0.string("address")?.hasSuffix(last) == true && $0.string("pdu") == "adv_ind" })
    }
    func data(_ record: Record) -> [String] { record.records("structures").map { "\($0.int("type") ?? 0) \($0.string("data") ?? "")" } }
    let company = try advertisement(":05")
    #expect(company["manufacturer_data"]?.string("0133") == "bb02", "the object is as before")
    #expect(data(company) == ["1 06", "255 3301aa01", "255 3301bb02"])
    #expect(company.records("structures").last?.string("name") == "Manufacturer Specific Data")
    let service = try advertisement(":07")
    #expect(service["service_data"]?.string("181a") == "bb02" && data(service) == ["1 06", "22 1a18aa01", "22 1a18bb02"])
    let decoded = try advertisement(":08")
    let levels = ([decoded] + decoded.records("structures")).map { $0["decoded"]?["bthome"]?.records("objects").first?.int("value") }
    #expect(levels == [50, 100, 50])
    // A structure that occurs once in an advertisement, and again in a scan response, needs no list.
    #expect(records.filter { $0.keys.contains("structures") }.count == 3)
  }

  @Test func theTextHasAll() throws {
    let lines = try scan().lines
    let twice = try #require(lines.first { $0.contains(":00:08/") })
    #expect(twice.contains("100 %") && twice.contains("50 %"), "\(twice)")
  }

  @Test func offlineEveryStructureIsDecoded() throws {
    let record = try #require(try Blectl.run("decode", "adv", "--json", "020106 0616d2fc400164 0616d2fc400132").records.first)
    #expect(record.records("structures").map { $0["decoded"]?["bthome"]?.records("objects").first?.int("value") } == [nil, 100, 50])
  }

  @Test(arguments: [
    ("0133:aa", ":05"), ("0133:bb", ":05"), ("1234:0a", ":06"), ("1234:c0", ":06"),
  ])
  func filtersLookAtAll(_ manufacturer: String, _ last: String) throws {
    let records = try scan("--json", "--manufacturer", manufacturer).records
    #expect(!records.isEmpty && records.allSatisfy { $0.string("address")?.hasSuffix(last) == true })
    if last == ":06" { #expect(records.contains { $0.string("pdu") == "scan_rsp" }) }
  }
}
