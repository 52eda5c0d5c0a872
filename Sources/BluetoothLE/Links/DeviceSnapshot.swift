// SPDX-License-Identifier: Apache-2.0
package import BluetoothLEText

/// A device as a client or a trace saw it: its advertisements, its attributes, and the outcome of reading each of them.
package struct DeviceSnapshot: Sendable {
  package var peer: PeerAddress
  /// The advertised name. Nil if the device advertised none.
  package private(set) var name: UntrustedText?
  /// The last advertising data. Nil if no advertisement was heard.
  package private(set) var advertisement: [UInt8]?
  /// The last scan response data. Nil if no scan response was heard.
  package private(set) var scanResponse: [UInt8]?
  package private(set) var isScannable = false
  /// Whether the advertising data or the scan response changed between two advertisements.
  package private(set) var isAdvertisementChanging = false
  /// The ATT_MTU that the device accepts, 23–517 bytes. Nil if unknown.
  package var mtu: Int?
  /// The method of the pairing and the resulting key. Nil without a pairing.
  package var pairing: (method: PairingMethod, security: LinkSecurity)?
  package var table = AttributeTable(services: [])
  /// The outcomes of reads and writes, by the handle of the attribute.
  package var outcomes: [AttributeHandle: Outcome] = [:]
  /// The facts that the snapshot lacks, each as a sentence.
  package var gaps: [String] = []

  /// The answers of a device to reads and writes of one attribute.
  package struct Outcome: Sendable, Equatable {
    /// The last value. Nil if the device sent none.
    package var value: [UInt8]?
    /// An earlier value that differs from `value`. Nil if the value did not change.
    package var earlier: [UInt8]?
    /// Whether the end of the value is unknown.
    package var isCut = false
    /// The error of the first refused read. Nil if the device refused none.
    package var readRefusal: ErrorCode?
    /// The error of a later refused read that differs from `readRefusal`. Nil if there was none.
    package var laterReadRefusal: ErrorCode?
    package var writeRefusal: ErrorCode?
    /// The security of the link after a refused read, for the last read. Nil if unknown.
    package var level: SecurityLevel?
    /// Whether the device accepted a write after it had refused one.
    package var acceptsWrites = false

    package init() {}

    /// Adds a value.
    package mutating func add(_ value: [UInt8]) {
      if let before = self.value, before != value { earlier = before }
      self.value = value
    }

    /// Adds the error of a refused read.
    package mutating func addReadRefusal(_ code: ErrorCode) {
      if readRefusal == nil, value == nil || code.isOfSecurity {
        readRefusal = code
      } else if code != readRefusal {
        laterReadRefusal = code
      }
    }
  }

  package init(_ peer: PeerAddress) { self.peer = peer }

  /// Adds an advertisement or a scan response. Ignores those of other devices, and directed ones, which have no data.
  package mutating func add(_ report: AdvertisingReport) {
    guard report.peer == peer, report.pdu != .directed, !report.isTruncated else { return }
    let before = report.pdu == .scanResponse ? scanResponse : advertisement
    if let before, before != report.data { isAdvertisementChanging = true }
    if report.pdu == .scanResponse { scanResponse = report.data } else { advertisement = report.data }
    isScannable = isScannable || report.isScannable
    name = Advertisement(report.data).displayName ?? name
  }

  /// Whether the snapshot has the advertisement and, if the device answers scan requests, the scan response.
  package var isAdvertisementWhole: Bool { advertisement != nil && (scanResponse != nil || !isScannable) }

  /// The handles of all characteristic values and descriptors, in ascending order.
  package var handles: [AttributeHandle] {
    table.characteristics.flatMap { [$0.valueHandle] + $0.descriptors.map(\.handle) }.sorted()
  }
}

extension AttributeTable {
  /// Creates a table from service declarations and from other attributes in ascending order of handles, with the values of declarations.
  package init(
    _ groups: some Sequence<(group: HandleGroup, isPrimary: Bool)>,
    attributes: [(handle: AttributeHandle, type: UUID?, declaration: [UInt8]?)]
  ) {
    services = groups.compactMap { item in
      UUID(littleEndian: item.group.value).map {
        Service(
          uuid: $0, handle: item.group.handle, endHandle: item.group.endHandle, isPrimary: item.isPrimary,
          hasLongUUID: $0.isLong(in: item.group.value))
      }
    }
    services.sort { $0.handle < $1.handle }
    var index = 0
    for attribute in attributes {
      while index < services.count, services[index].endHandle < attribute.handle { index += 1 }
      guard index < services.count else { break }
      if services[index].handle < attribute.handle { services[index].add(attribute.handle, attribute.type, attribute.declaration) }
    }
  }
}

extension Service {
  /// Adds the next attribute, in ascending order of handles.
  fileprivate mutating func add(_ handle: AttributeHandle, _ type: UUID?, _ declaration: [UInt8]?) {
    switch (type, declaration) {
    case (UUID.include?, let value?): if let include = Include(declaration: HandleValue(handle, value)) { includes.append(include) }
    case (UUID.characteristic?, let value?):
      guard var item = Characteristic(declaration: HandleValue(handle, value)) else { return }
      if let last = characteristics.indices.last { characteristics[last].endHandle = handle.previous }
      item.endHandle = endHandle
      characteristics.append(item)
    case (let type?, nil):
      guard let last = characteristics.indices.last, handle > characteristics[last].valueHandle else { return }
      characteristics[last].descriptors.append(Descriptor(uuid: type, handle: handle))
    default: break
    }
  }
}

extension Client {
  /// Discovers the attributes of the peer, reads each of them, and reads the values again to find those that change.
  /// Reads first without a new pairing, so that the refusals show the permissions. Then reads the refused attributes again, for which
  /// `onSecurityNeeded` may pair.
  /// - Parameter security: The security of the link. Nil while it is not encrypted.
  /// - Returns: The first failure other than a refusal by the peer. The snapshot then has the values that were read before it.
  /// - Throws: the errors of `discover`; `CancellationError`.
  package func complete(_ snapshot: inout DeviceSnapshot, security: @LoopActor () -> LinkSecurity?) async throws -> FailedRead? {
    let table = try await discover()
    (snapshot.table, snapshot.mtu) = (table, mtu)
    let raise = onSecurityNeeded
    defer { onSecurityNeeded = raise }
    onSecurityNeeded = nil
    var failure = try await read(snapshot.handles, in: table, into: &snapshot)
    onSecurityNeeded = raise
    let refused = snapshot.handles.filter { snapshot.outcomes[$0]?.readRefusal?.isOfSecurity ?? false }
    for handle in refused where raise != nil {
      // A failed pairing does not stop the following reads.
      let error = try await read([handle], in: table, into: &snapshot)
      failure = failure ?? error
      snapshot.outcomes[handle]?.level = security()?.level ?? .unencrypted
    }
    let error = try await read(snapshot.handles.filter { snapshot.outcomes[$0]?.value != nil }, in: table, into: &snapshot)
    return failure ?? error
  }

  private func read(
    _ handles: [AttributeHandle], in table: AttributeTable, into snapshot: inout DeviceSnapshot
  ) async throws -> FailedRead? {
    let (values, failure) = try await values(of: handles, in: table)
    for (handle, value) in values {
      var outcome = snapshot.outcomes[handle] ?? DeviceSnapshot.Outcome()
      switch value {
      case .success(let value): outcome.add(value)
      case .failure(GATTError.errorResponse(let code, _, _)): outcome.addReadRefusal(code)
      case .failure: break
      }
      snapshot.outcomes[handle] = outcome
    }
    return failure
  }
}
