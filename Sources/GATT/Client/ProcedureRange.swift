import ATT

/// The handle range of a discovery procedure. Chooses the next request and reports irregular positions of entries.
/// Every request starts after the previous one, so no peer can cause an endless loop. Uses Int, so nothing wraps at 0xFFFF.
struct ProcedureRange {
  /// The first handle of the next request. 0x10000 if an answer did not advance.
  private(set) var next: Int
  private let end: Int
  /// The previous entry of the current answer.
  private var previous: AttributeHandle?
  private var last = 0
  private var greatest = 0

  init(_ range: HandleRange) {
    next = max(1, range.start.number)
    end = range.end.number
  }

  /// The range of the next request. Nil at the end of the procedure.
  var range: HandleRange? { next <= end ? asked : nil }
  private var asked: HandleRange { HandleRange(AttributeHandle(clamping: next), AttributeHandle(clamping: end)) }

  /// Checks the position of an entry in the answer.
  /// - Parameter through: the last handle of the entry, possibly beyond the end of the range (a group that extends further).
  /// - Returns: the fault of the position. Nil if the position is regular.
  mutating func take(_ handle: AttributeHandle, through: AttributeHandle? = nil) -> IrregularEntry.Fault? {
    guard handle.isValid else { return .noHandle }
    let before = previous
    previous = handle
    last = max(handle, through ?? handle).number
    greatest = max(greatest, last)
    if handle.number < next || handle.number > end { return .outside(asked) }
    return before.flatMap { handle <= $0 ? .outOfOrder(after: $0) : nil }
  }

  /// Ends an answer. Continues after its last entry if that advanced, else after the greatest handle.
  /// - Returns: a fault if all entries precede the requested range, which ends the procedure.
  mutating func advance() -> IrregularEntry.Fault? {
    let reached = last >= next ? last : greatest
    let fault = reached >= next ? nil : IrregularEntry.Fault.notAdvancing(asked)
    next = fault == nil ? reached + 1 : 0x10000
    (previous, last, greatest) = (nil, 0, 0)
    return fault
  }
}
