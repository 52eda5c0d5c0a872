import Foundation
import TestSupport

extension KernelTests {
  /// Tests with the kernel on both ends. The peripheral counts exactly the bytes that reach its ATT layer, and keeps up with blectl.
  @Suite struct KernelToKernelTests {
    static let name = "name:\(KernelPeripheral.name)"

    /// Runs the body with the peripheral in range, and removes it afterwards.
    private func withPeripheral(rxMTU: Int = 517, _ body: (KernelPeripheral) async throws -> Void) async throws {
      Guest.removeLock()
      try Guest.switchOn("hci0")
      try Guest.switchOn(KernelPeripheral.adapter)
      let peripheral = try await onLoop { try KernelPeripheral(rxMTU: rxMTU) }
      try KernelPeripheral.advertise()
      var failure: (any Error)?
      do { try await body(peripheral) } catch { failure = error }
      try await onLoop { peripheral.stop() }
      try Guest.expectQuiet()
      try Guest.endLinks()
      try Guest.switchOff(KernelPeripheral.adapter)
      if let failure { throw failure }
    }

    @Test(arguments: [23, 517]) func valuesOfAllLengths(_ mtu: Int) async throws {
      try await withPeripheral(rxMTU: mtu) { peripheral in
        let link = try Guest.blectl("connect", peripheral.peer, "--json")
        #expect(try link.records.first?.int("mtu") == mtu, "\(link.errors)")
        try KernelPeripheral.advertise()
        let read = try Guest.blectl("read", Self.name, "ff04", "--raw")
        #expect(read.output == (0..<512).map { UInt8(truncatingIfNeeded: $0) }, "\(read.errors)")
        for mode in ["long", "reliable"] {
          for count in [19, 512] {
            try KernelPeripheral.advertise()
            let value = Array(Bytes.picture(1000 + count).suffix(count))
            let written = try Guest.blectl("write", Self.name, "ff05", "-", "--mode", mode, "--read-back", "--json", input: value)
            #expect(written.status == 0, "\(mode) \(count): \(written.errors)")
            #expect(try written.records.first?.int("bytes") == count)
          }
        }
      }
    }

    @Test func aPublicAddress() async throws {
      try await withPeripheral { peripheral in
        let address = peripheral.peer.replacing("/public", with: "")
        let wrong = try Guest.blectl("connect", "\(address)/random", "--timeout", "3", "--json")
        #expect(wrong.status == 4 && wrong.error?.string("message")?.contains("public") == true, "\(wrong.errors)")
        let found = try Guest.blectl("connect", address, "--json")
        #expect(try found.records.first?.string("address_type") == "public", "\(found.errors)")
      }
    }

    @Test func tenThousandNotificationsInOrder() async throws {
      try await withPeripheral { peripheral in
        try await onLoop { peripheral.burstLength = 10_000 }
        let listening = try Guest.blectl("notify", Self.name, "ff02", "--json", "--count", "10000", "--duration", "90")
        // On a slow machine some values are lost. Then every lost value must be counted.
        let lost = Self.lost(listening)
        #expect(listening.status == (lost == 0 ? 0 : 4), "\(listening.errors)")
        let numbers = try listening.records.compactMap { $0.string("value").flatMap(Self.number) }
        #expect(numbers.count + lost == 10_000, "\(numbers.count) received, \(listening.errors)")
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 })
      }
    }

    private static func number(_ hex: String) -> UInt32? { UInt32(hex, radix: 16)?.byteSwapped }

    /// Returns the number in the last note about lost PDUs.
    private static func lost(_ result: ProcessResult) -> Int {
      result.errors.matches(of: /Lost (\d+) received PDUs/).last.flatMap { Int($0.1) } ?? 0
    }

    /// A stopped blectl cannot read, so the kernel's buffer overflows. blectl must report every lost value.
    @Test func lostNotificationsAreCounted() async throws {
      try await withPeripheral { peripheral in
        try await onLoop { peripheral.burstLength = 30_000 }
        let listening = try Guest.start("notify", Self.name, "ff02", "--json")
        #expect(listening.waitForOutput(containing: "notification"))
        listening.signal(SIGSTOP)
        // The kernel receives while blectl is stopped.
        try await onLoop { try await peripheral.allIsSent() }
        let before = listening.outputCount
        listening.signal(SIGCONT)
        // Send a last value as soon as there is space. The first records are those from before the stop. So many more can only have been
        // read from the socket since.
        #expect(listening.waitForOutput(after: before) { $0.count > 100_000 })
        try await onLoop { peripheral.notifyOnce(30_000) }
        let last = "\"\(Bytes.hex(Bytes.u32le(30_000)))\""
        #expect(listening.nextLine { $0.contains(last) } != nil)
        let result = listening.end(by: SIGINT)
        #expect(result.status == 130)
        let lost = Self.lost(result)
        #expect(lost > 0, "\(result.errors)")
        #expect(result.lines.count + lost == 30_001, "\(result.lines.count) received, \(result.errors)")
      }
    }

    @Test func indicationsAreConfirmed() async throws {
      try await withPeripheral { peripheral in
        try await onLoop { peripheral.burstLength = 200 }
        let listening = try Guest.blectl("notify", Self.name, "ff03", "--json", "--count", "200")
        #expect(listening.status == 0, "\(listening.errors)")
        #expect(try listening.records.map { $0.string("value") } == (0..<200).map { Bytes.hex([UInt8($0)]) })
        #expect(try listening.records.allSatisfy { $0.string("event") == "indication" })
        #expect(try await onLoop { peripheral.confirmations } == 200)
      }
    }

    /// "Sent" means that the device's ATT layer has the data: the test looks as soon as blectl exits.
    @Test(arguments: [(77_831, "command"), (77_831, "request"), (1_048_576, "command")]) func sendFile(_ count: Int, _ mode: String)
      async throws
    {
      let picture = Bytes.picture(count)
      try await withPeripheral { peripheral in
        let sent = try Guest.blectl("send-file", Self.name, "ff01", "-", "--mode", mode, "--json", input: picture)
        #expect(sent.status == 0, "\(sent.errors)")
        #expect(try sent.records.last?.string("event") == "sent")
        #expect(try sent.records.last?.int("bytes") == count)
        let arrived = try await onLoop { peripheral.arrived }
        #expect(arrived.count == count && Bytes.crc32(arrived) == Bytes.crc32(picture))
      }
    }

    /// The kernel reports when it is full (EAGAIN) and when it has space again (poll). No process sleeps.
    @Test func backPressureInsteadOfPauses() async throws {
      let file = URL(fileURLWithPath: "/tmp/picture")
      try Data(Bytes.picture(300_000)).write(to: file)
      try await withPeripheral { peripheral in
        // The radio is silent from the first bytes on, so the kernel's queue fills up. This process stops it, because another program would
        // start too late. A window is set: on a slow machine the device may seem slower than the link, and then gets only as much as it
        // confirms.
        let radio = try #require(try pid_t(Guest.must("pgrep", "btvirt").prefix { $0.isNumber }))
        let silence = try await onLoop {
          let silence = Wait<Void>()
          peripheral.onFirstArrival = {
            kill(radio, SIGSTOP)
            silence.resume(returning: ())
          }
          return silence
        }
        defer { kill(radio, SIGCONT) }
        let tracing = try RunningProcess([
          "strace", "-f", "-qq", "-e", "trace=sendto,poll,clock_nanosleep,nanosleep", "-o", "/tmp/calls", Blectl.path, "send-file",
          peripheral.peer, "ff01", file.path, "--window", "10000", "--json",
        ])
        try await onLoop { try await silence.value() }
        // After a refusal it waits in a call that does not return.
        try Guest.wait(for: "blectl to wait for room") {
          let calls = try String(contentsOfFile: "/tmp/calls", encoding: .utf8)
          return calls.contains("EAGAIN") && calls.split(separator: "\n").last.map { $0.contains("poll(") && !$0.contains(" = ") } == true
        }
        kill(radio, SIGCONT)
        let traced = tracing.wait()
        #expect(traced.status == 0, "\(traced.errors)")
        let calls = try String(contentsOfFile: "/tmp/calls", encoding: .utf8).split(separator: "\n")
        let refused = calls.filter { $0.contains("sendto(") && $0.contains("EAGAIN") }.count
        #expect(refused > 0)
        #expect(!calls.contains { $0.contains("nanosleep(") })
        // Each refusal is followed by a wait for space, not by another attempt.
        #expect(refused < 20, "\(refused) refused")
        #expect(try await onLoop { peripheral.arrived.count } == 300_000)
      }
    }

    @Test(arguments: [(5_000, "command"), (40_000, "command"), (40_000, "request")]) func aPeerThatEndsInMidTransfer(
      _ limit: Int, _ mode: String
    ) async throws {
      try await withPeripheral { peripheral in
        try await onLoop { peripheral.endsAfter = limit }
        var arguments = ["send-file", peripheral.peer, "ff01", "-", "--mode", mode, "--json"]
        if mode == "command" { arguments += ["--ack-every", "8"] }
        let sent = try Blectl.run(arguments, input: Bytes.picture(77_831), adapter: nil, virtual: false)
        #expect(sent.status == 6, "\(sent.text) \(sent.errors)")
        #expect(sent.error?.string("kind") == "link_lost")
        let message = sent.error?.string("message") ?? ""
        let known = try #require(
          message.firstMatch(of: /(?:At least|Between) (\d+) (?:and \d+ )?of \d+ bytes arrived/).flatMap { Int($0.1) }, "\(message)")
        let arrived = try await onLoop { peripheral.arrived.count }
        // Commands do not wait for a confirmation: the first few may be in flight when the link ends.
        #expect(known <= arrived && (known > 0 || limit < 10_000), "\(known) known, \(arrived) arrived")
        #expect(try !sent.records.contains { $0.string("event") == "sent" })
      }
    }
  }
}
