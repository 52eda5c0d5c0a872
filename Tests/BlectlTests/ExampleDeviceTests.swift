import Foundation
import TestSupport

/// Runs the devices of man/examples through the program, one command after the other.
@Suite(.timeLimit(.minutes(15))) struct ExampleDeviceTests {
  private static func run(_ file: String, _ arguments: String...) throws -> ProcessResult {
    let path = ManualTests.root.appendingPathComponent("man/examples/\(file).json").path
    return try Blectl.run(arguments, adapter: "sim:\(path)")
  }

  private static func values(_ result: ProcessResult, _ uuid: String? = nil) throws -> [String] {
    try result.records.filter { ["notification", "value"].contains($0.string("event")) && (uuid == nil || $0.string("uuid") == uuid) }
      .compactMap { $0.string("value") }
  }

  // MARK: The lock

  private static let lock = "mac:D1:00:00:00:0C:01"

  private func challenge() throws -> String {
    let result = try Self.run("challenge-lock", "write", Self.lock, "ffb1", "01", "--expect", "ffb2=01", "--json")
    let value = try #require(try Self.values(result).first, "\(result.errors)")
    #expect(value.count == 34)
    return String(value.dropFirst(2))
  }

  /// Each command restarts the simulator and its random numbers, so the challenge is the same.
  @Test(arguments: [(MessageAuthentication.aesCMAC, "02"), (.hmacSHA256, "03")] as [(MessageAuthentication, String)])
  func theLockOpensAndLocksByItself(_ algorithm: MessageAuthentication, _ command: String) throws {
    let message = try #require(Hex.decode(try challenge() + command))
    let key = try #require(Hex.decode("2b7e151628aed2a6abf7158809cf4f3c"))
    let code = Hex.encode(try #require(algorithm.code(of: message, key: key)))
    let result = try Self.run(
      "challenge-lock", "notify", Self.lock, "ffb2", "ffb3", "--write", "ffb1=01", "--write", "ffb1=\(command)\(code)", "--count", "5",
      "--json")
    #expect(result.status == 0, "\(result.errors)")
    #expect(try Self.values(result, "ffb2").dropFirst() == ["0200", "0400"] && Self.values(result, "ffb3") == ["01", "00"])
  }

  @Test func threeWrongCodesLockOut() throws {
    let wrong = "ffb1=02" + String(repeating: "00", count: 16)
    let result = try Self.run(
      "challenge-lock", "notify", Self.lock, "ffb2", "ffb3", "--write", "ffb1=01", "--write", wrong, "--write", "ffb1=01", "--write", wrong,
      "--write", "ffb1=01", "--write", wrong, "--count", "8", "--json")
    #expect(result.status == 0, "\(result.errors)")
    #expect(try Self.values(result, "ffb2").filter { $0.hasPrefix("02") } == ["020102", "020101", "02021e"])
    #expect(try Self.values(result, "ffb3") == ["02", "00"])
  }

  @Test func errorsAreTheDevicesOwn() throws {
    let unasked = try Self.run("challenge-lock", "write", Self.lock, "ffb1", "02" + String(repeating: "00", count: 16), "--json")
    #expect(unasked.status == 5 && unasked.error?.int("code") == 0x81 && unasked.error?.string("name") == "application_error")
    let unknown = try Self.run("challenge-lock", "write", Self.lock, "ffb1", "07", "--json")
    #expect(unknown.status == 5 && unknown.error?.int("code") == 0x82)
    #expect(try Self.run("challenge-lock", "read", Self.lock, "ffb3").text == "00\n")
  }

  // MARK: The wristband

  private func ask(_ command: String, _ answer: String, _ more: String...) throws -> [String] {
    let path = ManualTests.root.appendingPathComponent("man/examples/wristband.json").path
    let result = try Blectl.run(
      ["write", "name:Band-C", "ff02", command, "--expect", "ff01=\(answer)", "--json"] + more, adapter: "sim:\(path)")
    #expect(result.status == 0, "\(result.errors)")
    return try Self.values(result)
  }

  @Test func theBandAnswersWithChecksums() throws {
    #expect(try ask("1b9901", "567b") == ["567b572951"])
    #expect(try ask("5d08013b", "5d08") == ["5d08815760"])
    #expect(try ask("5d08013c", "56") == ["56ffa2"])
    #expect(try ask("1b9905", "567f") == ["567f00d5"])
    #expect(try ask("00ff01", "56") == ["56ff00"])
  }

  @Test func historyComesInPackets() throws {
    let packets = try ask("1b990205", "567c", "--expect-count", "7").compactMap(Hex.decode)
    #expect(packets.count == 7 && packets.first == [0x56, 0x7C, 0, 5, 0xD7])
    for packet in packets { #expect(Checksum.sum8.value(of: packet.dropLast()) == packet.last.map(UInt32.init)) }
    let days = packets.dropFirst().dropLast()
    #expect(days.map { $0[3] } == [1, 2, 3, 4, 5])
    let crc = try #require(Checksum("crc-16/modbus"))
    #expect(packets.last.map { Array($0[3...4]) } == crc.bytes(of: days.flatMap { $0[4...5] }, .little))
  }

  @Test func theClockRunsAndCanBeSet() throws {
    // In virtual time, the program starts with the year 2026.
    let now = try #require(Hex.decode(try ask("1b9904", "567e")[0]))
    #expect(now.starts(with: [0x56, 0x7E]) && now[3...5].elementsEqual([0xB9, 0x55, 0x69]))
    let path = ManualTests.root.appendingPathComponent("man/examples/wristband.json").path
    let set = try Blectl.run(
      ["notify", "name:Band-C", "ff01", "2a37", "--write", "ff02=1b990300000070", "--count", "5", "--json"], adapter: "sim:\(path)")
    #expect(try Self.values(set).contains("567d00d3"), "\(set.errors)")
    #expect(try Self.run("wristband", "read", "name:Band-C", "2a2b").text.contains("date time 2026-01-01T00:00:0"))
  }

  @Test func oneCommandAtATime() throws {
    let result = try Self.run(
      "wristband", "notify", "name:Band-C", "ff01", "--write", "ff02=1b9905", "--write", "ff02=1b9901", "--count", "1", "--json")
    #expect(result.status == 5 && result.error?.int("code") == 0xFE, "\(result.text) \(result.errors)")
  }

  @Test func theHeartBeatsAndThePhoneIsLookedFor() throws {
    let result = try Self.run("wristband", "notify", "name:Band-C", "2a37", "ff01", "2a19", "--duration", "70", "--json")
    let beats = try Self.values(result, "2a37").compactMap { Int($0.suffix(2), radix: 16) }
    #expect((65...70).contains(beats.count) && beats.allSatisfy { (62...84).contains($0) } && Set(beats).count > 10)
    let own = try Self.values(result, "ff01")
    #expect(own.filter { $0.hasPrefix("56f0") }.count >= 9 && own.filter { $0.hasPrefix("56f1") } == ["56f1569d"])
    #expect(try Self.values(result, "2a19") == ["56"])
  }

  @Test func whatIsAdvertisedChanges() throws {
    let result = try Self.run("wristband", "scan", "--duration", "125", "--json")
    let levels = try result.records.compactMap { $0["manufacturer_data"]?.string("0157")?.dropFirst(2).prefix(2) }
    #expect(Set(levels) == ["57", "56", "55"] && levels == levels.sorted(by: >))
  }

  @Test(
    arguments: [("1b99f0", 6, "0x13"), ("1b99f1", 6, "0x08"), ("1b99f2", 4, "No answer"), ("1b99f3", 0, "")] as [(String, Int32, String)])
  func faults(_ command: String, _ status: Int32, _ words: String) throws {
    let result = try Self.run("wristband", "write", "name:Band-C", "ff02", command, "--expect", "ff01=56f0")
    #expect(result.status == status && (words.isEmpty || result.errors.contains(words)), "\(result.errors)")
  }

  /// Without libcrypto, the error names the file and the place in it.
  @Test func withoutTheLibrary() throws {
    let path = ManualTests.root.appendingPathComponent("man/examples/challenge-lock.json").path
    let folder = URL(fileURLWithPath: TemporaryFolder.path())
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    try Data().write(to: folder.appendingPathComponent("libcrypto.so.3"))
    let environment = ["LD_LIBRARY_PATH": folder.path]
    // AES-CMAC, which the file uses first, needs only AES, which is linked.
    let result = try Blectl.run(["scan"], environment: environment, adapter: "sim:\(path)")
    #expect(
      result.status == 66 && result.errors.contains("\"hmac_sha256\" needs libcrypto.so.3 (OpenSSL 3), which is not installed."),
      "\(result.errors)")
    #expect(result.errors.contains("services[0].characteristics[0].reactions["))
    let pairing = try Blectl.run(["pair", "SafeLock", "--passkey", "246810"], environment: environment)
    #expect(pairing.status == 1 && pairing.errors.contains("libcrypto.so.3 is missing. Install OpenSSL 3"), "\(pairing.errors)")
  }
}
