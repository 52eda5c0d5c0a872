import Glibc
import SystemPackage
import TestSupport

@testable import BluetoothLE
@testable import BluetoothLELinux

private let isThere = unsafe dlopen("libdbus-1.so.3", RTLD_NOW) != nil

/// A message bus with one client, in the D-Bus protocol. The test sends its messages.
@LoopActor private final class MadeUpBus {
  let path = TemporaryPath()
  private let listener: OwnedDescriptor
  private var connection: OwnedDescriptor?
  /// The number of `connection`. -1 before a client connects.
  private var number: Int32 = -1
  private var received: [UInt8] = []

  init() throws {
    listener = try SystemCall.socket(AF_UNIX, SOCK_STREAM)
    try SystemCall.bind(listener.rawValue, try #require(SocketAddress.unix(path.path)))
    try SystemCall.listen(listener.rawValue)
  }

  /// Accepts the client, and authenticates it.
  func accept() async throws {
    _ = try await EventLoop.shared.wait(for: listener.rawValue, .readable)
    let accepted = try SystemCall.accept(listener.rawValue)
    number = accepted.rawValue
    connection = consume accepted
    while true {
      while let end = received.firstIndex(of: 13), received.count > end + 1 {
        let line = String(decoding: received[..<end], as: UTF8.self)
        received.removeFirst(end + 2)
        if line.hasSuffix("BEGIN") { return }
        try await write(Array("\(line.contains("AUTH") ? "OK 0123456789abcdef0123456789abcdef" : "ERROR")\r\n".utf8))
      }
      try await receive()
    }
  }

  private func receive() async throws {
    _ = try await EventLoop.shared.wait(for: number, .readable)
    var buffer = [UInt8](repeating: 0, count: 4096)
    received += buffer[..<(try SystemCall.read(number, into: &buffer))]
  }

  private func write(_ bytes: [UInt8]) async throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      _ = try await EventLoop.shared.wait(for: number, .writable)
      rest = rest.dropFirst(try SystemCall.write(number, rest))
    }
  }

  /// Waits for the next call. - Returns: Its serial.
  func call() async throws -> UInt32 {
    func length() -> Int? {
      guard received.count >= 16 else { return nil }
      let (body, fields) = (Int(received.uint32(at: 4)), Int(received.uint32(at: 12)))
      return 16 + (fields + 7) / 8 * 8 + body
    }
    while length().map({ received.count < $0 }) ?? true { try await receive() }
    defer { received.removeFirst(length() ?? 0) }
    return received.uint32(at: 8)
  }

  /// Sends a message: an answer to a serial, or a signal without one.
  func send(from sender: String, answering serial: UInt32?, error: String? = nil, _ signature: String, _ body: [UInt8]) async throws {
    var fields: [UInt8] = []
    func add(_ code: UInt8, _ type: Character, _ value: [UInt8]) {
      fields += [UInt8](repeating: 0, count: (8 - fields.count % 8) % 8) + [code, 1, type.asciiValue ?? 0, 0] + value
    }
    func text(_ text: String) -> [UInt8] { UInt32(text.utf8.count).bytes + text.utf8 + [0] }
    if serial == nil {
      add(1, "o", text("/o"))
      add(2, "s", text("org.bluez.I"))
      add(3, "s", text("Signal"))
    }
    if let error { add(4, "s", text(error)) }
    if let serial { add(5, "u", serial.bytes) }
    add(7, "s", text(sender))
    if !signature.isEmpty { add(8, "g", [UInt8(signature.utf8.count)] + signature.utf8 + [0]) }
    let type: UInt8 = serial == nil ? 4 : error == nil ? 2 : 3
    let head = [UInt8(ascii: "l"), type, 0, 1] + UInt32(body.count).bytes + UInt32(7).bytes + UInt32(fields.count).bytes
    try await write(head + fields + [UInt8](repeating: 0, count: (8 - fields.count % 8) % 8) + body)
  }

  /// The body of a message with an array of numbers.
  static func numbers(_ count: Int) -> [UInt8] { UInt32(4 * count).bytes + [UInt8](repeating: 1, count: 4 * count) }
}

extension UInt32 {
  fileprivate var bytes: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: self >> (8 * $0)) } }
}

extension [UInt8] {
  fileprivate func uint32(at offset: Int) -> UInt32 { (0..<4).reduce(0) { $0 | UInt32(self[offset + $1]) << (8 * $1) } }
}

/// Messages of strangers on the bus, who can send anything at any time.
@Suite(.timeLimit(.minutes(15)), .enabled(if: isThere, "libdbus-1 is missing")) struct SystemBusTests {
  private func spawn<T: Sendable>(_ body: @escaping @LoopActor @Sendable () async throws -> T) -> Task<T, any Error> {
    Task(executorPreference: EventLoop.shared) { try await body() }
  }

  /// Runs `body` with a connected bus whose partner is `:1.5`.
  private func with(_ body: @escaping @LoopActor (MadeUpBus, SystemBus) async throws -> Void) async throws {
    try await onLoop {
      let theirs = try MadeUpBus()
      let bus = try SystemBus(theirs.path.path)
      defer { bus.close() }
      // libdbus authenticates with the first call.
      let hello = spawn { try await bus.call("org.freedesktop.DBus.Hello", at: "/org/freedesktop/DBus", []) }
      try await theirs.accept()
      try await theirs.send(
        from: "org.freedesktop.DBus", answering: try await theirs.call(), "s", UInt32(4).bytes + Array(":1.9".utf8) + [0])
      #expect(try await hello.value == [.text(":1.9")])
      bus.partner = ":1.5"
      try await body(theirs, bus)
    }
  }

  /// Neither a large signal of a stranger nor a wrong answer is taken. The answer of the partner is.
  @Test func strangers() async throws {
    try await with { theirs, bus in
      var members: [Int] = []
      bus.onMessage = { members.append($0.values.count) }
      let call = spawn { try await bus.call("org.bluez.Device1.Pair", at: "/o", []) }
      let serial = try await theirs.call()
      try await theirs.send(from: ":1.66", answering: nil, "au", MadeUpBus.numbers(300_000))
      try await theirs.send(from: ":1.66", answering: serial, "u", UInt32(1).bytes)
      try await theirs.send(from: ":1.5", answering: nil, "uu", UInt32(1).bytes + UInt32(2).bytes)
      try await theirs.send(from: ":1.5", answering: serial, "u", UInt32(2).bytes)
      #expect(try await call.value == [.number(2)])
      #expect(members == [2])
    }
  }

  /// The bus answers for a program that is gone.
  @Test func aPartnerThatIsGone() async throws {
    try await with { theirs, bus in
      let call = spawn { try await bus.call("org.bluez.Device1.Pair", at: "/o", []) }
      let name = "org.freedesktop.DBus.Error.ServiceUnknown"
      try await theirs.send(from: "org.freedesktop.DBus", answering: try await theirs.call(), error: name, "", [])
      await #expect(throws: BluetoothDaemonProblem.refused("org.bluez.Device1.Pair", name: name, text: "")) { try await call.value }
      bus.partner = "bluetoothd"
      await #expect(throws: BluetoothDaemonProblem.silent) { _ = try await bus.call("org.bluez.Device1.Pair", at: "/o", []) }
    }
  }

  /// An answer with too many values is an error, and the next one arrives.
  @Test func tooManyValues() async throws {
    try await with { theirs, bus in
      for (count, isTaken) in [(1 << 18 - 1, true), (1 << 18, false)] {
        let call = spawn { try await bus.call("org.bluez.Device1.Pair", at: "/o", []) }
        try await theirs.send(from: ":1.5", answering: try await theirs.call(), "au", MadeUpBus.numbers(count))
        do {
          guard case .list(let values)? = try await call.value.first else { throw BluetoothDaemonProblem.silent }
          #expect(isTaken && values.count == count)
        } catch BluetoothDaemonProblem.refused(_, let name, let text) {
          #expect(!isTaken && name.hasSuffix("LimitsExceeded") && text == "The answer has more than 262144 values")
        }
      }
    }
  }
}
