import BluetoothLE
import BluetoothLEText
import TestSupport

@testable import BluetoothLEFirmware

/// Updates of devices that would start another image next, and the time of uploads.
@Suite(.timeLimit(.minutes(15))) struct PendingImageTests {
  private typealias Base = MCUmgrUpdateTests

  /// The device runs the wanted image, but would start another one next.
  @Test func anotherPendingImageEndsAlthoughTheWantedOneRuns() async throws {
    try await onLoop {
      let kept: [(BootloaderMode, isPermanent: Bool, plan: [UpdateStep], run: [UpdateStep])] = [
        (.swapMove, false, [.finishEarlier, .compare], [.finishEarlier, .finishEarlier]),
        (.unknown, false, [.finishEarlier, .compare], [.finishEarlier, .finishEarlier]),
        (.swapMove, true, [.finishEarlier, .test, .restart, .compare, .confirm], [.finishEarlier, .test, .restart, .compare, .confirm]),
        (
          .overwriteOnly, false, [.finishEarlier, Base.upload, .test, .restart, .compare],
          [.finishEarlier, Base.upload, .test, .restart, .compare]
        ),
      ]
      for row in kept {
        let server = ManagementServer(running: Base.new)
        (server.other.bytes, server.isPending, server.isPermanent) = (Base.third, true, row.isPermanent)
        server.mode = row.0 == .unknown ? nil : row.0
        if row.0 == .overwriteOnly {
          server.onReset = { (server.running, server.other, server.isPending) = (server.other, ManagementServer.Slot(), false) }
        }
        let run = try await Base.run(server)
        #expect(run.plan?.steps == row.plan && run.steps == row.run, "\(row): \(run)")
        #expect(run.plan?.notes == [.unfinished(version: "3.0.0+4", isOnTrial: false), .sameContent])
        #expect(run.error == nil && run.outcome?.isConfirmed == true && run.outcome?.versionAfter == "2.0.0+4")
        #expect(server.running.bytes == Base.new && !server.isPending)
        #expect(server.sent(.upload).isEmpty == (row.0 != .overwriteOnly) && server.sent(.setState).isEmpty == (row.run.count == 2))
      }
    }
  }

  @Test func anImageThatAPendingOneWouldReplaceForEverIsNoSuccess() async throws {
    try await onLoop {
      let version = try #require(ImageVersion("3.0.0.4")), file = try #require(ImageVersion("2.0.0.4"))
      let list = CBOR.map([
        "images": .array([
          ManagementServer(running: Base.new).running.entry,
          .map(["slot": .integer(1), "version": .text("3.0.0.4"), "hash": .bytes([3]), "pending": .bool(true), "permanent": .bool(true)]),
        ])
      ])
      for (mode, forbids, isError) in [
        (.swapMove, true, true), (.directXIP, false, true), (.directXIPRevert, false, true), (.ramLoad, false, true),
        (.singleRAMLoad, false, false),
      ] as [(BootloaderMode, Bool, Bool)] {
        let server = ManagementServer(running: Base.new)
        (server.mode, server.forbidsDowngrade) = (mode, forbids)
        server.onRequest = { operation, _ in operation == .images ? list.encoded : nil }
        let run = try await Base.run(server)
        #expect(run.error as? ManagementError == (isError ? .pendingStays(version, file: file) : nil), "\(mode): \(run)")
        #expect(run.plan?.steps == (isError ? nil : []), "\(mode)")
        #expect(server.sent(.reset).isEmpty && server.sent(.setState).isEmpty)
      }
    }
  }

  /// The time of restarts and of lost links does not count.
  @Test func theTimeOfAnUploadIsThatOfItsRequests() async throws {
    try await onLoop {
      let server = ManagementServer()
      (server.processing, server.downtime, server.bufferCount) = (.milliseconds(20), .seconds(30), 2)
      let run = try await Base.run(server)
      #expect(run.outcome?.uploadTime == .milliseconds(20) * (server.sent(.upload).count - 1))
      let lossy = ManagementServer()
      (lossy.processing, lossy.bufferCount, lossy.cutsAfter) = (.milliseconds(20), 2, 7)
      let other = try await Base.run(lossy)
      let time = try #require(other.outcome?.uploadTime)
      #expect(lossy.reconnects > 2 && time > .zero && time < .milliseconds(20) * lossy.sent(.upload).count)
    }
  }
}
