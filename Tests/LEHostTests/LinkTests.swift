import ATT
import Bluetooth
import EventLoop
import GAP
import GATT
import HCI
import L2CAP
import TestSupport
import Testing

@testable import LEHost

@Suite struct LinkTests {
  @LoopActor
  private func linked(_ controller: ScriptedController = ScriptedController()) async throws -> (
    HostCentral, ScriptedController, any GAP.Link
  ) {
    let (central, _) = try await started(controller)
    let link = try await central.connect(lock, timeout: .seconds(5))
    return (central, controller, link)
  }

  @Test func pdusAreFragmentedAndJoined() async throws {
    try await onLoop {
      let (_, controller, link) = try await self.linked()
      var received: [[UInt8]] = []
      link.channel.handler = { if case .received(let pdu) = $0 { received.append(pdu) } }
      let long = (0..<517).map { UInt8(truncatingIfNeeded: $0) }
      link.channel.send(long)
      link.channel.send([0x0A, 3, 0])
      controller.frame(4, long)
      controller.frame(4, [])
      controller.frame(0x40, [1, 2, 3])
      try await settle()
      #expect(controller.data.allSatisfy { $0.payload.count <= 27 })
      #expect(controller.frames == [L2CAPFrame(channel: 4, payload: long), L2CAPFrame(channel: 4, payload: [0x0A, 3, 0])])
      #expect(received == [long, []])
    }
  }

  @Test func whoWaitsToWriteLearnsWhyTheLinkEnded() async throws {
    try await onLoop {
      let (_, controller, link) = try await self.linked()
      controller.completesPackets = false
      // A bearer closes its channel as soon as it hears of the end.
      let bearer = Bearer(link.channel)
      bearer.start()
      let writer = EventLoop.shared.spawn {
        await failure {
          while true {
            try await bearer.waitUntilWritable()
            bearer.send(.write(3, value: [1]))
          }
        }
      }
      try await settle()
      controller.emit(.disconnectionComplete(status: .success, handle: 0x40, reason: .connectionTimeout))
      let error = await writer.value
      #expect(error?.message.contains("was lost") == true, "\(error?.message ?? "none")")
    }
  }

  @Test func aPeerThatAsksAndNeverListensDoesNotFillTheMemory() async throws {
    try await onLoop {
      let (_, controller, link) = try await self.linked()
      controller.completesPackets = false
      let bearer = Bearer(link.channel)
      bearer.start()
      for _ in 0..<1000 {
        controller.frame(4, [0x0A, 3, 0])
        controller.frame(4, [0x1D, 3, 0, 7])
      }
      try await settle()
      #expect(link.channel.unacknowledged == Bearer.answerLimit)
      #expect(bearer.faults.unanswered == 2000 - Bearer.answerLimit)
      bearer.close()
    }
  }

  @Test func acknowledgementsMayBeSlowButNotAbsent() async throws {
    try await onLoop {
      let (_, controller, link) = try await self.linked()
      controller.completesPackets = false
      let bearer = Bearer(link.channel, timeout: .seconds(2))
      for _ in 0..<5 { bearer.send(.write(3, value: [1])) }
      for number in 1...4 { EventLoop.shared.schedule(after: .milliseconds(1500 * number)) { controller.complete(0x40, 1) } }
      try await bearer.waitUntilUnacknowledged(below: 2)
      #expect(bearer.unacknowledged == 1)
      await #expect(throws: ATTError.nothingGotThrough(for: .seconds(2))) {
        try await withDeadline(EventLoop.shared.now.advanced(by: .seconds(100))) {
          try await bearer.waitUntilUnacknowledged(below: 1)
        }
      }
      bearer.close()
    }
  }

  @Test func writersWaitForCredits() async throws {
    try await onLoop {
      let (_, controller, link) = try await self.linked()
      controller.completesPackets = false
      var sent = 0
      let writer = EventLoop.shared.spawn {
        await failure {
          for _ in 0..<100 {
            try await link.channel.waitUntilWritable()
            link.channel.send([UInt8](repeating: 1, count: 20))
            sent += 1
          }
        }
      }
      try await settle()
      // Four in the controller, eight here.
      #expect(controller.data.count == 4)
      #expect(sent == 12)
      controller.complete(0x40, 2)
      try await settle()
      #expect(controller.data.count == 6)
      #expect(sent == 14)
      // T13: nonsense frees nothing.
      for octets in try BadInputs.packets("T13").prefix(2) { controller.emit(octets) }
      try await settle()
      #expect(controller.data.count == 6)
      controller.completesPackets = true
      controller.complete(0x40, 0xFFFF)
      #expect(await writer.value == nil)
      try await settle()
      #expect(controller.frames.count == 100)
    }
  }

  @Test func aWindowCountsPDUsNotFragments() async throws {
    try await onLoop {
      let (_, controller, link) = try await self.linked()
      controller.completesPackets = false
      var sent = 0
      let writer = EventLoop.shared.spawn {
        await failure {
          while true {
            try await link.channel.waitUntilUnacknowledged(below: 2)
            // 67 octets of L2CAP: three fragments of 27.
            link.channel.send([UInt8](repeating: 1, count: 63))
            sent += 1
          }
        }
      }
      try await settle()
      #expect(sent == 2)
      #expect(link.channel.unacknowledged == 2)
      controller.complete(0x40, 2)
      try await settle()
      #expect(sent == 2, "two of the first one's three fragments are through")
      controller.complete(0x40, 1)
      try await settle()
      #expect(sent == 3)
      await link.disconnect()
      #expect(await writer.value?.kind == .linkLost)
    }
  }

  @Test func aLostLinkEndsWritersAndReturnsCredits() async throws {
    try await onLoop {
      let (central, controller, link) = try await self.linked()
      let other = try await central.connect(PeerAddress(Address(rawValue: 4), .public), timeout: .seconds(5))
      controller.completesPackets = false
      var closed: BluetoothError?
      link.channel.handler = { if case .closed(let error) = $0 { closed = error as? BluetoothError } }
      let writer = EventLoop.shared.spawn {
        await failure {
          while true {
            try await link.channel.waitUntilWritable()
            link.channel.send([UInt8](repeating: 1, count: 20))
          }
        }
      }
      try await settle()
      #expect(controller.data.count == 3)
      controller.emit(.disconnectionComplete(status: .success, handle: 0x40, reason: .connectionTimeout))
      let error = await writer.value
      #expect(error?.kind == .linkLost)
      #expect(error?.code == 0x08)
      #expect(error?.name == "connection_timeout")
      #expect(error?.message.contains("Connection Timeout (0x08)") == true)
      #expect(closed == error)
      // All four buffers are the other's now.
      for _ in 0..<6 { other.channel.send([7]) }
      try await settle()
      #expect(controller.data.suffix(4).allSatisfy { $0.handle == 0x41 })
      #expect(controller.data.count == 7)
      link.channel.send([1])
      #expect(await failure { try await link.channel.waitUntilWritable() } == error)
      await link.disconnect()
    }
  }

  @Test func disconnectLetsDataOutFirst() async throws {
    try await onLoop {
      let (_, controller, link) = try await self.linked()
      link.channel.handler = { _ in }
      link.channel.send([UInt8](repeating: 1, count: 500))
      await link.disconnect()
      #expect(controller.frames.count == 1)
      #expect(controller.commands.last == Disconnect(handle: 0x40, reason: .remoteUserTerminated))
    }
  }

  @Test func disconnectEndsWhateverTheControllerDoes() async throws {
    try await onLoop {
      // Data stuck; no confirmation; refused.
      for mode in 0..<3 {
        let (central, controller, link) = try await self.linked()
        var closed: BluetoothError?
        link.channel.handler = { if case .closed(let error) = $0 { closed = error as? BluetoothError } }
        switch mode {
        case 0:
          controller.completesPackets = false
          link.channel.send([1])
        case 1: controller.rules[Disconnect.opcode] = { controller.status($0) }
        default: controller.rules[Disconnect.opcode] = { controller.status($0, .unknownConnectionIdentifier) }
        }
        let task = EventLoop.shared.spawn { await link.disconnect() }
        task.cancel()
        let time = await duration {
          await link.disconnect()
          await task.value
        }
        #expect(time < .seconds(4), "\(mode)")
        #expect(closed != nil, "\(mode)")
        #expect(central.openLinks.isEmpty)
      }
    }
  }

  @Test func closeIsLimited() async throws {
    try await onLoop {
      let (central, controller, link) = try await self.linked()
      _ = try await central.connect(PeerAddress(Address(rawValue: 4), .public), timeout: .seconds(5))
      controller.rules[Disconnect.opcode] = { _ in nil }
      var closed: BluetoothError?
      link.channel.handler = { if case .closed(let error) = $0 { closed = error as? BluetoothError } }
      let time = await duration { await central.close() }
      #expect(time < .milliseconds(2500))
      #expect(closed?.kind == .linkLost)
      #expect(controller.isClosed)
      await central.close()
      let (ready, second, _) = try await self.linked()
      let quick = await duration { await ready.close() }
      #expect(quick < .milliseconds(100))
      #expect(second.count(Disconnect.opcode) == 1)
    }
  }

  @Test func tuning() async throws {
    try await onLoop {
      let controller = ScriptedController()
      controller.supported = ScriptedController.extended
      controller.features = [.dataLengthExtension, .phy2M]
      let (_, _, link) = try await self.linked(controller)
      #expect(try await link.requestInterval(.microseconds(7500)).interval == .microseconds(7500))
      #expect(
        controller.commands.last
          == LEConnectionUpdate(
            handle: 0x40, ConnectionParameters(intervalMin: 6, intervalMax: 6, latency: 0, supervisionTimeout: 400)))
      #expect(try await link.requestInterval(.seconds(4)).supervisionTimeout == .seconds(24))
      #expect(try await link.requestPHY(.le2M).phy == .le2M)
      #expect(try await link.requestDataLength(100).maxTxOctets == 100)
      #expect(controller.commands.last == LESetDataLength(handle: 0x40, txOctets: 100, txTime: 912))
      await #expect(throws: GAPError.intervalOutOfRange(.seconds(5))) { _ = try await link.requestInterval(.seconds(5)) }
      await #expect(throws: GAPError.dataLengthOutOfRange(26)) { _ = try await link.requestDataLength(26) }
      // A peer that allows no more is no event, and no error; what is agreed already is not asked for.
      controller.rules[LESetDataLength.opcode] = { controller.complete($0, HandleReturned(0x40)) }
      #expect(try await link.requestDataLength(251).maxTxOctets == 100)
      let asked = controller.count(LESetDataLength.opcode)
      #expect(try await duration { _ = try await link.requestDataLength(100) } == .zero)
      #expect(controller.count(LESetDataLength.opcode) == asked)
    }
  }

  @Test(arguments: LinkRequestCase.all) func theTableOfRequests(_ row: LinkRequestCase) async throws {
    try await onLoop {
      let controller = ScriptedController()
      controller.supported = ScriptedController.legacy.filter { $0 != LEReadPHY.opcode } + row.supported
      controller.features = .dataLengthExtension
      // The link stays as it begins until something is asked of it.
      controller.rules[LESetDataLength.opcode] = { controller.complete($0, HandleReturned(0x40)) }
      let central = HostCentral(controller, name: LinkRequestCase.adapter)
      try await central.start()
      let link = try await central.connect(LinkRequestCase.peer, timeout: .seconds(5))
      try await settle()
      for opcode in row.supported { controller.rules[opcode] = { row.answer(to: $0) } }
      await row.check(on: link) { controller.commands }
    }
  }

  @Test func refusedTuningIsAClearError() async throws {
    try await onLoop {
      let controller = ScriptedController()
      let (_, _, old) = try await self.linked(controller)
      await #expect(throws: GAPError.unsupported(adapter: "tcp:test", .phy(.le2M))) { _ = try await old.requestPHY(.le2M) }
      await #expect(throws: GAPError.unsupported(adapter: "tcp:test", .dataLength(251))) { _ = try await old.requestDataLength(251) }
      controller.rules[LEConnectionUpdate.opcode] = { controller.status($0, .unsupportedRemoteFeature) }
      let refused = await failure { _ = try await old.requestInterval(.milliseconds(30)) }
      #expect(refused?.kind == .hci)
      #expect(refused?.code == 0x1A)
      controller.rules[LEConnectionUpdate.opcode] = {
        controller.status($0) + [
          .leConnectionUpdateComplete(
            status: .unacceptableParameters, handle: 0x40, interval: 0, latency: 0, supervisionTimeout: 0)
        ]
      }
      let wish = LinkProcedure.connectionInterval(.milliseconds(30))
      await #expect(throws: GAPError.notAgreed(lock, wish, .unacceptableParameters)) {
        _ = try await old.requestInterval(.milliseconds(30))
      }
      controller.rules[LEConnectionUpdate.opcode] = { controller.status($0) }
      await #expect(throws: GAPError.noAnswer(lock, wish)) { _ = try await old.requestInterval(.milliseconds(30)) }
      // One octet only, as Bumble answers what it does not know.
      controller.rules[ReadRSSI.opcode] = { controller.complete($0, failed: .unknownCommand) }
      #expect(try await old.parameters().rssi == nil)
    }
  }

  @Test func signallingAndPairingAreAnswered() async throws {
    let unknown = try BadInputs.packets("T26")
    let pairing = try BadInputs.packets("T28")
    try await onLoop {
      let (_, controller, _) = try await self.linked()
      for octets in unknown + pairing { controller.emit(octets) }
      try await settle()
      #expect(
        controller.frames == [
          L2CAPFrame(channel: 5, payload: [1, 1, 2, 0, 0, 0]), L2CAPFrame(channel: 6, payload: [5, 5]),
          L2CAPFrame(channel: 6, payload: [5, 5]),
        ])
      // Neither answers an answer.
      controller.frame(6, [5, 5])
      controller.frame(5, [1, 1, 2, 0, 0, 0])
      controller.frame(6, [])
      try await settle()
      #expect(controller.frames.count == 3)
      controller.frame(5, [0x12, 7, 8, 0, 6, 0, 24, 0, 0, 0, 0x90, 1])
      try await settle()
      #expect(controller.frames.last == L2CAPFrame(channel: 5, payload: [0x13, 7, 2, 0, 0, 0]))
      #expect(
        controller.commands.last
          == LEConnectionUpdate(
            handle: 0x40, ConnectionParameters(intervalMin: 6, intervalMax: 24, latency: 0, supervisionTimeout: 400)))
    }
  }

  @Test func aFloodOfQuestionsIsBounded() async throws {
    try await onLoop {
      let (_, controller, _) = try await self.linked()
      controller.completesPackets = false
      controller.rules[LEConnectionUpdate.opcode] = { _ in nil }
      for _ in 0..<1000 {
        controller.frame(5, [0x12, 7, 8, 0, 6, 0, 24, 0, 0, 0, 0x90, 1])
        controller.frame(6, [1])
        controller.emit(
          .leRemoteConnectionParameterRequest(handle: 0x40, intervalMin: 6, intervalMax: 6, latency: 0, supervisionTimeout: 400))
      }
      try await settle()
      controller.completesPackets = true
      controller.complete(0x40, 4)
      try await EventLoop.shared.sleep(for: .seconds(30))
      #expect(controller.data.count <= 70)
      #expect(controller.count(LERemoteConnectionParameterRequestReply.opcode) <= 40)
    }
  }

  @Test func parameterRequestsOfTheLinkLayer() async throws {
    try await onLoop {
      let (_, controller, _) = try await self.linked()
      controller.emit(
        .leRemoteConnectionParameterRequest(handle: 0x40, intervalMin: 6, intervalMax: 9, latency: 1, supervisionTimeout: 100))
      controller.emit(
        .leRemoteConnectionParameterRequest(handle: 0x40, intervalMin: 1, intervalMax: 9, latency: 1, supervisionTimeout: 100))
      controller.emit(
        .leRemoteConnectionParameterRequest(handle: 0x77, intervalMin: 6, intervalMax: 9, latency: 1, supervisionTimeout: 100))
      try await settle()
      #expect(
        Array(controller.commands.suffix(2)) == [
          LERemoteConnectionParameterRequestReply(
            handle: 0x40, ConnectionParameters(intervalMin: 6, intervalMax: 9, latency: 1, supervisionTimeout: 100)),
          LERemoteConnectionParameterRequestNegativeReply(handle: 0x40, reason: .unacceptableParameters),
        ])
    }
  }

  @Test func aPeerDoesNotUndoTheIntervalThatWasAskedFor() async throws {
    try await onLoop {
      let (_, controller, link) = try await self.linked()
      _ = try await link.requestInterval(.microseconds(7500))
      let before = controller.count(LEConnectionUpdate.opcode)
      // 30–50 ms: no. 7.5–30 ms with latency 4: yes, but at 7.5 ms.
      controller.frame(5, [0x12, 7, 8, 0, 24, 0, 40, 0, 0, 0, 0x90, 1])
      try await settle()
      #expect(controller.frames.last == L2CAPFrame(channel: 5, payload: [0x13, 7, 2, 0, 1, 0]))
      #expect(controller.count(LEConnectionUpdate.opcode) == before)
      controller.frame(5, [0x12, 8, 8, 0, 6, 0, 24, 0, 4, 0, 0x90, 1])
      try await settle()
      #expect(controller.frames.last == L2CAPFrame(channel: 5, payload: [0x13, 8, 2, 0, 0, 0]))
      #expect(
        controller.commands.last
          == LEConnectionUpdate(
            handle: 0x40, ConnectionParameters(intervalMin: 6, intervalMax: 6, latency: 4, supervisionTimeout: 400)))
      controller.emit(
        .leRemoteConnectionParameterRequest(handle: 0x40, intervalMin: 24, intervalMax: 40, latency: 0, supervisionTimeout: 400))
      try await settle()
      #expect(
        controller.commands.last
          == LERemoteConnectionParameterRequestNegativeReply(handle: 0x40, reason: .unacceptableParameters))
    }
  }

  @Test func badFragmentsDoNotStopTheLink() async throws {
    let bad = try ["T18", "T20", "T22", "T24"].flatMap { try BadInputs.packets($0) }
    try await onLoop {
      let (_, controller, link) = try await self.linked()
      var received: [Int] = []
      link.channel.handler = { if case .received(let pdu) = $0 { received.append(pdu.count) } }
      for octets in bad { controller.emit(octets) }
      controller.frame(4, [0x13])
      try await settle()
      #expect(received == [512, 1])
    }
  }

  @Test func aDeadControllerEndsAllLinks() async throws {
    try await onLoop {
      let (central, controller, link) = try await self.linked()
      let other = try await central.connect(PeerAddress(Address(rawValue: 4), .public), timeout: .seconds(5))
      var ends: [BluetoothError] = []
      for one in [link, other] { one.channel.handler = { if case .closed(let error as BluetoothError) = $0 { ends.append(error) } } }
      let waiting = EventLoop.shared.spawn { await failure { _ = try await central.connect(absent, timeout: .seconds(60)) } }
      try await settle()
      controller.emit(.hardwareError(0x42))
      try await settle()
      #expect(ends.count == 2)
      #expect(await waiting.value?.name == "hardware_error")
      #expect(ends.allSatisfy { $0.name == "hardware_error" })
      #expect(await failure { _ = try await link.parameters() }?.name == "hardware_error")
      #expect(await failure { _ = try await link.requestInterval(.milliseconds(30)) }?.name == "hardware_error")
      await link.disconnect()
      await central.close()
    }
  }

  @Test func whatComesBeforeTheHandlerIsKeptWithinReason() async throws {
    try await onLoop {
      let (_, controller, link) = try await self.linked()
      for number in 0..<400 { controller.frame(4, [0x1B, UInt8(truncatingIfNeeded: number)]) }
      try await settle()
      var received = 0
      var dropped = 0
      link.channel.handler = {
        switch $0 {
        case .received: received += 1
        case .dropped(let count): dropped += count
        case .closed: break
        }
      }
      #expect(received == 256)
      #expect(dropped == 144)
      link.channel.close()
      controller.frame(4, [0x1B])
      try await settle()
      #expect(received == 256)
      #expect(try await link.parameters().interval != nil)
    }
  }
}
