// SPDX-License-Identifier: Apache-2.0
/// Joins the fragments of one link into L2CAP frames (Vol 3 Part A §7.2.2). Holds at most one frame (65,539 bytes).
/// After an invalid fragment, resynchronizes at the next start fragment.
package struct Recombination: Sendable {
  private var buffer: [UInt8] = []
  /// Whether `buffer` waits for more fragments. If false, `add` drops continuing fragments until the next start fragment.
  private var isInFrame = false

  /// The number of fragments and incomplete frames that `add` has dropped. Causes are a start fragment inside a frame,
  /// a continuing fragment without a start fragment, and more bytes than the frame's length.
  package private(set) var dropped = 0

  package init() {}

  /// Adds the next fragment of the link, and returns the frame if it is complete.
  /// - Parameter isStart: whether the fragment starts a frame. If false, the fragment continues a frame.
  /// - Returns: the frame that the fragment completes. Nil if the frame needs more fragments, or the fragment is invalid.
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
