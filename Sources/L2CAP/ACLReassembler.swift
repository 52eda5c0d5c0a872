package import HCI

/// Joins the ACL fragments of one link into L2CAP frames. Whatever a controller sends, it holds at most one frame (65 539 octets), never
/// reads over a fragment's end, and finds its feet at the next start.
package struct ACLReassembler: Sendable {
  private var buffer: [UInt8] = []
  /// Whether `buffer` waits for more; false drops continuations until the next start.
  private var isInFrame = false

  /// Fragments and frames thrown away so far.
  package private(set) var dropped = 0
  /// Why, the last time.
  package private(set) var lastDrop: String?

  package init() {}

  /// Returns the frame that this fragment completes.
  package mutating func add(_ data: ACLData) -> L2CAPFrame? {
    switch data.boundary {
    case .firstNonFlushable, .firstFlushable, .complete:
      if isInFrame { drop("a new L2CAP frame starts before the last one is complete") }
      isInFrame = true
      buffer = data.payload
    case .continuing:
      guard isInFrame else {
        drop("an ACL continuation without a start")
        return nil
      }
      buffer += data.payload
    }
    // The header itself may be cut.
    guard buffer.count >= 4 else { return nil }
    let length = Int(buffer[0]) | Int(buffer[1]) << 8
    guard buffer.count <= length + 4 else {
      drop("an ACL fragment with more octets than its L2CAP frame")
      return nil
    }
    guard buffer.count == length + 4 else { return nil }
    let frame = L2CAPFrame(channel: UInt16(buffer[2]) | UInt16(buffer[3]) << 8, payload: Array(buffer[4...]))
    buffer = []
    isInFrame = false
    return frame
  }

  private mutating func drop(_ reason: String) {
    dropped &+= 1
    lastDrop = reason
    buffer = []
    isInFrame = false
  }
}
