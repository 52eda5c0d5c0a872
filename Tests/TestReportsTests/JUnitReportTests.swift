import Scripts
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct JUnitReportTests {
  private static func document(_ results: [TestResult], host: String = "localhost") -> String {
    var report = JUnitReport(host: host)
    for result in results { report.add(result) }
    return report.document()
  }

  @Test func showsEachOutcome() {
    var results = ReportSamples.each()
    results[0].peer = "GateLock & co"
    #expect(
      Self.document(results) == """
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites>
        <testsuite name="lock.ble" package="" id="0" timestamp="2026-11-22T12:03:04" hostname="localhost" tests="4" failures="1" errors="1" \
        skipped="1" time="3.430">
        <properties>
        <property name="peer" value="GateLock &amp; co"/>
        <property name="tags of refuses a wrong code" value="slow refuses a wrong code"/>
        <property name="warning of refuses a wrong code" value="lock.ble:14: refuses a wrong code \
        Expected: &quot;FAIL&quot;  4641494c. Actual: &quot;BUSY&quot;  42555359."/>
        </properties>
        <testcase name="refuses a wrong code" classname="lock" time="0.420"/>
        <testcase name="refuses a wrong code" classname="lock" time="2.010"><failure type="expectation" message="refuses a wrong code">\
        lock.ble:14  expect ffe2 == "FAIL" within 2s
        refuses a wrong code
        expected  "FAIL"  4641494c
        actual    "BUSY"  42555359
        took      0.310 s
        others    ffe3  0102
        packets   +0.000 &lt; Write Command 0x0010  52100000112233
                  +0.310 &gt; Handle Value Notification 0x0012  1b120042555359
        also      teardown: lock.ble:3: nobody answers
        </failure></testcase>
        <testcase name="refuses a wrong code" classname="lock" time="1.000"><error type="no_adapter: hci0" message="refuses a wrong code">\
        lock.ble:21  refuses a wrong code
        refuses a wrong code
        kind      no_adapter: hci0
        </error></testcase>
        <testcase name="refuses a wrong code" classname="lock" time="0.000"><skipped message="refuses a wrong code"/></testcase>
        <system-out>== refuses a wrong code: failed, 2.010 s
        +0.000  lock.ble:11  write ffe1 refuses a wrong code  (0.015 s)
        +0.015  lock.ble:14  expect ffe2  (0.310 s, failed)
            +0.310  ffe2  refuses a wrong code
        note  refuses a wrong code
        warning  lock.ble:14: refuses a wrong code Expected: "FAIL"  4641494c. Actual: "BUSY"  42555359.
        </system-out>
        <system-err>== refuses a wrong code: failed, 2.010 s
        (3 earlier, not shown)
        +0.000 &lt; Write Command 0x0010  52100000112233
        +0.310 &gt; Handle Value Notification 0x0012  1b120042555359
        </system-err>
        </testsuite>
        </testsuites>

        """)
  }

  @Test func testsOfAFileAreOneSuiteAlsoWhenTheyCameAmongOthers() {
    let text = Self.document(["a", "b", "a"].map { ReportSamples.passed(file: $0) })
    #expect(text.contains(#"<testsuite name="a" package="" id="0" timestamp="2026-11-22T12:03:04" hostname="localhost" tests="2""#))
    #expect(text.contains(#"<testsuite name="b" package="" id="1""#) && text.ranges(of: "<testsuite ").count == 2)
  }

  @Test(arguments: [
    ("tests/lock.ble", "tests.lock"), ("./a.b/../c.d.ble", "a_b.c_d"), ("/x", "x"), (".hidden", "_hidden"), ("-", "-"), ("", "(no name)"),
    ("../..", "(no name)"),
  ])
  func classesAreFiles(_ file: String, _ name: String) {
    #expect(Self.document([ReportSamples.passed(file: file)]).contains(" classname=\"\(name)\""))
  }

  @Test func everyCharacterIsAllowed() {
    for name in ReportSamples.hostileNames {
      let text = Self.document(ReportSamples.each(named: name, file: name), host: name)
      #expect(text.unicodeScalars.allSatisfy(XMLText.allows), "\(name.prefix(40))")
    }
  }

  @Test func noTestsAreADocumentToo() { #expect(Self.document([]).hasSuffix("<testsuites>\n</testsuites>\n")) }
}
