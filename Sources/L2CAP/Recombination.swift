/// Joins the fragments of one link into L2CAP frames (Vol 3 Part A §7.2.2). For any input, holds at most one frame (65,539 bytes),
/// never reads past a fragment, and resynchronizes at the next start fragment.
package struct Recombination: Sendable {
  private var buffer: [UInt8] = []
  /// Whether `buffer` waits for more fragments. Otherwise, `add` drops continuations until the next start.
  private var isInFrame = false

  /// The number of dropped fragments and frames. Causes: a start inside a frame, a continuation without a start, or more bytes than
  /// the frame's length.
  package private(set) var dropped = 0

  package init() {}

  /// Adds a fragment.
  /// - Parameter isStart: whether the fragment starts a frame. Otherwise, it continues one.
  /// - Returns: the frame that the fragment completes.
  package mutating func add(_ fragment: [UInt8], isStart: Bool) -> L2CAPFrame? {
    if isStart {
      if isInFrame { drop() }
      isInFrame = true
      buffer = fragment
    } else {
      guard isInFrame else {
        drop()
        return nil
      }
      buffer += fragment
    }
    // The header itself may be incomplete.
    guard buffer.count >= L2CAPFrame.headerLength else { return nil }
    let end = L2CAPFrame.headerLength + (Int(buffer[0]) | Int(buffer[1]) << 8)
    guard buffer.count <= end else {
      drop()
      return nil
    }
    guard buffer.count == end else { return nil }
    let channel = ChannelIdentifier(rawValue: UInt16(buffer[2]) | UInt16(buffer[3]) << 8)
    let frame = L2CAPFrame(channel: channel, payload: Array(buffer[L2CAPFrame.headerLength...]))
    buffer = []
    isInFrame = false
    return frame
  }

  private mutating func drop() {
    dropped &+= 1
    buffer = []
    isInFrame = false
  }
}
