/// How many segments a device may have that it has not answered for, found while they are sent. A device that takes commands more slowly than the
/// link brings them keeps them in buffers, of which it tells nothing, and drops what they do not hold: it shall have few until it has shown that it
/// keeps up.
package struct TransferWindow: Sendable, Equatable {
  /// Nil: as many as the link carries.
  package private(set) var limit: Int?
  /// At so many the device fell behind; nil: it has not.
  package private(set) var ceiling: Int?
  private var answersInTime = 0

  /// What common firmware has room for.
  static let first = 4
  static let least = 2
  /// A device that keeps up with so many keeps up with the link.
  private static let most = 64

  /// - Parameter ceiling: what was found with this device before.
  package init(ceiling: Int? = nil) {
    self.ceiling = ceiling
    limit = ceiling.map { max(Self.least, $0 / 2) } ?? Self.first
  }

  /// To begin with the next time, when something was lost at what is allowed now.
  package var ceilingAfterLoss: Int { max(Self.least, min(limit ?? Self.most, ceiling ?? Self.most)) }

  /// The device has answered for what it had.
  /// - Parameter isInTime: as soon as the link could bring the answer.
  mutating func answered(isInTime: Bool) {
    guard let now = limit else { return }
    guard isInTime else {
      ceiling = now
      limit = max(Self.least, now / 2)
      answersInTime = 0
      return
    }
    answersInTime += 1
    if let ceiling {
      // An answer may be late because the link was: what looks like a slow device is tried again, in small steps.
      if answersInTime >= 64 { self.ceiling = nil }
      if answersInTime % 8 == 0, now + 1 < ceiling { limit = now + 1 }
    } else if now >= Self.most {
      limit = nil
    } else {
      limit = now < 8 ? now + now / 2 : 2 * now
    }
  }
}
