// SPDX-License-Identifier: Apache-2.0
/// The reports of a device about received bytes, and the position in the file to which its counter corresponds.
@LoopActor
final class DeviceReports {
  /// The characteristic that reports byte count and CRC-32, in notifications and, if readable, on request. Nil if the user named none.
  private let selector: Selector?
  private(set) var subscription: Subscription?
  /// The report before the first segment on this link. Nil if none arrived, and after the first segment.
  private(set) var before: ArrivalReport?
  /// The latest reports on this link that arrived while the client sends Write Commands, at most 32, oldest first.
  private(set) var latest: [ArrivalReport] = []
  private static let limit = 32
  /// A counter value of the device and the corresponding byte position in the file. Nil before the first report.
  private var counter: (value: Int, place: Int)?
  /// The handle of the report characteristic. Nil without a readable report characteristic.
  private var handle: AttributeHandle?

  init(_ selector: Selector?) { self.selector = selector }

  /// Whether the device can report its byte count while the client sends Write Commands.
  var isCounted: Bool { handle != nil && counter != nil }

  /// Whether the device's CRC-32 covers only bytes of the file.
  var coversFile: Bool { counter.map { $0.value == 0 || $0.value == $0.place } ?? false }

  /// Subscribes to reports on a new link. Returns the report before the first segment, or nil if reports are not readable.
  func open(_ client: Client) async throws -> ArrivalReport? {
    (before, latest, handle) = (nil, [], nil)
    guard let selector else { return nil }
    let characteristic = try await client.characteristic(selector)
    subscription = try await client.subscribe(characteristic)
    guard characteristic.properties.contains(.read) else { return nil }
    handle = characteristic.valueHandle
    before = try? await ArrivalReport(client.read(characteristic.valueHandle))
    return before
  }

  func forgetBefore() { before = nil }

  /// Records that the count of a report corresponds to byte `place` of the file, from 0.
  func count(_ report: ArrivalReport, as place: Int) { counter = (report.count, place) }

  /// Returns the byte position in the file to which a report corresponds. Returns nil without a known counter value.
  func place(of report: ArrivalReport) -> Int? { counter.map { $0.place + report.count - $0.value } }

  /// Returns the request for the device's byte count while the client sends Write Commands. Returns nil if the count is not readable.
  /// - Parameter beginning: The byte position in the file at which this link started. A restarted counter counts from there.
  func question(from beginning: Int) -> ArrivalQuestion? {
    guard let handle, isCounted else { return nil }
    return ArrivalQuestion(.read(handle)) { [weak self] response in
      // Other values prove nothing.
      guard case .read(let value) = response, let report = ArrivalReport(value), let self, let counter else { return 0 }
      keep(report)
      if report.count < counter.value { self.counter = (0, beginning) }
      return place(of: report)
    }
  }

  private func keep(_ report: ArrivalReport) {
    guard report != latest.last else { return }
    if latest.count == Self.limit { latest.removeFirst() }
    latest.append(report)
  }
}
