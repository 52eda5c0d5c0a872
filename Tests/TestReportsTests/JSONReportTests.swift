import Scripts
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct JSONReportTests {
  private static func text(_ build: (inout RecordWriter) -> Void) -> String {
    var json = RecordWriter()
    build(&json)
    return String(decoding: json.finished(), as: UTF8.self)
  }

  @Test func eachOutcomeIsARecord() {
    let results = ReportSamples.each()
    let texts = results.map { result in Self.text { JSONReport.test(&$0, result) } }
    #expect(
      texts[0] == """
        {"event":"test","file":"lock.ble","line":3,"name":"refuses a wrong code","tags":[],"peer":null,"status":"passed","attempts":1,"flaky":false,"seconds":0.42,\
        "start":"2026-11-22T12:03:04.512Z","notes":[],"warnings":[],"steps":[],"packets":[]}

        """)
    let packets = """
      [{"seconds":-0.00025,"direction":"sent","pdu":"52100000112233","text":"Write Command 0x0010"},\
      {"seconds":0.31,"direction":"received","pdu":"1b120042555359","text":"Handle Value Notification 0x0012"}]
      """
    #expect(
      texts[1] == """
        {"event":"test","file":"lock.ble","line":10,"name":"refuses a wrong code","tags":["slow","refuses a wrong code"],"peer":null,\
        "status":"failed","attempts":1,"flaky":false,"seconds":2.01,"start":"2026-11-22T12:03:04.512Z","error":{"kind":"expectation","name":null,\
        "message":"refuses a wrong code","file":"lock.ble","line":14,"source":"expect ffe2 == \\"FAIL\\" within 2s",\
        "expected":"\\"FAIL\\"  4641494c","actual":"\\"BUSY\\"  42555359","seconds":0.31,"others":["ffe3  0102"],"packets":\(packets),\
        "further":["teardown: lock.ble:3: nobody answers"]},"notes":["refuses a wrong code"],"warnings":[{"kind":"expectation","name":null,\
        "message":"refuses a wrong code","file":"lock.ble","line":14,"source":"expect ffe2 == \\"FAIL\\" within 2s",\
        "expected":"\\"FAIL\\"  4641494c","actual":"\\"BUSY\\"  42555359","seconds":0.31,"others":["ffe3  0102"],"packets":\(packets),\
        "further":["teardown: lock.ble:3: nobody answers"]}],"steps":[{"file":"lock.ble","line":11,\
        "text":"write ffe1 refuses a wrong code","at":0,"seconds":0.015,"failed":false,"values":[]},{"file":"lock.ble","line":14,\
        "text":"expect ffe2","at":0.015,"seconds":0.31,"failed":true,"values":[{"name":"ffe2","at":0.31,"text":"refuses a wrong code",\
        "number":42.0,"unit":"refuses a wrong code"}]}],"packets":\(packets),"omitted_packets":3}

        """)
    #expect(
      texts[2].contains(#""status":"error","attempts":1,"flaky":false,"seconds":1,"#)
        && texts[2].contains(#""error":{"kind":"no_adapter","name":"hci0","#))
    #expect(texts[3].contains(#""status":"skipped","#) && texts[3].contains(#""reason":"refuses a wrong code","notes":[]"#))
  }

  @Test func theRunIsARecord() {
    var summary = ReportSamples.summary(ReportSamples.each())
    summary.notRun = 5
    #expect(
      Self.text { JSONReport.run(&$0, summary) } == """
        {"event":"run","passed":1,"flaky":0,"failed":1,"errors":1,"skipped":1,"not_run":5,"warnings":1,"seconds":3.43,"start":"2026-11-22T12:03:04.512Z"}

        """)
  }

  @Test func hostileTextsComeBack() throws {
    for name in ReportSamples.hostileNames {
      for result in ReportSamples.each(named: name) {
        let record = try Record(Self.text { JSONReport.test(&$0, result) })
        #expect(record.string("name") == name)
        if case .skipped = result.outcome { #expect(record.string("reason") == name) }
        if result.problem != nil { #expect(record["error"]?.string("message") == name) }
      }
    }
  }

  /// JSON cannot express some doubles, but durations are never such values.
  @Test(arguments: [
    (Duration.zero, "0"), (.nanoseconds(499), "0"), (.nanoseconds(500), "0.000001"), (.seconds(-1), "-1"), (.milliseconds(-1), "-0.001"),
    (.microseconds(1_999_999), "1.999999"), (.nanoseconds(1_999_999_500), "2"), (.seconds(Int64.max), "9223372036854775807"),
    (.nanoseconds(-1), "0"), (.seconds(100), "100"),
  ])
  func timesAreExactToTheMicrosecond(_ duration: Duration, _ shown: String) {
    var summary = RunSummary()
    summary.duration = duration
    #expect(Self.text { JSONReport.run(&$0, summary) }.contains("\"seconds\":\(shown),"))
  }
}
