import BluetoothLE

/// The bytes of an input, used from the front as decisions and as data. Zeros follow the end.
struct Tape: Sendable {
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func octet() -> UInt8 { rest.popFirst() ?? 0 }

  mutating func octets(_ count: Int) -> [UInt8] {
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }

  /// Returns up to 255 bytes, which follow their count.
  mutating func piece() -> [UInt8] { octets(Int(octet())) }

  mutating func number16() -> UInt16 { UInt16(octet()) | UInt16(octet()) << 8 }
}

enum VirtualTime {
  /// Runs `body`, ignores its errors, and gives its remaining tasks time to end.
  @LoopActor static func run(_ body: @LoopActor () async throws -> Void) async {
    try? await body()
    try? await EventLoop.shared.sleep(for: .milliseconds(100))
  }
}
