import Bluetooth
import EventLoop
package import GAP
import GATT

extension Central {
  /// Scans until `report` returns true, and for `limit` at most; the scan is off when this returns or throws.
  /// - Parameter limit: counts from when the controller listens, not from when it was asked; nil for no limit.
  /// - Throws: what `report` throws, what scanning throws, CancellationError.
  package func listen(
    _ parameters: ScanParameters, for limit: Duration?, report: @escaping @LoopActor (AdvertisingReport) throws -> Bool
  ) async throws {
    let ended = Wait<Void>()
    let scanning = EventLoop.shared.spawn {
      do {
        try await self.scan(parameters) {
          if let limit { EventLoop.shared.schedule(after: limit) { ended.resume(returning: ()) } }
        } report: { heard in
          do { if try report(heard) { ended.resume(returning: ()) } } catch { ended.resume(throwing: error) }
        }
      } catch { ended.resume(throwing: error) }
    }
    let outcome: Result<Void, any Error>
    do { outcome = .success(try await ended.value()) } catch { outcome = .failure(error) }
    scanning.cancel()
    await scanning.value
    try outcome.get()
  }
}
