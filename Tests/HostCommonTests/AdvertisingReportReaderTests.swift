import TestSupport

private let phone = PeerAddress(Address(rawValue: 0x11_22_33_44_55_66), .random)

@Suite(.timeLimit(.minutes(15))) struct AdvertisingReportReaderTests {
  private func legacy(_ types: UInt8..., data: [UInt8] = [1]) -> Event {
    .leAdvertisingReports(AdvertisingReports(types.map { LegacyAdvertisingReport(eventType: $0, peer: phone, data: data, rssi: -50) }))
  }

  private func extended(_ eventType: UInt16, _ data: [UInt8], sid: UInt8 = 1) -> Event {
    .leExtendedAdvertisingReports(
      AdvertisingReports([ExtendedAdvertisingReport(eventType: eventType, peer: phone, sid: sid, rssi: -50, data: data)]))
  }

  private let directed = Event.leDirectedAdvertisingReports(
    AdvertisingReports([DirectedAdvertisingReport(peer: phone, direct: phone, rssi: -1)]))

  @Test(.onLoop) @LoopActor func everyFormIsRead() async throws {
    var reports: [AdvertisingReport] = []
    var told: [Int] = []
    let reader = AdvertisingReportReader(onUnreadable: { told.append($0) }) { reports.append($0) }
    for event in [self.legacy(0, 4), self.directed, self.extended(0x13, [2]), self.extended(0x00, [3]), .hardwareError(1)] {
      reader.receive(event)
    }
    #expect(reports.map(\.pdu) == [.connectable, .scanResponse, .directed, .connectable, .extended])
    #expect(reports.map(\.data) == [[1], [1], [], [2], [3]])
    #expect(reader.unreadable == 0)
    reader.stop()
    #expect(told.isEmpty, "there is nothing to tell")
  }

  /// An unknown report is dropped and counted, and stops nothing.
  @Test(.onLoop) @LoopActor func anUnknownReport() async throws {
    var reports: [AdvertisingReport] = []
    var told: [Int] = []
    let reader = AdvertisingReportReader(onUnreadable: { told.append($0) }) { reports.append($0) }
    reader.receive(self.legacy(5, 0, 0xFF, 3))
    #expect(reports.map(\.pdu) == [.connectable, .nonConnectable])
    #expect(reader.unreadable == 2)
    // The second of three reports is cut: the first one counts.
    for event in [self.legacy(0, 2, 3), self.extended(0x13, [1, 2, 3]), self.directed] {
      var bytes = event.encoded
      bytes.removeLast(3)
      bytes[2] -= 3
      guard case .event(let cut) = try Packet(bytes) else { continue }
      reader.receive(cut)
    }
    #expect(reports.map(\.pdu).dropFirst(2) == [.connectable, .scannable])
    #expect(reader.unreadable == 5)
    #expect(told.isEmpty)
    reader.stop()
    reader.stop()
    #expect(told == [5], "once, at the end")
  }

  @Test(.onLoop) @LoopActor func whatNeverBecomesWholeIsGivenUp() async throws {
    var reports: [AdvertisingReport] = []
    var told: [Int] = []
    let reader = AdvertisingReportReader(onUnreadable: { told.append($0) }) { reports.append($0) }
    reader.receive(self.extended(0x20, [1]))
    try await EventLoop.shared.sleep(for: .milliseconds(150))
    reader.receive(self.extended(0x20, [9], sid: 2))
    try await EventLoop.shared.sleep(for: .milliseconds(90))
    #expect(reports.isEmpty)
    try await EventLoop.shared.sleep(for: .milliseconds(30))
    #expect(reports.map(\.data) == [[1]])
    try await EventLoop.shared.sleep(for: .milliseconds(280))
    #expect(reports.map(\.data) == [[1], [9]])
    #expect(reports.map(\.isTruncated) == [true, true])
    reader.receive(self.extended(0x20, [3]))
    reader.stop()
    reader.receive(self.legacy(0))
    try await EventLoop.shared.sleep(for: .seconds(3))
    #expect(reports.count == 2 && told.isEmpty)
  }
}
