// SPDX-License-Identifier: Apache-2.0
/// The parameters of an LE connection that a host or a peer requests.
/// LE Connection Update and both commands that create a connection carry these parameters. So do the parameter request reply
/// (Vol 4 Part E §7.8.18) and L2CAP's Connection Parameter Update Request (Vol 3 Part A §4.20).
package struct ConnectionParameters: Sendable, Hashable {
  /// The shortest connection interval, 6–3200 in units of 1.25 ms.
  package var intervalMin: ConnectionInterval
  /// The longest connection interval, 6–3200 in units of 1.25 ms.
  package var intervalMax: ConnectionInterval
  /// The number of connection events that the peripheral may skip, 0–499.
  package var latency: UInt16
  /// The supervision timeout, 10–3200 in units of 10 ms.
  package var supervisionTimeout: Centiseconds
  /// The shortest connection event for the controller's scheduler, in units of 0.625 ms.
  package var minCELength: Slots
  /// The longest connection event for the controller's scheduler, in units of 0.625 ms.
  package var maxCELength: Slots

  package init(
    intervalMin: ConnectionInterval, intervalMax: ConnectionInterval, latency: UInt16, supervisionTimeout: Centiseconds,
    minCELength: Slots = 0, maxCELength: Slots = 0
  ) {
    self.intervalMin = intervalMin
    self.intervalMax = intervalMax
    self.latency = latency
    self.supervisionTimeout = supervisionTimeout
    self.minCELength = minCELength
    self.maxCELength = maxCELength
  }

  /// Whether a controller may accept the parameters. All values must be in their ranges. The supervision timeout must exceed
  /// (1 + latency) · interval · 2 (Vol 6 Part B §4.5.2).
  package var isValid: Bool {
    (6...3200).contains(intervalMin) && (6...3200).contains(intervalMax) && intervalMin <= intervalMax && latency <= 499
      && (10...3200).contains(supervisionTimeout)
      && supervisionTimeout.nanoseconds > (1 + Int64(latency)) * 2 * intervalMax.nanoseconds
  }
}
