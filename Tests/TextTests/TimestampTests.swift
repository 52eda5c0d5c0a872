import Testing
import Text

@Suite struct TimestampTests {
  @Test(arguments: [
    (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"), (951_782_400_000_000_000, "2000-02-29T00:00:00.000Z"),
    (1_767_225_600_123_999_999, "2026-01-01T00:00:00.123Z"), (4_107_542_399_999_000_000, "2100-02-28T23:59:59.999Z"),
    (4_107_542_400_000_000_000, "2100-03-01T00:00:00.000Z"),
  ])
  func isRFC3339(_ nanoseconds: Int64, _ text: String) { #expect(Timestamp.text(nanoseconds) == text) }
}
