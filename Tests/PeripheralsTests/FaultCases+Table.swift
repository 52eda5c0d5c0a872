import TestSupport

/// A fault of a device, and what a correct client does about it.
struct FaultCase: Sendable, CustomTestStringConvertible {
  enum Step: Sendable {
    case read(String)
    /// A Read By Type Request.
    case readUUID(String)
    case readMultiple(String, String)
    case readDescription
    case write(String)
    /// A Write Command, and a request that proves its arrival.
    case command(String)
    case long(String)
    case subscribe(String)
    case exchange
    case discover
  }

  let lines: String
  let step: Step
  /// The result of the client: a value, `ok`, `att CODE`, `mtu N`, `protocol`, `timeout` or `lost`.
  let outcome: String
  /// The result of a read of ff02 afterwards on the same link: its value 0c, `timeout`, `protocol` or `lost`.
  let next: String
  /// The value of ff01 on the device afterwards.
  let value: String
  /// The faults that the device reported.
  let faults: [String]
  /// The time that the client needs for the step, in whole seconds.
  let seconds: Int

  init(
    _ lines: String, _ step: Step, _ outcome: String, next: String = "0c", value: String = "0a0b", _ faults: String...,
    after seconds: Int = 0
  ) {
    (self.lines, self.step, self.outcome, self.next, self.value) = (lines, step, outcome, next, value)
    (self.faults, self.seconds) = (faults, seconds)
  }

  var testDescription: String { "\(lines), \(step)" }

  /// A read of the long value, which needs two requests at MTU 23.
  private static let whole = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d"

  static let all = errors + delays + silences + truncations + raws + mtus + disconnections

  /// An Error Response ends only its request.
  private static let errors = [
    Self("fault ff01 error 0x0e", .read("ff01"), "att 0e", "error 0x0e"),
    Self("fault ff01 error 0x80", .read("ff01"), "att 80", "error 0x80"),
    Self("fault ff01 error 0xff", .write("01"), "att ff", "error 0xff"),
    // The client must not pair by itself.
    Self("fault ff01 error 0x05", .read("ff01"), "att 05", "error 0x05"),
    Self("fault ff01 error 0x0f", .write("01"), "att 0f", "error 0x0f"),
    Self("fault ff01 error 0x12", .read("ff01"), "att 12", "error 0x12"),
    Self("fault ff01 error 0x0e 1 time", .read("ff01"), "att 0e", "error 0x0e"),
    Self("fault ff02 error 0x0e 1 time", .read("ff01"), "0a0b", next: "att 0e", "error 0x0e"),
    Self("fault ff03 error 0x0e", .read("ff03"), "att 0e", "error 0x0e"),
    Self("fault ff01 error 0x0e", .readUUID("ff01"), "att 0e", "error 0x0e"),
    Self("fault ff02 error 0x0e 1 time", .readMultiple("ff01", "ff02"), "att 0e", "error 0x0e"),
    // A refused command has no answer.
    Self("fault ff01 error 0x0e", .command("01"), "ok", "error 0x0e"),
    // The client cancels the prepared write.
    Self("fault ff01 error 0x0e", .long("0102"), "att 0e", "error 0x0e"),
    Self("fault ff01@2902 error 0x0e", .subscribe("ff01"), "att 0e", "error 0x0e"),
    Self("fault ff01@2901 error 0x0e", .readDescription, "att 0e", "error 0x0e"),
    Self("fault ff01 error 0x0e", .discover, "ok"),
  ]

  /// A late answer is an answer within the time limit of a transaction, 30 s. After it, the bearer is closed.
  private static let delays = [
    Self("fault ff01 delay 500ms", .read("ff01"), "0a0b", "delay 500ms"),
    Self("fault ff01 delay 29s", .read("ff01"), "0a0b", "delay 29000ms", after: 29),
    Self("fault ff01 delay 31s", .read("ff01"), "timeout", next: "timeout", "delay 31000ms", after: 30),
    Self("fault ff01 delay 2s", .write("01"), "ok", value: "01", "delay 2000ms", after: 2),
    Self("fault ff01 delay 31s", .write("01"), "timeout", next: "timeout", value: "01", "delay 31000ms", after: 30),
    Self("fault ff01 delay 2s", .command("01"), "ok", value: "01"),
    Self("fault ff03 delay 2s", .read("ff03"), whole, "delay 2000ms", "delay 2000ms", after: 4),
    Self("fault ff01 delay 10s", .long("0102"), "ok", value: "0102", "delay 10000ms", "delay 10000ms", after: 20),
    Self("fault ff01@2902 delay 2s", .subscribe("ff01"), "ok", "delay 2000ms", after: 2),
  ]

  /// Without an answer, no other request may follow (Vol 3 Part F §3.3.3): the client closes the bearer.
  private static let silences = [
    Self("fault ff01 silent", .read("ff01"), "timeout", next: "timeout", "silent", after: 30),
    Self("fault ff01 silent", .write("01"), "timeout", next: "timeout", "silent", after: 30),
    Self("fault ff01 silent", .command("01"), "ok", "silent"),
    Self("fault ff01 silent", .long("0102"), "timeout", next: "timeout", "silent", after: 30),
    Self("fault ff03 silent 1 time", .read("ff03"), "timeout", next: "timeout", "silent", after: 30),
    Self("fault ff01@2902 silent", .subscribe("ff01"), "timeout", next: "timeout", "silent", after: 30),
    Self("fault ff01 silent", .readUUID("ff01"), "timeout", next: "timeout", "silent", after: 30),
    Self("fault ff01 drop", .read("ff01"), "timeout", next: "timeout", "drop", after: 30),
    // The client cannot know that the device has the value.
    Self("fault ff01 drop", .write("01"), "timeout", next: "timeout", value: "01", "drop", after: 30),
    Self("fault ff01 drop", .command("01"), "ok", value: "01"),
    Self("fault ff01@2902 drop", .subscribe("ff01"), "timeout", next: "timeout", "drop", after: 30),
  ]

  /// A cut answer is malformed, empty, or a shorter value.
  private static let truncations = [
    // No PDU is empty: the client ignores it and waits.
    Self("fault ff01 truncate 0", .read("ff01"), "timeout", next: "timeout", "truncate 0", after: 30),
    Self("fault ff01 truncate 0", .write("01"), "timeout", next: "timeout", value: "01", "truncate 0", after: 30),
    Self("fault ff01 truncate 1", .read("ff01"), "", "truncate 1"),
    Self("fault ff01 truncate 2", .read("ff01"), "0a", "truncate 2"),
    Self("fault ff01 truncate 3", .read("ff01"), "0a0b", "truncate 3"),
    Self("fault ff01 truncate 1", .write("01"), "ok", value: "01", "truncate 1"),
    Self("fault ff01 truncate 1", .readUUID("ff01"), "protocol", "truncate 1"),
    Self("fault ff01 truncate 4", .readUUID("ff01"), "protocol", "truncate 4"),
    // The answer ends before the MTU, so the value is complete for the client.
    Self("fault ff03 truncate 5", .read("ff03"), "00010203", "truncate 5"),
    Self("fault ff03 truncate 517", .read("ff03"), whole, "truncate 517", "truncate 517"),
    // The device echoes less than it got.
    Self("fault ff01 truncate 6 1 time", .long("0102"), "ok", value: "0102", "truncate 6"),
    Self("fault ff01 truncate 2", .long("0102"), "protocol", "truncate 2"),
  ]

  /// Another PDU in place of the answer.
  private static let raws = [
    Self("fault ff01 raw 0bff", .read("ff01"), "ff", "raw 0bff"),
    Self("fault ff01 raw ''", .read("ff01"), "timeout", next: "timeout", "raw ''", after: 30),
    // The right answer may still arrive, and would be taken for that of the next request.
    Self("fault ff01 raw 13", .read("ff01"), "protocol", next: "protocol", "raw 13"),
    Self("fault ff01 raw 0b01", .write("01"), "protocol", next: "protocol", value: "01", "raw 0b01"),
    // An Error Response for another request.
    Self("fault ff01 raw 01120c000e", .read("ff01"), "protocol", next: "protocol", "raw 01120c000e"),
    Self("fault ff01 raw 010a", .read("ff01"), "protocol", "raw 010a"),
    Self("fault ff01 raw 010a0c0000", .read("ff01"), "att 00", "raw 010a0c0000"),
    // A notification is no answer.
    Self("fault ff01 raw 1b0c000102", .read("ff01"), "timeout", next: "timeout", "raw 1b0c000102", after: 30),
    // The client confirms an indication, and waits.
    Self("fault ff01 raw 1d0c000102", .read("ff01"), "timeout", next: "timeout", "raw 1d0c000102", after: 30),
    // A confirmation without an indication.
    Self("fault ff01 raw 1e", .read("ff01"), "timeout", next: "timeout", "raw 1e", after: 30),
    // A request of the device, which the client answers, and an opcode that does not exist.
    Self("fault ff01 raw 0a0100", .read("ff01"), "timeout", next: "timeout", "raw 0a0100", after: 30),
    Self("fault ff01 raw ff", .read("ff01"), "timeout", next: "timeout", "raw ff", after: 30),
    Self("fault ff01 raw 0902000a0b", .readUUID("ff01"), "protocol", "raw 0902000a0b"),
    Self("fault ff01 raw 0900", .readUUID("ff01"), "protocol", "raw 0900"),
    // A wrong echo: a long write goes on, and a wrong answer to its end has no meaning.
    Self("fault ff01 raw 170c000000ff 1 time", .long("0102"), "ok", value: "0102", "raw 170c000000ff"),
    Self(
      "fault ff01 raw 170c000000ff", .long("0102"), "protocol", next: "protocol", value: "0102", "raw 170c000000ff", "raw 170c000000ff"),
  ]

  /// An MTU below 23 counts as 23, and one above the client's own as that.
  private static let mtus = [
    Self("fault mtu 0", .exchange, "mtu 23", "mtu 0"), Self("fault mtu 12", .exchange, "mtu 23", "mtu 12"),
    Self("fault mtu 22", .exchange, "mtu 23", "mtu 22"), Self("fault mtu 23", .exchange, "mtu 23", "mtu 23"),
    Self("fault mtu 100", .exchange, "mtu 100", "mtu 100"), Self("fault mtu 518", .exchange, "mtu 517", "mtu 518"),
    Self("fault mtu 65535", .exchange, "mtu 517", "mtu 65535"),
  ]

  /// The write takes effect, the answer is lost with the link.
  private static let disconnections = [
    Self("fault disconnect on write ff01", .write("01"), "lost", next: "lost", value: "01", "disconnect on write"),
    Self("fault disconnect on write ff01", .command("01"), "lost", next: "lost", value: "01", "disconnect on write"),
    Self("fault disconnect on write ff01", .long("0102"), "lost", next: "lost", value: "0102", "disconnect on write"),
    Self("fault disconnect on write ff01@2902", .subscribe("ff01"), "lost", next: "lost", "disconnect on write"),
    Self("fault disconnect on write ff01", .read("ff01"), "0a0b"),
    // A refused write is none.
    Self("fault disconnect on write ff01; fault ff01 error 0x0e", .write("01"), "att 0e", "error 0x0e"),
    Self("fault ff01 error 0x0e; fault off", .read("ff01"), "0a0b"),
  ]
}
