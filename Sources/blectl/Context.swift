import EventLoop
import GAP
import GATT
import LEHost
import Operations
import Terminal
import Text

/// What one command works with: the process's session and output, and its own limits.
@LoopActor
struct Context {
  let process: ProcessContext
  let step: StepOptions
  let output: Output
  /// The session that it is a command of, and its place among the commands of the device that it is about; nil on the command line.
  var shell: Shell?
  var place: TurnQueue.Place?
  /// The device that it is about; nil on the command line, and when it is about none.
  var lane: Lane? {
    get { named?.present }
    set { named = newValue }
  }
  private var named: Lane?
  /// No device was named: only the one that is connected will do.
  var isAboutCurrent = false
  /// What is in each of its JSON records besides.
  var members: [UInt8] = []

  /// - Parameter output: its own style; nil: the process's.
  init(_ process: ProcessContext, _ step: StepOptions, _ output: Output? = nil) {
    self.process = process
    self.step = step
    self.output = output ?? process.output
  }

  var configuration: Configuration { process.configuration }
  var session: Session { process.session }

  /// - Throws: Failure(.usage) in a session, whose commands come from standard input.
  func refuseInput() throws {
    guard shell == nil else {
      throw Failure(.usage, "- is standard input, where the commands of the session come from; name a file or a pipe instead")
    }
  }

  /// The radio of `--adapter`, opened at the first call.
  func radio() async throws -> any Central { try await session.central() }

  /// What the radio of `--adapter` is to our own host; nil for one that is the kernel's.
  func host() async throws -> HostCentral? {
    let radio = try await radio()
    return ((radio as? SharedCentral)?.central ?? radio) as? HostCentral
  }

  /// Reads what describes the value of a characteristic, once per link: in a session, and with `-v`. A value is shown without it, too.
  func describe(_ characteristic: Characteristic, on connection: Connection) async {
    if asksForDescriptions { try? await connection.client.readDescription(of: characteristic) }
  }

  /// Descriptions are worth more requests.
  var asksForDescriptions: Bool { shell != nil || output.style.verbosity > 0 }

  /// A value that the background shows, too: once is enough, but for a program that knows the command's records by their `id`.
  func isShownBeside(_ event: ValueEvent) -> Bool { members.isEmpty && lane?.background?.contains(event.handle) ?? false }

  /// What a scan or a link brought and the output did not take. `| head -1`: a reader that has had enough is not told what else there was; nor is who
  /// has ended it what came in that moment.
  func tellOfDropped(_ count: Int) {
    guard !output.isBroken, !Task.isCancelled || !output.hasRoom else { return }
    output.note("\(count) record(s) were dropped so far, because nobody read the output")
  }

  /// Finds the peer, and tells of the others that match.
  /// - Parameters:
  ///   - isUrgent: see `PeerSearch.isUrgent`.
  ///   - longer: the option that sets the limit.
  func find(
    _ selector: PeerSelector, takingFirst: Bool, demandingOne: Bool = false, isUrgent: Bool = false, within limit: Duration? = nil,
    longer: String = "-t"
  ) async throws -> PeerMatch {
    if case .address(_, .some) = selector {} else { output.status("looking for \(selector) …") }
    let match: PeerMatch
    do {
      var search = PeerSearch(selector, takesFirst: takingFirst, demandsOne: demandingOne, limit: limit ?? step.searchLimit)
      search.isUrgent = isUrgent
      match = try await radio().find(search) { [process] in process.memory.hear($0) }
    } catch let error as PeerSearchError {
      if case .replay? = try? process.adapter() { throw Failure(error, isRecorded: true) }
      guard case .notFound = error else { throw error }
      var failure = Failure(error)
      failure.message += "; \(longer) SECONDS listens longer, --wait until it appears"
      throw failure
    }
    guard !match.others.isEmpty else { return match }
    func strength(_ rssi: Int8?) -> String { rssi.map { "\($0) dBm" } ?? "strength unknown" }
    let others = match.others.map { "\($0.peer) (\(strength($0.rssi)))" }.joined(separator: ", ")
    output.note(
      "\(match.others.count + 1) devices match \(selector); taking the strongest, \(match.peer) (\(strength(match.rssi))), not \(others)")
    return match
  }
}
