import TestSupport

/// Times and rates follow Vol 6 Part B §2. The longest are the specification's own maxima (2120, 1064, 4542, 17 040 µs).
@Suite(.timeLimit(.minutes(15))) struct AirTimeTests {
  @Test(arguments: [
    (AirTime.Coding.le1M, [80, 296, 328, 2088, 2120], [676, 2468, 2500]),
    (.le2M, [44, 152, 168, 1048, 1064], [496, 1392, 1408]),
    (.codedS2, [462, 894, 958, 4478, 4542], [1656, 5240, 5304]),
    (.codedS8, [720, 2448, 2704, 16784, 17040], [3468, 17804, 18060]),
  ])
  func timesOnAir(coding: AirTime.Coding, pdus: [Int], exchanges: [Int]) {
    #expect(AirTime.pdu(bytes: 0, coding) == pdus[0])
    #expect(AirTime.pdu(bytes: 0, coding, encrypted: true) == pdus[0])
    #expect(AirTime.pdu(bytes: 27, coding) == pdus[1])
    #expect(AirTime.pdu(bytes: 27, coding, encrypted: true) == pdus[2])
    #expect(AirTime.pdu(bytes: 251, coding) == pdus[3])
    #expect(AirTime.pdu(bytes: 251, coding, encrypted: true) == pdus[4])
    #expect(AirTime.exchange(bytes: 27, coding) == exchanges[0])
    #expect(AirTime.exchange(bytes: 251, coding) == exchanges[1])
    #expect(AirTime.exchange(bytes: 251, coding, encrypted: true) == exchanges[2])
  }

  @Test func fragmentsOfOneATTPDU() {
    #expect(AirTime.fragments(attBytes: 23, linkBytes: 27) == [27])
    #expect(AirTime.fragments(attBytes: 24, linkBytes: 27) == [27, 1])
    #expect(AirTime.fragments(attBytes: 185, linkBytes: 27) == Array(repeating: 27, count: 7))
    #expect(AirTime.fragments(attBytes: 517, linkBytes: 251) == [251, 251, 19])
    #expect(AirTime.fragments(attBytes: 498, linkBytes: 251) == [251, 251])
    // Short HCI buffers make short LL PDUs.
    #expect(AirTime.fragments(attBytes: 56, linkBytes: 251, hciBytes: 27) == [27, 27, 6])
    // An HCI packet ends in a short LL PDU of its own.
    #expect(AirTime.fragments(attBytes: 247, linkBytes: 100, hciBytes: 251) == [100, 100, 51])
    #expect(AirTime.fragments(attBytes: 100, linkBytes: 27, hciBytes: 64) == [27, 27, 10, 27, 13])
  }

  /// Checks rates in kB/s.
  @Test(arguments: [
    (AirTime.Coding.le1M, 27, 20, 29.6, 28.2), (.le1M, 27, 182, 38.5, 36.7), (.le1M, 27, 236, 38.8, 37.0), (.le1M, 27, 514, 37.2, 35.4),
    (.le1M, 251, 20, 29.6, 28.2), (.le1M, 251, 244, 98.9, 97.6), (.le1M, 251, 495, 100.3, 99.0), (.le1M, 251, 514, 92.6, 91.1),
    (.le2M, 27, 20, 40.3, 39.1), (.le2M, 27, 244, 50.0, 48.4), (.le2M, 251, 182, 159.1, 156.9), (.le2M, 251, 244, 175.3, 173.3),
    (.le2M, 251, 248, 138.1, 135.7), (.le2M, 251, 495, 177.8, 175.8), (.le2M, 251, 514, 158.3, 155.9), (.codedS2, 251, 244, 46.6, 46.0),
    (.codedS8, 251, 244, 13.7, 13.5),
  ])
  func saturatedThroughput(coding: AirTime.Coding, link: Int, value: Int, plain: Double, encrypted: Double) {
    #expect(abs(AirTime.throughput(value: value, linkBytes: link, coding) / 1000 - plain) < 0.06)
    #expect(abs(AirTime.throughput(value: value, linkBytes: link, coding, encrypted: true) / 1000 - encrypted) < 0.06)
  }

  /// Checks rates in kB/s at 7.5, 11.25, 15, 30, 50 and 100 ms.
  @Test(arguments: [
    (AirTime.Coding.le1M, 27, 20, [29.3, 28.4, 29.3, 29.3, 29.2, 29.4]), (.le1M, 27, 182, [38.1, 37.0, 38.1, 38.1, 38.0, 38.2]),
    (.le1M, 251, 244, [97.6, 86.8, 97.6, 97.6, 97.6, 97.6]), (.le1M, 251, 495, [99.0, 88.0, 99.0, 99.0, 99.0, 99.0]),
    (.le1M, 251, 514, [68.5, 91.4, 85.7, 85.7, 92.5, 92.5]), (.le2M, 27, 20, [40.0, 39.1, 40.0, 40.0, 40.0, 40.2]),
    (.le2M, 251, 244, [162.7, 173.5, 162.7, 170.8, 170.8, 173.2]), (.le2M, 251, 495, [165.0, 176.0, 165.0, 173.2, 173.2, 175.7]),
    (.le2M, 251, 514, [137.1, 152.3, 154.2, 154.2, 154.2, 156.8]),
  ])
  func throughputPerInterval(coding: AirTime.Coding, link: Int, value: Int, rates: [Double]) {
    for (interval, rate) in zip([7_500, 11_250, 15_000, 30_000, 50_000, 100_000], rates) {
      #expect(abs(AirTime.throughput(value: value, linkBytes: link, coding, interval: interval) / 1000 - rate) < 0.06)
    }
  }

  /// A packet of 17.8 ms outlasts an event: it takes every third event of 7.5 ms, or every second one of 15 ms.
  @Test(arguments: [(7_500, 22.5), (15_000, 30), (17_804, 17.804), (20_000, 20)])
  func aPacketLongerThanAnEvent(_ interval: Int, _ milliseconds: Double) {
    let rate = 244 / milliseconds
    #expect(abs(AirTime.throughput(value: 244, linkBytes: 251, .codedS8, interval: interval) / 1000 - rate) < 0.001)
  }

  /// A scheduler keeps a guard time at the end of each event.
  @Test(arguments: [(0, 97.6), (96, 97.6), (97, 65.07), (2_600, 32.53), (9_000, 32.53)])
  func guardTime(_ time: Int, _ rate: Double) {
    #expect(abs(AirTime.throughput(value: 244, linkBytes: 251, .le1M, interval: 7_500, guardTime: time) / 1000 - rate) < 0.01)
  }
}
