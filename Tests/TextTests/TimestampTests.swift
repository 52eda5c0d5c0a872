import TestSupport

@Suite(.timeLimit(.minutes(15))) struct TimestampTests {
  @Test(arguments: [
    (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"), (951_782_400_000_000_000, "2000-02-29T00:00:00.000Z"),
    (1_767_225_600_123_999_999, "2026-01-01T00:00:00.123Z"), (4_107_542_399_999_000_000, "2100-02-28T23:59:59.999Z"),
    (4_107_542_400_000_000_000, "2100-03-01T00:00:00.000Z"),
  ])
  func isRFC3339(_ nanoseconds: Int64, _ text: String) {
    #expect(Timestamp.text(nanoseconds) == text)
    #expect(Timestamp.nanoseconds(text).map { Timestamp.text($0) } == text)
  }

  @Test(arguments: [
    "", "2026-01-01T00:00:00Z", "2026-02-30T00:00:00.000Z", "9999-01-01T00:00:00.000Z", "2026-01-01T00:00:99999999999999999.000Z",
  ])
  func otherTextIsNoTime(_ text: String) { #expect(Timestamp.nanoseconds(text) == nil) }

  @Test(
    arguments: [
      (0, [1970, 1, 1, 0, 0, 0, 4]), (-1, [1969, 12, 31, 23, 59, 59, 3]), (1_767_225_600, [2026, 1, 1, 0, 0, 0, 4]),
      (951_868_799, [2000, 2, 29, 23, 59, 59, 2]), (1_767_571_199, [2026, 1, 4, 23, 59, 59, 7]),
    ] as [(Int64, [Int64])])
  func calendarAndClock(_ seconds: Int64, _ fields: [Int64]) {
    let it = Timestamp.Fields(seconds: seconds)
    #expect([it.year, it.month, it.day, it.hour, it.minute, it.second, it.weekday] == fields)
  }
}
