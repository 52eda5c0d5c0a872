import TestSupport

/// Numbers are read as strtol(3) does.
@Suite(.timeLimit(.minutes(15))) struct CNumberTests {
  @Test(
    arguments: [
      ("12", nil, 12, true), ("0x1F", nil, 31, true), ("010", nil, 8, true), ("08", nil, 0, false), (" +7", nil, 7, true),
      ("-0x10", nil, -16, true),
      ("", nil, 0, false), ("-", nil, 0, false), ("x", nil, 0, false), ("0x", nil, 0, false), ("0xg", 16, 0, false), ("1f", 16, 31, true),
      ("0x1f", 16, 31, true), ("12 ", nil, 12, false), ("5x", nil, 5, false), ("9223372036854775807", nil, 9_223_372_036_854_775_807, true),
      ("9223372036854775808", nil, nil, true), ("-9223372036854775808", nil, -9_223_372_036_854_775_808, true), ("0x10", 10, 0, false),
    ] as [(String, Int?, Int?, Bool)])
  func table(_ text: String, _ base: Int?, _ value: Int?, _ isWhole: Bool) {
    let number = CNumber(text, base: base)
    #expect(number.value == value && number.isWhole == isWhole, "\(text): \(number)")
  }
}
