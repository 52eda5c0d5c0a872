import ATT
import Bluetooth
package import EventLoop
package import GAP
package import GATT
import Text

/// A file on its way to a characteristic, over as many links as that takes.
@LoopActor
package final class FileTransfer {
  package enum Event: Sendable {
    /// The link has changed, and with it what fills it best: octets per segment, before and now.
    case plannedAnew(from: Int, to: Int, LinkParameters)
    /// The device has turned out to be slower than the link, or not to be: octets per segment, before and now.
    case deviceIsSlower(Bool, from: Int, to: Int)
    /// Goes on at this octet. `isTold`: the device has said so; else up to `sent` may arrive twice.
    case goesOn(at: Int, sent: Int, isTold: Bool)
    /// Resumes at this octet of the file. The device cannot be asked what it has: anything may arrive twice.
    case resumesUnasked(at: Int)
    /// The device reports nothing of the `remembered` octets: the transfer begins at the beginning.
    case startsOver(remembered: Int)
    /// The device's counter does not begin at 0.
    case counterIsAt(Int)
  }

  package var onEvent: (@LoopActor (Event) -> Void)?
  /// Told after every segment.
  package var onProgress: (@LoopActor (FileTransfer) throws -> Void)?
  /// What was found with this device, before and now.
  package var pace: TransferMemory.Pace?
  /// Goes on with an earlier transfer, of which the device may know more than is remembered here.
  package var resumes = false

  /// How far it is, as octets of the file.
  package private(set) var progress: WriteProgress
  /// Sent so far.
  package private(set) var segments = 0
  /// Octets per segment, and how they go; nil before the first link.
  package internal(set) var segment: Int?
  package private(set) var mode: TransferOptions.Mode?
  /// As it was last.
  package internal(set) var link = LinkParameters()
  package private(set) var links = 0
  package private(set) var mtu = 0
  /// What the links would have carried meanwhile, in octets; nil where they do not tell.
  package private(set) var capacity: Double? = 0
  package private(set) var begin: LoopClock.Instant?
  /// Since it began, with the time between two links.
  package var seconds: Double { begin.map { $0.duration(to: since).inSeconds } ?? 0 }

  private let selector: Selector
  private let report: Selector?
  let options: TransferOptions
  private let source: any OctetSource
  /// The octet of the file at which it begins.
  package private(set) var offset = 0
  /// What the device's counter said when it stood at an octet of the file.
  private var counter: (value: Int, place: Int)?
  private var subscription: Subscription?
  /// What the device told before this link's first segment; nil after it.
  private var toldBefore: ArrivalReport?
  /// The latest on this link, while commands flow.
  private var reports: [ArrivalReport] = []
  private static let keptReports = 32
  var running: Transfer?
  var since = EventLoop.shared.now
  /// What is known of the link, with what the transfer itself has shown; and where it was when the link became as it is.
  var model = LinkCapacity()
  var isSlower = false
  var isCounted = false
  /// Between two segments, as it was found on the last link; zero: none is needed; nil: it was not looked for, or not found.
  package private(set) var gap: Duration?
  var start = 0

  /// - Parameters:
  ///   - report: the characteristic that tells of octets and CRC-32, by notifications and, where it can be read, when asked.
  package init(to selector: Selector, _ options: TransferOptions, _ source: any OctetSource, report: Selector?) {
    self.selector = selector
    self.report = report
    self.options = options
    self.source = source
    progress = WriteProgress()
  }

  /// Octets of the file; nil until its end is known.
  package var total: Int? { source.count }
  /// Segments that are sent and not known to have arrived.
  package var inFlight: Int { segment.map { (progress.sent - progress.confirmed + $0 - 1) / max(1, $0) } ?? 0 }

  /// Before the first link.
  /// - Parameter remembered: begins there, which may be the end, when what is before it has this CRC-32.
  /// - Returns: false when it has another one; it begins at the beginning then.
  /// - Throws: TransferError.nothingToSend; what the source throws.
  package func prepare(from offset: Int, remembered: TransferMemory.Point? = nil) async throws -> Bool {
    let place = remembered?.offset ?? offset
    try await skip(to: place)
    if let remembered {
      guard source.count.map({ place <= $0 }) ?? true, try await source.crc(upTo: place) == remembered.crc else { return false }
    }
    if try await isEnd(place), remembered == nil { throw TransferError.nothingToSend(from: place, of: source.count) }
    begin(at: place)
    return true
  }

  private func begin(at place: Int) {
    offset = place
    progress = WriteProgress(sent: place, confirmed: place)
  }

  private func isEnd(_ place: Int) async throws -> Bool { try await source.octets(at: place, atMost: 1).isEmpty }

  /// What can be read only once is read up to there.
  private func skip(to place: Int) async throws {
    var now = 0
    while source.count == nil, now < place {
      now += try await source.octets(at: now, atMost: min(16_384, place - now)).count
      source.release(before: now)
    }
  }

  /// What is remembered of it when it does not end well; nil when nothing is known to have arrived.
  /// - Parameter place: up to which it is known to have arrived, octets.
  /// - Throws: what the source throws.
  package func point(_ place: Int) async throws -> TransferMemory.Point? {
    guard place > 0 else { return nil }
    return TransferMemory.Point(offset: place, crc: try await source.crc(upTo: place))
  }

  /// What proves that all has arrived. - Throws: what the source throws.
  package func proof() async throws -> ArrivalProof { try await proof(at: progress.sent) }

  /// How much of the file a report speaks for, as its CRC-32 proves; nil when it is of other octets. - Throws: what the source throws.
  package func place(of report: ArrivalReport) async throws -> Int? {
    for place in [report.count, offset + report.count] where (offset...max(offset, progress.sent)).contains(place) {
      let proof = try await proof(at: place)
      if report == proof.whole || report == proof.part { return place }
    }
    return nil
  }

  private func proof(at place: Int) async throws -> ArrivalProof {
    let whole = ArrivalReport(count: place, crc: try await source.crc(upTo: place))
    guard offset > 0, place >= offset else { return ArrivalProof(part: whole, whole: whole) }
    let crc = CRC32.ofTail(place - offset, whole: whole.crc, head: try await source.crc(upTo: offset))
    return ArrivalProof(part: ArrivalReport(count: place - offset, crc: crc), whole: whole)
  }

  // MARK: On a link

  /// Sends from where it is to the end.
  /// - Parameter check: before the first command, with the attribute.
  /// - Throws: IncompleteWrite; before anything was sent TransferError, GATTError and what else discovery throws; what `onProgress` throws.
  package func run(on connection: Connection, check: @LoopActor (Attribute, TransferOptions.Mode) async throws -> Void) async throws {
    let client = connection.client
    let target = try await client.attribute(selector, discovering: true)
    let mode = try options.mode(for: target)
    self.mode = mode
    mtu = client.mtu
    let question = try await subscribe(client)
    // Without the device's report nobody could tell whether it has kept what arrived.
    if links == 0, toldBefore == nil, offset > 0, try await isEnd(offset) {
      throw TransferError.nothingToSend(from: offset, of: source.count)
    }
    link = try await connection.link.parameters()
    (model, start) = (LinkCapacity(link), progress.sent)
    let pace = newPace(isCounted: question != nil)
    isSlower = mode == .command && options.pacing(segment: 1).adapts && pace.isSlower
    let segment = try options.segment(mode, mtu: client.mtu, link: model, isSlower: isSlower)
    try await check(target, mode)
    let transfer = Transfer(
      client, to: target.handle, mode: mode.writeMode, segment: segment, pacing: options.pacing(segment: segment, link: model), source,
      from: progress.sent, asking: question, pace: pace)
    self.segment = segment
    running = transfer
    adapt(transfer)
    let (before, beginning) = (segments, progress.sent)
    var end: WriteProgress?
    connection.link.onParameters = { [weak self] in self?.linkChanged($0) }
    links += 1
    if begin == nil { begin = EventLoop.shared.now }
    since = EventLoop.shared.now
    defer {
      connection.link.onParameters = nil
      account()
      progress = end ?? transfer.progress
      segments = before + transfer.segments
      self.pace = found ?? self.pace
      gap = transfer.pace?.found
      if transfer.segments > 0 { toldBefore = nil }
      running = nil
    }
    var refusal: (any Error)?
    do {
      try await transfer.run { now in
        self.progress = now
        self.segments = before + transfer.segments
        if self.link.phy == .coded { self.learn(transfer.acknowledged) }
        if transfer.pace?.isSlower ?? false != self.isSlower { self.paceChanged() }
        do { try self.onProgress?(self) } catch {
          refusal = error
          throw error
        }
      }
    } catch let missing as SegmentsMissing where missing.sent == source.count {
      // All is sent, and what the device tells at last is compared with it.
      end = WriteProgress(
        sent: transfer.progress.sent, confirmed: min(transfer.progress.confirmed, await intact(from: beginning) ?? .max))
      return
    } catch {
      var known = transfer.progress
      if let intact = await intact(from: beginning) { known.confirmed = min(known.confirmed, intact) }
      end = known
      if let refusal { throw refusal }
      throw IncompleteWrite(
        mode: mode.writeMode, progress: known, total: source.count ?? transfer.progress.sent, segments: .max, cause: error)
    }
  }

  /// Waits for the device's word.
  /// - Parameter other: gets what is no report.
  /// - Returns: nil when it was not to be asked for.
  package func verify(until deadline: LoopClock.Instant, other: @LoopActor (ValueEvent) -> Void) async throws -> ArrivalProof.Outcome? {
    guard let subscription else { return nil }
    let proof = try await proof()
    // Who had everything already, and was sent nothing, has nothing to notify.
    if let toldBefore, proof.judge(toldBefore) == .proven(from: 0) { return .proven(from: 0) }
    return try await subscription.arrival(of: proof, until: deadline, other: other)
  }

  // MARK: What the device tells

  /// - Returns: how it is asked for its count while commands flow; nil where it cannot be.
  private func subscribe(_ client: Client) async throws -> ArrivalQuestion? {
    var told: ArrivalReport?
    var handle: AttributeHandle?
    if let report {
      let characteristic = try await client.characteristic(report)
      subscription = try await client.subscribe(characteristic)
      if characteristic.properties.contains(.read) {
        handle = characteristic.valueHandle
        told = try? await ArrivalReport(client.read(characteristic.valueHandle))
      }
    }
    (toldBefore, reports) = (told, [])
    if links > 0 {
      try await goOn(told)
    } else if let told {
      try await begin(told)
    } else if resumes, offset > 0 {
      onEvent?(.resumesUnasked(at: offset))
    }
    guard let handle, counter != nil else { return nil }
    let beginning = progress.sent
    return ArrivalQuestion(.read(handle)) { [weak self] response in
      // What is no report proves nothing.
      guard case .read(let value) = response, let report = ArrivalReport(value), let self, let counter = self.counter else { return 0 }
      keep(report)
      if report.count < counter.value { self.counter = (0, beginning) }
      return (self.counter ?? counter).place + report.count - (self.counter ?? counter).value
    }
  }

  private func keep(_ report: ArrivalReport) {
    guard report != reports.last else { return }
    if reports.count == Self.keptReports { reports.removeFirst() }
    reports.append(report)
  }

  /// A device that has dropped one segment and taken those behind it has a number of octets, but not the file's beginning.
  /// - Parameter beginning: where this link began.
  /// - Returns: up to where its CRC-32 is the file's; nil where that cannot be compared.
  private func intact(from beginning: Int) async -> Int? {
    guard let counter, !reports.isEmpty else { return nil }
    // Its CRC-32 is of other octets too.
    guard counter.value == 0 || counter.value == counter.place else { return beginning }
    do {
      for report in reports.reversed() {
        if let place = try await place(of: report) { return place }
      }
      return beginning
    } catch {
      // What is before it cannot be read again.
      return beginning
    }
  }

  /// Nothing was sent yet. A device that has more of the file than was known, or less, gets what it lacks.
  /// - Throws: TransferError.otherOctets for one that has other octets, or less of a source that cannot go back.
  private func begin(_ told: ArrivalReport) async throws {
    if resumes || offset > 0, told.count > 0, try await isBeginning(told) {
      if resumes || told.count != offset, told.count != source.count { onEvent?(.goesOn(at: told.count, sent: told.count, isTold: true)) }
      begin(at: told.count)
    } else if resumes, offset > 0 {
      // What is remembered is no proof against the device's word.
      guard told.count == 0, try await source.isThere(0) else { throw TransferError.otherOctets(told) }
      onEvent?(.startsOver(remembered: offset))
      begin(at: 0)
    }
    counter = (told.count, offset)
    if told.count != 0, told.count != offset { onEvent?(.counterIsAt(told.count)) }
  }

  /// What the device reports is the beginning of the file, with more to send behind it, or all of it when it is resumed.
  private func isBeginning(_ told: ArrivalReport) async throws -> Bool {
    // A pipe is read on only where that is asked for.
    guard source.count != nil || resumes || told.count <= offset, try await source.isThere(told.count) else { return false }
    if let count = source.count, told.count > count || told.count == count && !resumes { return false }
    return try await source.crc(upTo: told.count) == told.crc
  }

  /// After a lost link.
  private func goOn(_ told: ArrivalReport?) async throws {
    var place = progress.confirmed
    if let told, let counter {
      place = counter.place + told.count - counter.value
      // Of a request whose response was lost with the link nobody knew.
      let latest = progress.sent + (mode == .request ? segment ?? 0 : 0)
      guard place >= progress.confirmed, place <= latest else { throw TransferError.otherOctets(told) }
      if counter.value == 0 || counter.value == counter.place {
        let proof = try await proof(at: place)
        guard told == proof.part || told == proof.whole else { throw TransferError.otherOctets(told) }
      }
    }
    onEvent?(.goesOn(at: place, sent: progress.sent, isTold: told != nil && counter != nil))
    progress = WriteProgress(sent: place, confirmed: place)
  }

  /// What the link would have carried since it was last looked at.
  func account() {
    let now = EventLoop.shared.now
    let seconds = since.duration(to: now).inSeconds
    since = now
    guard let limit = model.limit(mtu: mtu) else {
      capacity = nil
      return
    }
    capacity? += limit * seconds
  }
}

extension OctetSource {
  /// Whether a byte can be read; false for those that went by in a pipe. - Throws: CancellationError.
  fileprivate func isThere(_ place: Int) async throws -> Bool {
    do { _ = try await octets(at: place, atMost: 1) } catch {
      if error is CancellationError { throw error }
      return false
    }
    return true
  }
}
