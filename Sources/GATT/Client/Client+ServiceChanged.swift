import ATT
import Bluetooth

/// The peer's services may change while the link is up (Vol 3 Part G §7.1, §2.5.2).
extension Client {
  /// The peer's Service Changed characteristic; known even while its own service is discovered anew.
  var serviceChanged: Characteristic? { table?.characteristics.first { $0.uuid == .serviceChanged } ?? lastServiceChanged }

  /// Asks for indications of Service Changed, if the peer has that characteristic, so that a long session hears when its table is out of date.
  /// A peer that refuses changes nothing.
  func subscribeToServiceChanged() async throws {
    guard let item = serviceChanged else { return }
    if item == lastServiceChanged {
      // It is where it was, though its service has changed. Not written again: a peer that answers that with an indication would have no end.
      if serviceChangedSubscription?.isGone == true { serviceChangedSubscription = assumeSubscribed(item, .indication) }
      return
    }
    lastServiceChanged = item
    serviceChangedSubscription = nil
    do { serviceChangedSubscription = try await subscribe(item, kind: .indication, keepingValues: false) } catch GATTError.errorResponse
      where closed == nil
    {}
  }

  /// Drops what lies in the affected range: `discover` asks for that range again, and for nothing else.
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

  /// A service that the range touches is asked for whole.
  func forget(_ range: HandleRange) {
    databaseHash = .notRead
    guard var known = table else {
      stale.append(range)
      descriptorValues = [:]
      return forgetSubscriptions(in: range)
    }
    var range = range
    var before = range
    // Again where services overlap: one that was passed may be touched by one after it.
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
