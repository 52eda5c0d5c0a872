import BluetoothLEFirmware
import TestSupport

@Suite(.timeLimit(.minutes(15))) struct ImageVersionTests {
  @Test(arguments: [
    ("1", ImageVersion(major: 1, minor: 0, revision: 0)), ("1.2", ImageVersion(major: 1, minor: 2, revision: 0)),
    ("1.2.3", ImageVersion(major: 1, minor: 2, revision: 3)), ("1.2.3+4", ImageVersion(major: 1, minor: 2, revision: 3, build: 4)),
    ("1.2.3.4", ImageVersion(major: 1, minor: 2, revision: 3, build: 4)), ("1.2.3+0", ImageVersion(major: 1, minor: 2, revision: 3)),
    ("255.255.65535+4294967295", ImageVersion(major: 255, minor: 255, revision: 65535, build: .max)),
  ]) func parsed(_ text: String, _ version: ImageVersion) { #expect(ImageVersion(text) == version) }

  @Test(arguments: [
    "", "a", "1.", ".1", "1..2", "256", "1.256", "1.2.65536", "1.2.3.4294967296", "1.2.3.4.5", "1.2+5", "1+2", "1+2.3.4", "1.2+3.4",
    "1.2.3-rc1",
    "-1", "+1", "1.2.3+", "1.2.3+0x10", " 1", "1.2.3+4+5", "v1",
  ]) func refused(_ text: String) { #expect(ImageVersion(text) == nil) }

  @Test func order() throws {
    let versions = try ["0.9.9+9", "1.0.0", "1.0.0+1", "1.0.1", "1.1.0", "2.0.0"].map { try #require(ImageVersion($0)) }
    #expect(versions.sorted() == versions)
    #expect(Set(versions).count == versions.count)
    #expect(versions.map(\.description) == ["0.9.9+9", "1.0.0", "1.0.0+1", "1.0.1", "1.1.0", "2.0.0"])
  }
}
