import ATT
import Bluetooth
import EventLoop
import GATT
import TestSupport
import Testing

@testable import Operations
@testable import blectl

/// Everything that can go wrong, at each packet of a transfer of 200.
@Suite(.timeLimit(.minutes(5))) struct TransferFaultTests {
  typealias Fault = FaultyLink.Fault
  static let segment = 20
  static let packets = 200
  static let file = (0..<segment * packets).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
  static let provesEvery = 16
  /// Octets that may have arrived without that being known: those between two proofs, those behind the open one while its answer is on its way.
  static let window = segment * (provesEvery + FaultyLink.buffers + 4)

  /// - Returns: nil when all went well, as far as the sender knows.
  @LoopActor private static func send(_ mode: TransferOptions.Mode, from offset: Int = 0, over link: FaultyLink) async throws -> Failure? {
    let client = Client(link)
    var options = TransferOptions()
    options.mode = mode
    options.chunk = segment
    options.pacing.provesEvery = provesEvery
    let attribute = Attribute.handle(0x10)
    let transfer = Transfer(
      client, to: attribute.handle, mode: mode.writeMode, segment: segment, pacing: options.pacing(segment: segment), OctetArray(file),
      from: offset, pace: TransferPace().begin(on: nil))
    let task = EventLoop.shared.spawn { () -> Failure? in
      do { try await transfer.run() } catch {
        let progress = transfer.progress
        return Failure(
          transfer: IncompleteWrite(mode: mode.writeMode, progress: progress, total: file.count, segments: packets, cause: error))
      }
      return nil
    }
    link.interrupt = { task.cancel() }
    // Twice the time of an ATT transaction; without a hang nothing comes near.
    let failure = try await withDeadline(EventLoop.shared.now.advanced(by: .seconds(60))) { await task.value }
    client.close()
    return try #require(failure, "it hangs")
  }

  @Test(arguments: Fault.allCases, TransferOptions.Mode.allCases)
  func everyFaultAtEveryPacket(_ fault: Fault, _ mode: TransferOptions.Mode) async throws {
    try await onLoop {
      for packet in 1...Self.packets { try await Self.check(fault, mode, packet) }
    }
  }

  @LoopActor private static func check(_ fault: Fault, _ mode: TransferOptions.Mode, _ packet: Int) async throws {
    let place: Comment = "\(fault) at packet \(packet) by \(mode)"
    let sink = Sink()
    let failure = try await send(mode, over: FaultyLink(sink, fault, at: packet))
    let code: Int32? =
      switch (fault, mode) {
      case (.loss, _): 6
      case (.reset, _): 3
      case (.stalledCredits, _), (.droppingServer, .request): 4
      case (.interrupt, _): 130
      case (.refusal, .request): 5
      // To commands nobody answers; an error in answer to the request behind them proves that they were read.
      case (.refusal, .command): nil
      // Only the application can tell.
      case (.droppingServer, .command): nil
      }
    #expect(failure?.exitStatus.rawValue == code, "\(place): \(failure?.message ?? "no failure")")
    let arrived = sink.octets.count
    #expect(sink.octets == Array(file[..<arrived]), place)
    guard let failure else {
      let report = ArrivalReport(of: sink.octets)
      #expect((report == ArrivalReport(of: file)) == (fault != .droppingServer), place)
      return
    }
    let told = try #require(failure.resumeOffset, place)
    #expect(told <= arrived && told >= arrived - (mode == .request ? segment : window), "\(place): told \(told), arrived \(arrived)")
    #expect(failure.message.contains("\(told) of 4000 octets are known to have arrived"), place)
    // The sink goes on where it is told to.
    sink.octets.removeLast(max(0, arrived - told))
    #expect(try await send(mode, from: min(told, arrived), over: FaultyLink(sink)) == nil, place)
    #expect(ArrivalReport(of: sink.octets) == ArrivalReport(of: file), place)
  }
}
