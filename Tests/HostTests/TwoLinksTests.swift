import BluetoothLESimulator
import TestSupport

private let lamp = PeerAddress(Address(rawValue: 0xD1_00_00_00_00_04), .random)

/// A controller makes one connection at a time, but its host serves any number of requests.
@Suite(.timeLimit(.minutes(15))) struct TwoLinksTests {
  private enum Outcome: Equatable { case link, late(PeerAddress, Duration), dead(ControllerError), cancelled, other }

  /// Starts to connect. The result has the outcome and its time.
  @LoopActor
  private func connecting(_ central: HostCentral, _ peer: PeerAddress, _ seconds: Int) -> Task<(Outcome, Duration), Never> {
    let start = EventLoop.shared.now
    return EventLoop.shared.spawn {
      var outcome = Outcome.link
      do {
        _ = try await central.connect(peer, timeout: .seconds(seconds))
      } catch GAPError.noConnection(let peer, let limit) {
        outcome = .late(peer, limit)
      } catch let error as ControllerError {
        outcome = .dead(error)
      } catch {
        outcome = error is CancellationError ? .cancelled : .other
      }
      return (outcome, start.duration(to: EventLoop.shared.now))
    }
  }

  @Test(.onLoop) @LoopActor func theSecondWaitsAndTheFirstOnesFailureDoesItNoHarm() async throws {
    let (central, controller) = try await started()
    let first = self.connecting(central, absent, 2)
    try await settle()
    let second = self.connecting(central, lock, 5)
    let third = self.connecting(central, lamp, 5)
    try await settle()
    #expect(controller.count(LECreateConnection.opcode) == 1)
    let failed = await first.value
    #expect(failed.0 == .late(absent, .seconds(2)))
    let (one, two) = (await second.value, await third.value)
    #expect(one.0 == .link && two.0 == .link)
    #expect(one.1 >= .seconds(1) && one.1 < .seconds(3))
    #expect(Set(central.openLinks.map(\.peer)) == [lock, lamp])
  }

  @Test(.onLoop) @LoopActor func eachHasItsOwnLimit() async throws {
    let (central, controller) = try await started()
    let first = self.connecting(central, absent, 10)
    try await settle()
    let second = self.connecting(central, lock, 1)
    let late = await second.value
    #expect(late.0 == .late(lock, .seconds(1)))
    #expect(late.1 < .milliseconds(1100))
    // The second request never reached the controller, and the first attempt continues.
    #expect(controller.count(LECreateConnection.opcode) == 1)
    #expect(controller.count(LECreateConnectionCancel.opcode) == 0)
    let failed = await first.value
    #expect(failed.1 >= .seconds(10))
  }

  @Test(.onLoop) @LoopActor func whoWaitsCanBeCancelled() async throws {
    let (central, controller) = try await started()
    let first = self.connecting(central, absent, 2)
    try await settle()
    let second = self.connecting(central, lock, 9)
    let third = self.connecting(central, lamp, 9)
    try await settle()
    second.cancel()
    let cancelled = await second.value
    #expect(cancelled.0 == .cancelled)
    #expect(cancelled.1 < .seconds(1))
    let (one, two) = (await first.value, await third.value)
    #expect(one.0 == .late(absent, .seconds(2)) && two.0 == .link)
    #expect(central.openLinks.map(\.peer) == [lamp])
    #expect(controller.count(LECreateConnection.opcode) == 2)
  }

  @Test(.onLoop) @LoopActor func aCancelledFirstOneGivesItsTurnAway() async throws {
    let (central, _) = try await started()
    let first = self.connecting(central, absent, 60)
    try await settle()
    let second = self.connecting(central, lock, 5)
    try await settle()
    first.cancel()
    let (one, two) = (await first.value, await second.value)
    #expect(one.0 == .cancelled && two.0 == .link)
    #expect(two.1 < .seconds(1))
  }

  @Test(.onLoop) @LoopActor func aDeadControllerEndsAllOfThem() async throws {
    let (central, controller) = try await started()
    let first = self.connecting(central, absent, 60)
    try await settle()
    let second = self.connecting(central, lock, 60)
    try await settle()
    controller.emit(.hardwareError(1))
    let (one, two) = (await first.value, await second.value)
    let dead = Outcome.dead(ControllerError("tcp:test", .hardware(1)))
    #expect(one.0 == dead && two.0 == dead)
    #expect(one.1 < .seconds(1) && two.1 < .seconds(1))
  }

  @Test(.onLoop) @LoopActor func closingEndsAllOfThem() async throws {
    let (central, _) = try await started()
    let first = self.connecting(central, absent, 60)
    try await settle()
    let second = self.connecting(central, lock, 60)
    try await settle()
    await central.close()
    let (one, two) = (await first.value, await second.value)
    #expect(one.0 != .link && two.0 != .link)
    #expect(two.1 < .seconds(5))
    #expect(central.openLinks.isEmpty)
  }

  /// On the simulated air, both links connect and carry data at the same time.
  @Test(.onLoop, arguments: [false, true]) @LoopActor func twoPeripherals(_ isExtended: Bool) async throws {
    let air = Air(seed: 7)
    let echoes = [lock, lamp].map { Echo($0) }
    for echo in echoes { air.add(echo) }
    var configuration = VirtualController.Configuration()
    configuration.extended = isExtended
    let controller = VirtualController(air: air, configuration: configuration)
    let central = HostCentral(controller, name: "sim")
    try await central.start()
    let tasks = [lock, lamp].map { self.connecting(central, $0, 10) }
    for task in tasks {
      let result = await task.value
      #expect(result.0 == .link)
    }
    let links = try [lock, lamp].map { peer in try #require(central.openLinks.first { $0.peer == peer }) }
    var echoed: [[[UInt8]]] = [[], []]
    for (number, link) in links.enumerated() {
      link.channel.handler = { if case .received(let pdu) = $0 { echoed[number].append(pdu) } }
    }
    let pdus = (0..<100).map { number in [0x52] + [UInt8](repeating: UInt8(number), count: 1 + number * 7 % 240) }
    let writers = links.map { link in
      EventLoop.shared.spawn {
        for pdu in pdus {
          guard (try? await link.channel.waitUntilWritable()) != nil else { return }
          link.channel.send(pdu)
        }
      }
    }
    for writer in writers { await writer.value }
    try await EventLoop.shared.sleep(for: .seconds(20))
    #expect(echoes.map(\.received) == [pdus, pdus])
    #expect(echoed == [pdus, pdus])
    // One link ends, the other continues.
    await links[0].disconnect()
    links[1].channel.send([0x52, 9])
    try await EventLoop.shared.sleep(for: .seconds(2))
    #expect(echoed[1].last == [0x52, 9])
    #expect(central.openLinks.map(\.peer) == [lamp])
    await central.close()
    #expect(controller.violations.isEmpty, "\(controller.violations)")
  }
}
