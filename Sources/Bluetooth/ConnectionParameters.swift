/// The parameters of an LE connection as a host or a peer asks for them: LE Connection Update, both commands that create a connection,
/// the parameter request reply (Vol 4 Part E §7.8.18), and L2CAP's Connection Parameter Update Request (Vol 3 Part A §4.20).
package struct ConnectionParameters: Sendable, Hashable {
  /// 1.25 ms units, 6…3200.
  package var intervalMin: UInt16
  package var intervalMax: UInt16
  /// Connection events, 0…499.
  package var latency: UInt16
  /// 10 ms units, 10…3200.
  package var supervisionTimeout: UInt16
  /// Connection event length, 0.625 ms units: information for the controller's scheduler.
  package var minCELength: UInt16
  package var maxCELength: UInt16

  package init(
    intervalMin: UInt16, intervalMax: UInt16, latency: UInt16, supervisionTimeout: UInt16, minCELength: UInt16 = 0,
    maxCELength: UInt16 = 0
  ) {
    self.intervalMin = intervalMin
    self.intervalMax = intervalMax
    self.latency = latency
    self.supervisionTimeout = supervisionTimeout
    self.minCELength = minCELength
    self.maxCELength = maxCELength
  }

  /// Whether a controller may take them: the ranges above, and a supervision timeout above (1 + latency) · interval · 2
  /// (Vol 6 Part B §4.5.2).
  package var isValid: Bool {
    (6...3200).contains(intervalMin) && (6...3200).contains(intervalMax) && intervalMin <= intervalMax && latency <= 499
      && (10...3200).contains(supervisionTimeout)
      // Both sides in 1/4 ms, in Int: 40 · timeout > (1 + latency) · 5 · interval · 2.
      && 40 * Int(supervisionTimeout) > (1 + Int(latency)) * 10 * Int(intervalMax)
  }
}
