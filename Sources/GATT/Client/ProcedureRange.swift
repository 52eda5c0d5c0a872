import ATT

/// The range of handles of one discovery procedure: which to ask for next, and what is irregular about the entries of an answer.
/// Every request begins behind the one before it, so that no peer can make it loop; computed in Int, so that nothing wraps at 0xFFFF.
struct ProcedureRange {
  /// Where the next request begins; 0x10000 when an answer did not advance.
  private(set) var next: Int
  private let end: Int
  /// Of the answer that is being taken.
  private var previous: AttributeHandle?
  private var last = 0
  private var greatest = 0

  init(_ range: HandleRange) {
    next = max(1, range.start.number)
    end = range.end.number
  }

  /// The next request's range; nil when everything was asked for.
  var range: HandleRange? { next <= end ? asked : nil }
  private var asked: HandleRange { HandleRange(AttributeHandle(clamping: next), AttributeHandle(clamping: end)) }

  /// - Parameter through: the last handle that the entry covers; may lie beyond the end of the range (a group that reaches further).
  /// - Returns: what is irregular about the entry's place in the answer.
  mutating func take(_ handle: AttributeHandle, through: AttributeHandle? = nil) -> IrregularEntry.Fault? {
    guard handle.isValid else { return .noHandle }
    let before = previous
    previous = handle
    last = max(handle, through ?? handle).number
    greatest = max(greatest, last)
    if handle.number < next || handle.number > end { return .outside(asked) }
    return before.flatMap { handle <= $0 ? .outOfOrder(after: $0) : nil }
  }

  /// Ends an answer: goes on behind its last entry, where the peer was; else behind the one that reaches furthest.
  /// - Returns: a fault when all lie before what was asked for: there is nothing to go on behind.
  mutating func advance() -> IrregularEntry.Fault? {
    let reached = last >= next ? last : greatest
    let fault = reached >= next ? nil : IrregularEntry.Fault.notAdvancing(asked)
    next = fault == nil ? reached + 1 : 0x10000
    (previous, last, greatest) = (nil, 0, 0)
    return fault
  }
}
