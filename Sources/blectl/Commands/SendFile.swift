import ATT
import ArgumentParser
import Bluetooth
import EventLoop
import GATT
import LinuxIO
import Operations
import Replay
import Terminal
import Text

struct SendFile: PeerCommand {
  static let configuration = CommandConfiguration(
    commandName: "send-file", _superCommandName: "blectl", abstract: "Send a file to a characteristic without losing a packet.",
    discussion: """
      blectl picks the segment size that fills the link and sends as fast as the controller accepts. A request at the end confirms that the device received everything.

      --verify also checks what the device's application received. read-back reads and compares the value. notify:ATTR waits for a notification with the number of bytes and their CRC-32 (both u32le).
      """)
  static let examples = [
    "seq 2000 | blectl -i sim send-file Panel fff6 -", "seq 2000 | blectl -i sim send-file Panel fff6 - --verify notify:fff7",
  ]

  /// Octets of a file: more than a link carries in a month.
  static let limit = 64 << 30

  @OptionGroup(title: HelpPage.globalTitle) var process: ProcessOptions
  @OptionGroup var who: PeerOptions

  @Argument(help: "The characteristic to write to")
  var attribute: String

  @Argument(help: "The file; - reads standard input", completion: .file())
  var file: String

  @Option(help: ArgumentHelp("command or request (default: command if possible)", valueName: "mode"))
  var mode: TransferOptions.Mode?

  @Option(help: ArgumentHelp("Bytes per segment, 1-512 (default: auto)", valueName: "n"))
  var chunk: ChunkArgument = .auto

  @Option(help: ArgumentHelp("Segments in flight, 1-10000 (default: auto)", valueName: "n"))
  var window: WindowArgument = .auto

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Pause between segments, 0-60000 (default: auto)", valueName: "ms"),
    transform: TimeText.milliseconds)
  var gap: Double = 0

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Confirm delivery every N segments (default: auto)", discussion: "auto means every 24 KiB, or every 0.4 s on a fast link.",
      valueName: "n"))
  var ackEvery: Int?

  @Option(parsing: .unconditional, help: ArgumentHelp("Start at byte N of the file (default: 0)", valueName: "n"))
  var offset = 0

  @Flag(help: "Continue the last transfer of this file")
  var resume = false

  @Option(parsing: .unconditional, help: ArgumentHelp("Reconnect up to N times and continue, 0-1000 (default: 0)", valueName: "n"))
  var reconnect = 0

  @Option(help: ArgumentHelp("read-back or notify:ATTR", valueName: "how"), completion: .list(["read-back", "notify:"]))
  var verify: VerifyArgument?

  @Option(parsing: .unconditional, help: ArgumentHelp("Request this Link Layer data length, 27-251", valueName: "n"))
  var dataLength: Int?

  func validate() throws {
    if !(gap >= 0 && gap <= 60_000) { throw ValidationError("--gap takes milliseconds from 0 to 60000, not \(gap.plainText)") }
    if let ackEvery, ackEvery < 1 { throw ValidationError("--ack-every takes 1 or more, not \(ackEvery)") }
    if offset < 0 { throw ValidationError("--offset takes 0 or more, not \(offset)") }
    if !(0...1000).contains(reconnect) { throw ValidationError("--reconnect takes 0 to 1000, not \(reconnect)") }
    if resume, offset > 0 { throw ValidationError("--resume and --offset exclude each other.") }
    if let dataLength, !(27...251).contains(dataLength) { throw ValidationError("--data-length takes 27 to 251 bytes, not \(dataLength)") }
  }

  /// How it goes, as the options say.
  private var transfer: TransferOptions {
    var options = TransferOptions()
    options.mode = mode
    options.chunk = chunk.number
    options.pacing.gap = .limited(seconds: gap / 1000)
    options.pacing.window = window.number
    options.pacing.provesEvery = ackEvery
    return options
  }

  @LoopActor func name(_ files: inout CommandFiles) { files.reads(file, as: "FILE") }

  func run(in context: Context) async throws {
    if (try? Selector(attribute)) == nil, InputFile.exists(attribute) {
      let words = ["send-file", "\(who.peer)", file, attribute].map { ShellWords.quoteForShell($0) }.joined(separator: " ")
      throw Failure(.usage, "\(DisplayText.quote(attribute)) is a file. The attribute comes first: \(words)")
    }
    let selector = try Selector(attribute)
    let report = try verify?.notifying.map { try Selector($0) }
    if file == "-" { try context.refuseInput() }
    if reconnect > 0, context.shell != nil {
      throw Failure(
        .usage, "--reconnect is for the command line. In a session, use `set reconnect on`, then --resume.")
    }
    let output = context.output
    let source = try await OctetFile.open(file, limit: Self.limit) { output.noteWaiting() }
    let transfer = FileTransfer(to: selector, transfer, source, report: report)
    var target = who.target
    target.requested.dataLength = dataLength
    transfer.resumes = resume
    if !resume { try await prepare(transfer, nil) }
    var (left, wasThere) = (reconnect, false)
    while true {
      let reconnects = left > 0
      do {
        let outcome = try await context.withPeer(target) { connection in
          wasThere = true
          return try await send(transfer, source, connection, context, reconnects: reconnects)
        }
        if let outcome { throw outcome }
        return
      } catch  where left > 0 && wasThere && Failure(error).isLoss {
        left -= 1
        output.note("\(Failure(error).message.asSentence) Reconnecting …")
        try await EventLoop.shared.sleep(for: .milliseconds(500))
      }
    }
  }

  /// - Returns: false when what is remembered is of another file.
  @LoopActor
  @discardableResult
  private func prepare(_ transfer: FileTransfer, _ remembered: TransferMemory.Point?) async throws -> Bool {
    do { return try await transfer.prepare(from: offset, remembered: remembered) } catch TransferError.nothingToSend(let offset, let total)
    {
      let name = DisplayText.escape(file)
      guard let total, total > 0 else { throw Failure(.input, "Nothing to send: \(name) is empty.") }
      throw Failure(.input, "--offset \(offset) is past the end of \(name), which has \(total) bytes.")
    }
  }

  /// On one link.
  /// - Returns: what is wrong with what arrived; nil when nothing is, or no verification was asked for.
  @LoopActor
  private func send(
    _ transfer: FileTransfer, _ source: OctetFile, _ connection: Connection, _ context: Context, reconnects: Bool
  ) async throws -> Failure? {
    let output = context.output
    let target = try await connection.client.attribute(try Selector(attribute), discovering: true)
    let place = TransferMemory.Place(connection.peer, target.handle, air: context.configuration.kindOfAir)
    if transfer.links == 0 {
      let memory = context.configuration.transfers
      transfer.pace = memory.paces[place]
      if resume { try await goOn(transfer, memory.points[place], output) }
    }
    transfer.onEvent = { TransferText.tell($0, report: verify?.notifying, output) }
    let progress = Progress(connection, output)
    transfer.onProgress = { try progress.update($0) }
    let (verification, mismatch): (TransferText.Verification, Failure?)
    do {
      defer { progress.end() }
      try await transfer.run(on: connection) { try await check($0, $1, transfer, source, connection, output) }
      progress.end()
      try source.checkUnchanged()
      (verification, mismatch) = try await judge(transfer, source, place, connection, context)
    } catch TransferError.nothingToSend(_, let total) {
      throw Failure(
        .input,
        "Nothing left to send: all \(total ?? transfer.offset) bytes of \(DisplayText.escape(file)) arrived earlier. To send them again, omit --resume."
      )
    } catch {
      throw transfer.links > 0 ? await interruption(error, transfer, place, context, reconnects: reconnects) : error
    }
    if mismatch == nil {
      let memory = context.configuration.transfers
      if memory.points[place] != nil { context.configuration.remember(.point(place, nil)) }
      if let pace = transfer.pace, memory.paces[place] != pace { context.configuration.remember(.pace(place, pace)) }
    }
    try await TransferText.report(transfer, verification, connection, output)
    return mismatch
  }

  /// Remembers how far the transfer came. - Returns: why it ended, and where it can go on.
  @LoopActor
  private func interruption(
    _ error: any Error, _ transfer: FileTransfer, _ place: TransferMemory.Place, _ context: Context, reconnects: Bool
  ) async -> any Error {
    let cause = (error as? IncompleteWrite)?.cause ?? error
    var total = transfer.total ?? transfer.progress.sent
    switch cause {
    case is ReplayError, is TransferError: return cause
    case FileError.changed(_, let before, let now):
      // What was sent of a file that has only grown is its beginning; of another nobody knows what it is.
      guard now > before else { return error }
      total = now
    case let missing as SegmentsMissing: remember(missing.arrived, transfer, place, context)
    default: break
    }
    var isRemembered = false
    if let point = try? await transfer.point(transfer.progress.confirmed) {
      isRemembered = context.configuration.remember(.point(place, point))
    } else if transfer.offset == 0, context.configuration.transfers.points[place] != nil {
      // What was known of an earlier transfer is not true of this one.
      context.configuration.remember(.point(place, nil))
    }
    if (cause as? OutputFailure)?.isClosedPipe ?? false { return cause }
    return Failure(
      transfer: IncompleteWrite(
        mode: transfer.mode?.writeMode ?? .command, progress: transfer.progress, total: total, segments: .max, cause: cause,
        open: transfer.mode == .request ? transfer.segment ?? 0 : 0),
      isRemembered: isRemembered, advises: !reconnects || !Failure(cause).isLoss)
  }

  /// Between two segments, in microseconds: a device that is slower loses nothing by request.
  private static let slowest = 20_000.0

  /// A device that drops what comes too fast gets it as fast as it took what it has.
  @LoopActor
  private func remember(_ arrived: Int, _ transfer: FileTransfer, _ place: TransferMemory.Place, _ context: Context) {
    guard let segment = transfer.segment, arrived > transfer.offset else { return }
    let gap = transfer.seconds * 1e6 * Double(segment) / Double(arrived - transfer.offset)
    if let pace = transfer.pace(of: Int(min(gap * 1.1, Self.slowest))) { context.configuration.remember(.pace(place, pace)) }
  }

  /// Where an earlier transfer ended.
  @LoopActor
  private func goOn(_ transfer: FileTransfer, _ point: TransferMemory.Point?, _ output: Output) async throws {
    if let point, try await prepare(transfer, point) { return }
    let unlessTold = verify?.notifying.map { ", unless \($0) reports more" } ?? ""
    output.note(
      point == nil
        ? "No earlier transfer to this device and characteristic is known. Starting at byte 0\(unlessTold)."
        : "\(DisplayText.escape(file)) is not the file whose transfer ended at byte \(point?.offset ?? 0). Starting at byte 0\(unlessTold)."
    )
    try await prepare(transfer, nil)
  }

  /// Better before the transfer than after it.
  @LoopActor
  private func check(
    _ target: Attribute, _ mode: TransferOptions.Mode, _ transfer: FileTransfer, _ source: OctetFile, _ connection: Connection,
    _ output: Output
  ) async throws {
    if case .readBack? = verify {
      if let characteristic = target.characteristic, !characteristic.properties.contains(.read) {
        throw Failure(.usage, "Cannot verify with read-back: \(characteristic.uuid) is not readable. Use --verify notify:ATTR")
      }
      let count = try await source.octets(at: transfer.offset, atMost: WritePlan.largestValue + 1).count
      guard count <= WritePlan.largestValue else {
        throw Failure(
          .usage,
          "--verify read-back compares at most \(WritePlan.largestValue) bytes, not \(source.count.map { "\($0 - transfer.offset)" } ?? "more"). Use --verify notify:ATTR"
        )
      }
    }
    if window.number != nil, mode != .command {
      output.note("--window has no effect here: only one request is in flight.")
    } else if window.number != nil, connection.client.bearer.unacknowledged == nil {
      output.note("--window has no effect here: this adapter does not report what the device acknowledged.")
    }
    if mode == .command { try await CommandCheck.check(target, connection.client, isForced: self.mode == .command, output) }
  }

  /// What `--verify` finds, and what is wrong with it.
  @LoopActor
  private func judge(
    _ transfer: FileTransfer, _ source: OctetFile, _ place: TransferMemory.Place, _ connection: Connection, _ context: Context
  ) async throws -> (TransferText.Verification, Failure?) {
    switch verify {
    case nil: return (.notAsked, nil)
    case .readBack:
      let client = connection.client
      let target = try await client.attribute(try Selector(attribute), discovering: true)
      let value = try await client.read(target.handle)
      // At most one value, so what was sent is in memory still; what was before it may be.
      let sent = try await source.octets(at: transfer.offset, atMost: WritePlan.largestValue)
      if value[...] == sent { return (.passed(from: transfer.offset), nil) }
      if value.count == transfer.progress.sent, value.suffix(sent.count) == sent,
        ArrivalReport(of: value) == (try await transfer.proof()).whole
      {
        return (.passed(from: 0), nil)
      }
      let name = target.uuid?.description ?? "the value"
      return (
        .failed,
        Failure(.expectation, "Verification failed: the \(value.count) bytes of \(name) differ from the \(sent.count) bytes of the file.")
      )
    case .notify(let attribute):
      let outcome = try await transfer.verify(until: EventLoop.shared.now.advanced(by: step.limits.transaction)) {
        context.output.note("Ignored a value that is not a report of count and CRC-32: \(ValueText.forEyes($0.value))")
      }
      if case .proven(let beginning)? = outcome { return (.passed(from: beginning), nil) }
      guard case .contradicted(let report)? = outcome else { return (.notAsked, nil) }
      if let report, transfer.mode == .command, report.count < transfer.progress.sent {
        remember(transfer.offset + report.count, transfer, place, context)
      }
      let proof = try await transfer.proof()
      var failure = Failure(
        .expectation,
        "Verification failed: sent \(proof.part)\(transfer.offset > 0 ? " of a file of \(proof.whole)" : ""), but \(attribute) reports "
          + (report.map { "\($0)" } ?? "nothing") + ".")
      // What is there is the file's beginning: it can be gone on with.
      if let report, report.count > 0, let known = try? await transfer.place(of: report), let point = try? await transfer.point(known) {
        let isRemembered = context.configuration.remember(.point(place, point))
        failure.goesOn(at: known, of: transfer.progress.sent, isRemembered: isRemembered)
      } else if transfer.mode == .command {
        failure.add(
          report.map { $0.count > transfer.progress.sent } ?? false
            ? "The device also counted earlier bytes. Reset its counter, then send the file again."
            : "This does not match the start of the file. Send it again. If the device drops segments again: --mode request")
      }
      return (.failed, failure)
    }
  }
}

extension TransferOptions.Mode: ExpressibleByArgument {}

enum VerifyArgument: ExpressibleByArgument, Sendable {
  case readBack
  case notify(String)

  init?(argument: String) {
    if argument == "read-back" {
      self = .readBack
    } else {
      guard let attribute = argument.after("notify:"), !attribute.isEmpty else { return nil }
      self = .notify(attribute)
    }
  }

  var notifying: String? { if case .notify(let attribute) = self { attribute } else { nil } }
}
