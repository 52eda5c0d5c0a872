import Bluetooth
import EventLoop
import GAP
import GATT
import LEHost
import Operations
import Terminal
import Text

/// The environment of one command: the process's session and output, and its own limits.
@LoopActor
struct Context {
  let process: ProcessContext
  let step: StepOptions
  let output: Output
  /// The session of the command, and its place among the commands of its device; nil on the command line.
  var shell: Shell?
  var place: TurnQueue.Place?
  /// The device of the command; nil on the command line, and for a command without a device.
  var lane: Lane? {
    get { named?.present }
    set { named = newValue }
  }
  private var named: Lane?
  /// The command names no device, so it needs the connected one.
  var isAboutCurrent = false
  /// Additional members of each JSON record.
  var members = RecordWriter.Members.none
  /// Follows the command.
  var observer: (any CommandObserver)?

  /// - Parameter output: nil for the output of the process.
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
      throw Failure(.usage, "Cannot read - in a session: standard input carries its commands. Use a file or a named pipe.")
    }
  }

  /// The radio of `--adapter`, opened at the first call.
  func radio() async throws -> any Central { try await session.central() }

  /// The radio of `--adapter` as blectl's own host; nil for a kernel adapter.
  func host() async throws -> HostCentral? {
    let radio = try await radio()
    return ((radio as? SharedCentral)?.central ?? radio) as? HostCentral
  }

  /// Reads the descriptors that describe a value, once per link, in a session or with `-v`. Ignores errors.
  func describe(_ characteristic: Characteristic, on connection: Connection) async {
    if asksForDescriptions { try? await connection.client.readDescription(of: characteristic) }
  }

  /// Whether to spend requests on descriptions.
  var asksForDescriptions: Bool { shell != nil || output.style.verbosity > 0 }

  /// Whether the background shows this value, so that the command need not. Programs get both records, told apart by `id`.
  func isShownBeside(_ event: ValueEvent) -> Bool { members.isEmpty && lane?.background?.contains(event.handle) ?? false }

  /// Reports values that the output did not take. Silent if the reader closed the output (`| head -1`) or the user ended the command.
  func tellOfDropped(_ count: Int) {
    guard !output.isBroken, !Task.isCancelled || !output.hasRoom else { return }
    output.note("Dropped \(count) record(s) so far: the output was not read in time.")
  }

  /// Finds the peer, and notes which other devices match.
  /// - Parameters:
  ///   - isUrgent: see `PeerSearch.isUrgent`.
  ///   - longer: the option that sets the time limit.
  func find(
    _ selector: PeerSelector, takingFirst: Bool, demandingOne: Bool = false, isUrgent: Bool = false, within limit: Duration? = nil,
    longer: String = "-t"
  ) async throws -> PeerMatch {
    if case .address(_, .some) = selector {} else { output.status("Looking for \(selector) …") }
    let limit = limit ?? step.searchLimit
    let heard = SearchProgress()
    let countdown = output.canAnimateErr ? countDown(selector, from: limit, heard) : nil
    defer {
      countdown?.cancel()
      output.clearTransient()
    }
    let match: PeerMatch
    do {
      var search = PeerSearch(selector, takesFirst: takingFirst, demandsOne: demandingOne, limit: limit)
      search.isUrgent = isUrgent
      match = try await radio().find(search, onDevice: { heard.count = $0 }) { [process] in
        heard.devices = $0
        process.memory.hear($0)
      }
    } catch let error as PeerSearchError {
      if case .replay? = try? process.adapter() { throw Failure(error, isRecorded: true) }
      guard case .notFound = error else { throw error }
      var failure = Failure(error)
      if case .address(let address, _) = selector, let other = heard.devices.first(where: { PeerSelector.mac(address).matches($0) }) {
        failure.add("\(other.peer) advertises this MAC. Use mac:\(address)")
      } else if case .mac(let address) = selector, heard.devices.contains(where: { $0.peer.address == address }) {
        failure.add("A device uses this address. Use it without the prefix: \(address)")
      }
      failure.add("To listen longer, use \(longer) SECONDS or --wait.")
      throw failure
    }
    guard !match.others.isEmpty else { return match }
    func strength(_ rssi: Int8?) -> String { rssi.map { "\($0) dBm" } ?? "strength unknown" }
    let others = match.others.map { "\($0.peer) (\(strength($0.rssi)))" }.joined(separator: ", ")
    output.note(
      "\(match.others.count + 1) devices match \(selector). Using the strongest, \(match.peer) (\(strength(match.rssi))), not \(others).")
    return match
  }

  /// Counts the time of a search down on the last line of the terminal.
  private func countDown(_ selector: PeerSelector, from limit: Duration, _ heard: SearchProgress) -> Task<Void, Never> {
    let end = EventLoop.shared.now.advanced(by: limit)
    return EventLoop.shared.spawn { [output] in
      while (try? await EventLoop.shared.sleep(for: .seconds(1))) != nil {
        let left = max(0, EventLoop.shared.now.duration(to: end).components.seconds)
        output.progress("Looking for \(selector): \(left) s left, \(heard.count) device\(heard.count == 1 ? "" : "s") heard")
      }
    }
  }
}

/// The devices that a running search has heard.
@LoopActor private final class SearchProgress {
  var count = 0
  /// Known at its end.
  var devices: [DeviceView] = []
}
