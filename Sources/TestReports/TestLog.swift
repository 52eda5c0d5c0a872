import Text

/// The steps and packets of a test, as lines of any width. Empty if there are none.
enum TestLog {
  /// Lists the steps of a test with their times and values, then its notes.
  static func steps(_ result: TestResult) -> String {
    guard !result.steps.isEmpty || !result.notes.isEmpty else { return "" }
    var text = heading(result)
    for step in result.steps {
      text += "\(ReportText.offset(step.at))  \(DisplayText.visible(step.file)):\(step.line)  \(DisplayText.visible(step.text))"
      text += "  (\(ReportText.seconds(step.duration)) s\(step.failed ? ", failed" : ""))\n"
      for value in step.values {
        text += "    \(ReportText.offset(value.at))  \(DisplayText.visible(value.name))  \(DisplayText.visible(value.text))\n"
      }
    }
    for note in result.notes { text += "note  \(DisplayText.visible(note))\n" }
    return text
  }

  static func packets(_ result: TestResult) -> String {
    guard !result.packets.isEmpty || result.omittedPackets > 0 else { return "" }
    var text = heading(result)
    let (packets, before) = lastPackets(result, 200)
    if before > 0 { text += "(\(before) earlier, not shown)\n" }
    for packet in packets { text += line(packet) + "\n" }
    return text
  }

  /// Returns the last packets, and the number of earlier ones.
  static func lastPackets(_ result: TestResult, _ limit: Int) -> (packets: ArraySlice<TestPacket>, before: Int) {
    let packets = result.packets.suffix(limit)
    return (packets, result.omittedPackets + result.packets.count - packets.count)
  }

  static func line(_ packet: TestPacket) -> String { ProblemText.lines(packet, to: .max).joined() }

  private static func heading(_ result: TestResult) -> String {
    "== \(DisplayText.visible(result.title)): \(result.status), \(ReportText.seconds(result.duration)) s\n"
  }
}
