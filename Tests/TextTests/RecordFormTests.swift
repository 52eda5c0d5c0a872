import TestSupport

/// Records as tables and as lines of a template, and the forms of their times.
@Suite(.timeLimit(.minutes(15))) struct RecordFormTests {
  private static func record(_ json: String) throws -> JSONTree { try JSONTree.parse(Array(json.utf8)) }

  private static func rows(_ form: RecordForm, values: [String]? = nil, _ records: String...) throws -> [String] {
    var rows = RecordRows(form)
    rows.valueFields = values
    return try records.map { try rows.text(of: record($0)) }
  }

  // MARK: Templates

  @Test(arguments: [
    ("{time},{name}", #"{"time":"T","name":"Band"}"#, "T,Band"),
    ("{heart_rate}", #"{"decoded":{"heart_rate":{"value":72,"unit":"bpm"}}}"#, "72"),
    ("{decoded.heart_rate.unit}", #"{"decoded":{"heart_rate":{"value":72,"unit":"bpm"}}}"#, "bpm"),
    ("{decoded}", #"{"decoded":{"a":{"value":72,"unit":"bpm"},"b":{"value":192,"name":"Watch"}}}"#, "a=72 bpm; b=Watch"),
    ("{level}%", #"{"values":{"level":60}}"#, "60%"), ("{rssi} {rssi.mean}", #"{"rssi":{"last":-5,"mean":-6.5}}"#, "-5 -6.5"),
    ("{services}|{services[1]}", #"{"services":["ffe0","180d"]}"#, "ffe0 180d|180d"),
    ("{{{name}}}\\t\\\\", #"{"name":null}"#, "{}\t\\"),
    ("{manufacturer_data}", #"{"manufacturer_data":{"0305":"01","004c":"02"}}"#, "0305=01; 004c=02"),
    // The record's own member comes before a decoded value of the same name.
    ("{name}", #"{"name":"Band","decoded":{"name":{"value":"other"}}}"#, "Band"),
    // Text from a device does not break a line or move the cursor.
    ("{name}", #"{"name":"a\nb\u001b[2J"}"#, #"a\x0ab\x1b[2J"#),
  ])
  func aTemplateTakesFields(_ template: String, _ record: String, _ line: String) throws {
    let fields = ["time", "name", "rssi", "services", "manufacturer_data", "decoded", "values"]
    #expect(try Self.rows(.template(RecordTemplate(template), fields), record) == [line + "\n"])
  }

  @Test(arguments: [
    ("{name", RecordTemplate.Mistake.brace("{", at: 1)), ("a}", .brace("}", at: 2)), ("{a{b}}", .brace("{", at: 1)),
    ("x {}", .emptyField(at: 3)), ("text", .noField), ("", .noField),
  ])
  func aWrongTemplateIsRefused(_ template: String, _ mistake: RecordTemplate.Mistake) {
    #expect(throws: mistake) { try RecordTemplate(template) }
  }

  @Test func anUnknownFieldIsAnErrorOnlyInTheFirstRecord() throws {
    let template = try RecordTemplate("{name} {energy}")
    #expect(throws: UnknownRecordField(field: "energy", known: ["name", "decoded", "pulse"])) {
      try Self.rows(.template(template, ["name", "decoded"]), #"{"name":"a","decoded":{"pulse":{"value":1}}}"#)
    }
    // The type of the value has the field, but this value lacks it.
    let lines = try Self.rows(.template(template, ["name"]), values: ["energy"], #"{"name":"a"}"#, #"{"decoded":{"energy":{"value":5}}}"#)
    #expect(lines == ["a \n", " 5\n"])
  }

  // MARK: Tables

  @Test func aTableHasAHeaderAndQuotes() throws {
    let lines = try Self.rows(
      .csv(["name", "rssi", "services"]), #"{"name":"a,\"b\"","rssi":-58,"services":["ffe0","180d"]}"#, #"{"rssi":null,"name":" c"}"#)
    #expect(lines == ["name,rssi,services\n\"a,\"\"b\"\"\",-58,ffe0 180d\n", "\" c\",,\n"])
  }

  /// A spreadsheet would run a name that starts like a formula. Numbers are no formulas.
  @Test func aNameIsNoFormula() throws {
    for name in ["=1+1", "+cmd", "-x", "@sum"] {
      #expect(try Self.rows(.csv(["name"]), #"{"name":"\#(name)"}"#) == ["name\n'\(name)\n"])
    }
    #expect(try Self.rows(.csv(["rssi"]), #"{"rssi":-58}"#) == ["rssi\n-58\n"])
  }

  @Test func decodedValuesHaveColumns() throws {
    let records = [#"{"decoded":{"pulse":{"value":72,"unit":"bpm"}}}"#, #"{"decoded":{"pulse":{"value":73},"late":{"value":1}}}"#]
    var rows = RecordRows(.csv(["uuid", "decoded"]))
    rows.valueFields = ["flags", "pulse"]
    #expect(try rows.text(of: Self.record(records[0])) == "uuid,flags,pulse\n,,72\n")
    #expect(rows.omitted.isEmpty)
    #expect(try rows.text(of: Self.record(records[1])) == ",,73\n")
    #expect(rows.omitted == ["late"])
    // Without a common type, all decoded values share a column.
    #expect(try Self.rows(.csv(["decoded"]), records[0]) == ["decoded\npulse=72\n"])
  }

  @Test func anEmptyTableHasAHeader() throws {
    var rows = RecordRows(.csv(["uuid", "decoded"]))
    #expect(rows.headerWithoutRows() == "uuid,decoded\n")
    #expect(rows.headerWithoutRows() == nil)
    var json = RecordRows(.json)
    #expect(json.headerWithoutRows() == nil)
  }

  // MARK: Times

  @Test func timesHaveFourForms() {
    let time: Int64 = 1_767_225_600_250_000_000
    func texts(_ form: RecordTimes) -> [String?] {
      var form = form
      return [form.text(time), form.text(time + 1_500_000_000), form.text(time - 50_000_000)]
    }
    #expect(texts(.utc) == ["2026-01-01T00:00:00.250Z", "2026-01-01T00:00:01.750Z", "2026-01-01T00:00:00.200Z"])
    #expect(texts(.local { _ in -12_600_000_000_000 })[0] == "2025-12-31T20:30:00.250-03:30")
    #expect(texts(.local { _ in 19_800_000_000_000 })[0] == "2026-01-01T05:30:00.250+05:30")
    #expect(texts(.relative(since: nil)) == ["0.000", "1.500", "-0.050"])
    #expect(texts(.none) == [nil, nil, nil])
    #expect(RecordTimes.local { _ in 3_600_000_000_000 }.withText(.max) == Timestamp.text(.max))
  }

  @Test func aRecordHasTimesInTheForm() {
    var form = RecordTimes.relative(since: nil)
    let tree = RecordWriter.value(&form) { $0.time("time", 5_000_000_000) }
    #expect(RecordField("time").text(in: tree) == "0.000")
    #expect(RecordField("time").text(in: RecordWriter.value(&form) { $0.time("time", 7_000_000_000) }) == "2.000")
    var json = RecordWriter()
    json.times = .none
    json.time("time", 0)
    json.integer("n", 1)
    #expect(String(decoding: json.finished(), as: UTF8.self) == "{\"n\":1}\n")
  }
}

extension RecordTimes {
  fileprivate func withText(_ nanoseconds: Int64) -> String? {
    var form = self
    return form.text(nanoseconds)
  }
}
