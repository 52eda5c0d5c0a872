import BluetoothLEFirmware
import TestSupport

/// The comparison of versions that tools and devices write in several ways.
@Suite(.timeLimit(.minutes(15))) struct RunningFirmwareTests {
  @Test(arguments: [
    ("1.2.3+4", "1.2.3.4", true),
    ("1.2.3", "1.2.3.0", true),
    ("1.2", "1.2.0", true),
    ("1.2.3", "1.2.3.4", false),
    ("v1", "v1", true),
    ("v1", "1", false),
  ]) func theSameVersion(_ one: String, _ other: String, _ isSame: Bool) {
    #expect(RunningFirmware.isSame(one, other) == isSame && RunningFirmware.isSame(other, one) == isSame)
  }
}
