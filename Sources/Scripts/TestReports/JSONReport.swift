package import BluetoothLE

/// A report of a run as JSON records, with one record for each test and one for the run. Durations are in seconds.
/// The times of steps, values and packets are relative to the start of their test.
package enum JSONReport {
  package static func test(_ json: inout RecordWriter, _ result: TestResult) {
    json.string("event", "test")
    json.string("file", result.file)
    json.integer("line", result.line)
    json.string("name", result.name)
    if let device = result.variant.device { json.string("device", device) }
    if let repetition = result.variant.repetition { json.integer("repetition", repetition) }
    json.strings("tags", result.tags)
    json.string("peer", result.peer)
    json.string("status", result.status)
    json.integer("attempts", result.attempts)
    json.bool("flaky", result.isFlaky)
    json.literal("seconds", ReportText.exact(result.duration))
    json.time("start", result.start)
    if let reason = result.outcome.reason { json.string("reason", reason) }
    if let problem = result.problem { json.object("error") { error(&$0, problem) } }
    if result.attempts > 1 { json.objects("earlier", result.tolerated.earlier) { error(&$0, $1) } }
    json.strings("notes", result.notes)
    json.objects("warnings", result.tolerated.warnings) { error(&$0, $1) }
    json.objects("steps", result.steps) { step(&$0, $1) }
    json.objects("packets", result.packets) { packet(&$0, $1) }
    if result.omittedPackets > 0 { json.integer("omitted_packets", result.omittedPackets) }
  }

  package static func run(_ json: inout RecordWriter, _ summary: RunSummary) {
    json.string("event", "run")
    json.integer("passed", summary.passed)
    json.integer("flaky", summary.flaky)
    json.integer("failed", summary.failed)
    json.integer("errors", summary.errors)
    json.integer("skipped", summary.skipped)
    json.integer("not_run", summary.notRun)
    json.integer("warnings", summary.warnings)
    json.literal("seconds", ReportText.exact(summary.duration))
    json.time("start", summary.start)
  }

  private static func error(_ json: inout RecordWriter, _ problem: TestProblem) {
    json.string("kind", problem.kind)
    json.string("name", problem.name)
    json.string("message", problem.message)
    json.string("file", problem.file)
    json.integer("line", problem.line)
    json.string("source", problem.source)
    json.string("expected", problem.expected)
    json.string("actual", problem.actual)
    if !problem.arrived.isEmpty { json.strings("arrived", problem.arrived) }
    if let took = problem.took { json.literal("seconds", ReportText.exact(took)) }
    json.strings("others", problem.others)
    json.objects("packets", problem.packets) { packet(&$0, $1) }
    json.strings("further", problem.further)
  }

  private static func step(_ json: inout RecordWriter, _ step: StepResult) {
    json.string("file", step.file)
    json.integer("line", step.line)
    json.string("text", step.text)
    json.literal("at", ReportText.exact(step.at))
    json.literal("seconds", ReportText.exact(step.duration))
    json.bool("failed", step.failed)
    json.objects("values", step.values) { json, value in
      json.string("name", value.name)
      json.literal("at", ReportText.exact(value.at))
      json.string("text", value.text)
      if let number = value.number { json.number("number", number) }
      if let unit = value.unit { json.string("unit", unit) }
    }
  }

  private static func packet(_ json: inout RecordWriter, _ packet: TestPacket) {
    json.literal("seconds", ReportText.exact(packet.at))
    json.string("direction", packet.direction == .sent ? "sent" : "received")
    json.hex("pdu", packet.bytes)
    json.string("text", packet.text)
  }
}
