import ATT
import Bluetooth
import Text

/// The range of handles of one discovery procedure: which to ask for next, and whether an answer makes sense.
/// Every answer must advance, so that no peer can make it loop; computed in Int, so that nothing wraps at 0xFFFF.
struct ProcedureRange {
  private var next: Int
  private let end: Int
  private(set) var requests = 0

  init(_ range: HandleRange) {
    next = max(1, range.start.number)
    end = range.end.number
  }

  /// The next request's range; nil when everything was asked for.
  mutating func nextRange() -> HandleRange? {
    guard next <= end else { return nil }
    requests += 1
    return HandleRange(AttributeHandle(clamping: next), AttributeHandle(clamping: end))
  }

  /// - Parameters:
  ///   - first: an attribute in the answer.
  ///   - last: the last handle that it covers; may lie beyond the end of the range (a group that reaches further).
  mutating func take(_ first: AttributeHandle, through last: AttributeHandle) throws(MalformedPacket) {
    let found = "handle \(first)"
    if first.number < next {
      throw MalformedPacket("\(found) does not follow what was found before, or was not asked for (from \(next) on)", at: 2)
    }
    if first.number > end { throw MalformedPacket("\(found) lies beyond the range asked for", at: 2) }
    if last < first { throw MalformedPacket("\(found): its group ends before it, at \(last)", at: 4) }
    next = last.number + 1
  }
}
