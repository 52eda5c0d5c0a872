import ATT
import Bluetooth

/// Changes of the peer's services during a connection (Vol 3 Part G §7.1, §2.5.2).
extension Client {
  /// The peer's Service Changed characteristic. Remains known while the client discovers its service again.
  var serviceChanged: Characteristic? { table?.characteristics.first { $0.uuid == .serviceChanged } ?? lastServiceChanged }

  /// Subscribes to Service Changed indications, if the peer has the characteristic, so that long sessions notice changes.
  /// Ignores a refusal by the peer.
  func subscribeToServiceChanged() async throws {
    guard let item = serviceChanged else { return }
    if item == lastServiceChanged {
      // The characteristic did not move. Do not write again: a peer that indicates after each write would cause an endless loop.
      if serviceChangedSubscription?.isGone == true { serviceChangedSubscription = assumeSubscribed(item, .indication) }
      return
    }
    lastServiceChanged = item
    serviceChangedSubscription = nil
    do { serviceChangedSubscription = try await subscribe(item, kind: .indication, keepingValues: false) } catch GATTError.errorResponse
      where closed == nil
    {}
  }

  /// Drops the range of a Service Changed indication from the table, so that `discover` asks only for that range again.
  func servicesChanged(_ value: [UInt8]) {
    var reader = ByteReader(value)
    var range = HandleRange.all
    if value.count == 4, let start = try? reader.uint16("Start of Affected Attribute Handle Range"),
      let end = try? reader.uint16("End of Affected Attribute Handle Range")
    {
      let affected = HandleRange(AttributeHandle(rawValue: start), AttributeHandle(rawValue: end))
      if affected.isValid { range = affected }
    }
    forget(range)
    onNote?(.servicesChanged(range))
  }

  /// Drops a handle range from the table, extended to whole services.
  func forget(_ range: HandleRange) {
    databaseHash = .notRead
    guard var known = table else {
      stale.append(range)
      descriptorValues = [:]
      return forgetSubscriptions(in: range)
    }
    var range = range
    var before = range
    // Repeat for overlapping services: a later one may extend the range into an earlier one.
    repeat {
      before = range
      for service in known.services where service.handle <= range.end && range.start <= service.endHandle {
        range.start = min(range.start, service.handle)
        range.end = max(range.end, service.endHandle)
      }
    } while range != before
    known.services.removeAll { range.contains($0.handle) }
    descriptorValues = descriptorValues.filter { !range.contains($0.key) }
    stale.append(range)
    table = known.services.isEmpty ? nil : known
    if table == nil { stale = [] }
    forgetSubscriptions(in: range)
  }
}
