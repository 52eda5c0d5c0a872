import BluetoothLELinux
import CommandLine
import Scripts

package struct Tune: PeerCommand {
  static let configuration = CommandConfiguration(
    named: "tune", abstract: "Measure the fastest lossless way to send to a characteristic.",
    discussion: """
      Warning: this writes test data. Do not use it on a characteristic that stores firmware.

      Tries combinations of mode, segment size, segments in flight and pause. The device must count the bytes that it receives. --verify notify:ATTR names the characteristic that reports their number and CRC-32 (both u32le). blectl remembers the pause of the fastest combination that lost nothing, and send-file uses it.
      """)
  static let examples = [
    "blectl -i sim tune Panel fff6 --verify notify:fff7", "blectl -i sim tune Panel fff6 --verify notify:fff7 --mode request",
  ]
  static let traits = CommandTraits(attributeUse: .sending)

  @OptionGroup var process: ProcessOptions
  @OptionGroup var who: PeerOptions
  @Argument(help: "Gets test data: do not use one that stores firmware") var attribute: String

  @Option(help: ArgumentHelp("notify:ATTR, the characteristic that counts bytes", valueName: "how"), completion: .list(["notify:"]))
  var verify: VerifyArgument

  @Option("command, request or both (default: command,request)", value: "modes") var mode = "command,request"
  @Option("Bytes per segment, such as 20,100 (default: 20 and auto)", value: "list") var chunk: String?
  @Option("Segments in flight (default: auto,4)", value: "list") var window = "auto,4"
  @Option("Pauses in milliseconds (default: auto,0,2,4,6,8)", value: "list") var gap = "auto,0,2,4,6,8"
  @Option("Bytes per measurement, 1000-1000000 (default: 20000)", value: "n", parsing: .unconditional) var size = 20_000
  @Option("Draw the rates as SVG", value: "file", completion: .file()) var svg: String?

  func validate() throws {
    if svg == "-" { throw ValidationError("--svg takes the name of a file, because standard output has the results.") }
    try limit("--size", size, to: 1000...1_000_000, "bytes")
    guard verify.notifying != nil else { throw ValidationError("--verify takes notify:ATTR here, the characteristic that counts bytes.") }
    _ = try (modes(), chunks(), windows(), gaps())
  }

  private static func list<T>(_ text: String, _ option: String, _ wanted: String, _ read: (Substring) -> T?) throws -> [T] {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count <= 16 else { throw ValidationError("\(option) takes at most 16 values") }
    return try parts.map {
      guard let value = read($0) else { throw ValidationError("\(option) takes \(wanted), not \(DisplayText.quote(String($0)))") }
      return value
    }
  }

  private func modes() throws -> [TransferOptions.Mode] {
    try Self.list(mode, "--mode", "command, request or both") { TransferOptions.Mode(rawValue: String($0)) }
  }

  private func chunks() throws -> [Int]? {
    try chunk.map { text in try Self.list(text, "--chunk", "1 to 512 bytes") { Int($0).flatMap { (1...512).contains($0) ? $0 : nil } } }
  }

  private func windows() throws -> [Int?] {
    try Self.list(window, "--window", "auto or 1 to 10000") { text in WindowArgument(argument: String(text)).map(\.number) }
  }

  private func gaps() throws -> [Duration?] {
    try Self.list(gap, "--gap", "auto or milliseconds from 0 to 60000") { text in
      if text == "auto" { return .some(nil) }
      guard let number = try? TimeText.milliseconds(String(text)), number >= 0, number <= 60_000 else { return nil }
      return .some(.limited(seconds: number / 1000))
    }
  }

  @LoopActor func name(_ files: inout CommandFiles) { files.writes(svg, as: "--svg") }

  func run(in context: Context) async throws {
    let selector = try Selector(typed: attribute)
    let report = try Selector(typed: verify.notifying ?? "")
    let output = context.output
    if let svg { try OutputFile.check(svg) }
    try await context.withPeer(who) { connection in
      let client = connection.client
      let target = try await client.attribute(selector, discovering: true)
      let counter = try await client.characteristic(report)
      guard counter.properties.contains(.read) else {
        throw Failure(.usage, "Cannot tune: \(counter.uuid) is not readable, so it cannot report how many bytes arrived.")
      }
      let link = LinkCapacity(try await connection.link.parameters())
      let trials = try trials(for: target, mtu: client.mtu, link)
      if trials.contains(where: { $0.mode == .command }) { try await client.checkCommands(to: target) }
      var results: [TransferTrial.Result] = []
      @LoopActor func showTable() async throws {
        output.clearTransient()
        guard !output.style.json, !results.isEmpty else { return }
        for line in TuneText.table(results, width: output.outIsTerminal ? output.width : nil) { try await output.line(line) }
      }
      do {
        for (number, trial) in trials.enumerated() {
          output.status("\(number + 1) of \(trials.count): \(TuneText.name(trial))")
          let result = try await trial.measure(size, to: target.handle, on: client, report: counter.valueHandle, link: link)
          results.append(result)
          if output.style.json { try await TuneText.record(result, "measurement", connection, output) }
        }
      } catch {
        // Also after Ctrl-C, which would otherwise stop the output.
        await shielded { try? await showTable() }
        if !results.isEmpty, !output.style.json { output.note("Measured \(results.count) of \(trials.count) combinations.") }
        throw error
      }
      try await showTable()
      if let svg { try await OutputFile.write(Array(TransferPlot(results).document.utf8), to: svg, for: .everybody) }
      guard let best = TransferTrial.best(results) else {
        throw Failure(.expectation, "Every combination lost bytes. Try longer pauses: --gap 20,50,100")
      }
      let place = TransferMemory.Place(connection.identityAddress, target.handle, air: context.configuration.kindOfAir)
      // A pace measured with a window, or with shorter segments than `send-file` uses, is not valid.
      if best.trial.mode == .command, best.trial.window == nil, best.trial.segment >= link.fastestSegment(mtu: client.mtu),
        let gap = best.trial.gap ?? best.gap, let interval = link.interval
      {
        context.configuration.remember(
          .pace(
            place,
            TransferMemory.Pace(
              gap: Int(gap / .microseconds(1)), interval: Int(interval / .microseconds(1)),
              airTime: Int(link.airTime(best.trial.segment) / .microseconds(1)))))
      }
      if output.style.json {
        try await TuneText.record(best, "tuned", connection, output)
      } else {
        try await output.line("fastest without loss: \(TuneText.name(best.trial)), \(Quantity.rate(best.arrived, in: best.seconds))")
        let device = who.peer == .current ? [] : ["\(who.peer)"]
        let words =
          ["send-file"] + device + [attribute, "FILE"] + TuneText.options(best.trial) + ["--verify", "notify:\(verify.notifying ?? "")"]
        let line = words.map { ShellWords.quoteForShell($0) }.joined(separator: " ")
        output.note("To send a file like this: \(context.isInSession ? "" : "blectl ")\(line)")
      }
    }
  }

  private func trials(for target: Attribute, mtu: Int, _ link: LinkCapacity) throws -> [TransferTrial] {
    let largest = WriteProcedure.largestSegment(mtu: mtu)
    let segments =
      try chunks() ?? [min(20, largest), link.fastestSegment(mtu: mtu)].reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    if let long = segments.first(where: { $0 > largest }) { throw GATTError.segmentTooLong(long, limit: largest, mtu: mtu) }
    guard let properties = target.properties else { throw TransferError.unknownProperties(target) }
    let possible = try modes().filter { properties.contains($0 == .command ? .writeWithoutResponse : .write) }
    guard !possible.isEmpty else { throw TransferError.notWritable(target) }
    return TransferTrial.all(modes: possible, segments: segments, windows: try windows(), gaps: try gaps())
  }
}
