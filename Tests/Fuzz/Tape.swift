import BluetoothLE

/// The bytes of an input, used from the front as decisions and as data. Zeros follow the end.
struct Tape: Sendable {
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

  mutating func bytes(_ count: Int) -> [UInt8] {
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }

  /// Returns up to 255 bytes, which follow their count.
  mutating func piece() -> [UInt8] { bytes(Int(byte())) }

  mutating func number16() -> UInt16 { UInt16(byte()) | UInt16(byte()) << 8 }
}

enum VirtualTime {
  /// Runs `body`, ignores its errors, and gives its remaining tasks time to end.
  @LoopActor static func run(_ body: @LoopActor () async throws -> Void) async {
    try? await body()
    try? await EventLoop.shared.sleep(for: .milliseconds(100))
  }
}
