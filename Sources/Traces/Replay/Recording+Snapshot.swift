package import BluetoothLE

extension Recording {
  /// The devices whose attributes the host used, in the order of their first connections. Nil stands for a device without a known address.
  package var usedPeers: [PeerAddress?] {
    links.filter { !$0.requests.isEmpty }.map(\.peer).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  /// Returns a snapshot of a device, from all of its connections and advertisements. Its gaps name what the recording lacks.
  /// - Parameter peer: A device of `usedPeers`.
  package func snapshot(of peer: PeerAddress?) -> DeviceSnapshot {
    var snapshot = DeviceSnapshot(peer ?? Self.unnamedPeer)
    if peer == nil { snapshot.gaps.append("The trace lacks the address of the device.") }
    for report in reports { snapshot.add(report) }
    if snapshot.advertisement == nil { snapshot.gaps.append("The trace has no advertisement of the device.") }
    if snapshot.scanResponse == nil, snapshot.isScannable { snapshot.gaps.append("The trace has no scan response of the device.") }
    let links = links.filter { $0.peer == peer }
    let database = RecordedDatabase(links)
    snapshot.mtu =
      database.serverMTU.map { Self.mtu($0, $0) } ?? database.mtuRefusal.map { _ in BearerState.defaultMTU }
    if snapshot.mtu == nil { snapshot.gaps.append("The trace has no exchange of the MTU.") }
    snapshot.table = AttributeTable(database)
    for link in links { snapshot.add(RecordedReadings([link]), writes: link.requests) }
    let unread = snapshot.table.characteristics.filter { $0.properties.contains(.read) && snapshot.outcomes[$0.valueHandle] == nil }
    if !unread.isEmpty { snapshot.gaps.append("The trace has no read of \(unread.map { "\($0.uuid)" }.joined(separator: ", ")).") }
    return snapshot
  }

  /// All advertising reports, with the parts of long data joined.
  private var reports: [AdvertisingReport] {
    var parts = ExtendedReportReassembler()
    return scans.flatMap(\.reports).flatMap { packet -> [AdvertisingReport] in
      switch try? BluetoothLE.Packet(packet.bytes) {
      case .event(.leAdvertisingReports(let list))?: list.reports.compactMap(\.report)
      case .event(.leExtendedAdvertisingReports(let list))?: list.reports.flatMap { parts.add($0, at: packet.time) }
      default: []
      }
    }
  }
}

extension DeviceSnapshot {
  /// Adds the reads and the refused writes of one link.
  fileprivate mutating func add(_ readings: RecordedReadings, writes requests: [Recording.Request]) {
    for (handle, list) in readings.all {
      var outcome = outcomes[AttributeHandle(clamping: handle)] ?? Outcome()
      for reading in list {
        switch reading.outcome {
        case .success(let value):
          // A longer reading of the same value replaces a cut one.
          if outcome.isCut, value.starts(with: outcome.value ?? []) { outcome.value = value } else { outcome.add(value) }
          outcome.isCut = !reading.isWhole
        case .failure(let refusal): outcome.addReadRefusal(refusal.code)
        }
      }
      outcomes[AttributeHandle(clamping: handle)] = outcome
    }
    for request in requests {
      guard case .write(let handle, _)? = try? Request(parsing: request.pdu),
        let response = request.response.flatMap({ try? Response(parsing: $0) })
      else { continue }
      var outcome = outcomes[handle] ?? Outcome()
      switch response {
      case .write: outcome.acceptsWrites = outcome.writeRefusal != nil
      case .error(_, _, let code) where code.isOfSecurity || code == .writeNotPermitted:
        outcome.writeRefusal = outcome.writeRefusal ?? code
      default: continue
      }
      outcomes[handle] = outcome
    }
  }
}

extension AttributeTable {
  /// Creates the table of the attributes that a recording proves. Leaves out declarations whose value the recording lacks.
  fileprivate init(_ database: RecordedDatabase) {
    let groups = [UUID.primaryService, .secondaryService].map { type in
      database.groups(type, in: .all).map { (group: $0, isPrimary: type == .primaryService) }
    }
    let known = database.handles.filter { database.declarations[$0] != nil || !(0x2800...0x2803).contains(database.types[$0]?.short ?? 0) }
    self.init(
      groups.joined(), attributes: known.map { (AttributeHandle(clamping: $0), database.types[$0], database.declarations[$0]) })
  }
}
