package import Bluetooth
package import EventLoop
package import GAP
package import HCI

/// A Central on the kernel's own Bluetooth stack: scanning over a raw HCI socket, links over L2CAP sockets. bluetoothd may run beside it.
@LoopActor
package final class KernelCentral: GAP.Central {
  package let adapter: AdapterInfo
  package var onNote: (@LoopActor (GAPNote) -> Void)?

  let hci: HCISocket
  private let tap: (any HCI.Tap)?
  private(set) var table = LinkTable()
  private var scan: KernelScan?
  private var links: [KernelLink] = []
  /// Replaced in tests, where no adapter is.
  var isUp: (Int) -> Bool = AdapterList.isUp
  var isDiscovering: (Int) -> Bool? = KernelDiscovery.isActive
  var remindOfBackgroundScan: (AdapterInfo) -> Void = KernelDiscovery.remindOfBackgroundScan

  /// - Parameters:
  ///   - index: N of `hciN`; nil for the first adapter that can be used.
  ///   - tap: sees HCI commands and events as far as the process may, and ATT PDUs as ACL packets.
  /// - Throws: BluetoothError(.adapter) with what to do about it.
  package static func open(adapter index: Int?, tap: (any HCI.Tap)? = nil) async throws -> KernelCentral {
    let adapter = try AdapterList.choose(index)
    return KernelCentral(adapter, try HCISocket(adapter: adapter.index, tap: tap), tap: tap)
  }

  init(_ adapter: AdapterInfo, _ hci: HCISocket, tap: (any HCI.Tap)?) {
    self.adapter = adapter
    self.hci = hci
    self.tap = tap
    // From before any connection, so that no event about one is missed.
    _ = hci.addObserver { [weak self] in self?.table.handle($0) }
  }

  // MARK: Scanning

  package func scan(
    _ parameters: ScanParameters, started: @escaping @LoopActor () -> Void, report: @escaping @LoopActor (AdvertisingReport) -> Void
  ) async throws {
    guard scan == nil else { throw BluetoothError(.internal, "\(adapter.name) is scanning already") }
    let scan = KernelScan(self)
    self.scan = scan
    defer {
      self.scan = nil
      scan.over.resume(returning: ())
    }
    let extended = try await hasExtendedScan()
    guard extended || parameters.phys.isSubset(of: [.le1M]) else {
      throw BluetoothError(.adapter, "\(adapter.name) can only scan on the 1M PHY: it has no extended advertising (Bluetooth 5)")
    }
    let procedure = ScanProcedure(parameters, extended: extended, ownAddressType: adapter.address == nil ? .random : .public)
    try await scan.run(procedure, started: started, report: report)
  }

  private var supportedCommands: SupportedCommands?

  private func hasExtendedScan() async throws -> Bool {
    if supportedCommands == nil {
      do {
        supportedCommands = try await hci.send(ReadLocalSupportedCommands(), purpose: "scanning").commands
      } catch let error as BluetoothError where error.kind == .hci && error.code != nil {
        // A controller that does not say what it can do is an old one.
      }
    }
    return supportedCommands?.scansExtended ?? false
  }

  // MARK: Connecting

  package func connect(_ peer: PeerAddress, timeout: Duration) async throws -> any Link {
    // The kernel looks for the peer with a scan of its own, which would stop ours without a word.
    if let scan {
      scan.end(CancellationError())
      try await scan.over.value()
    }
    let deadline = EventLoop.shared.now.advanced(by: timeout)
    var isRetry = false
    while true {
      let before = table.latest
      table.attemptStarts()
      do {
        let socket = try await L2CAPSocket.connect(adapter, peer, timeout: timeout, until: deadline)
        hci.pump()
        let handle = socket.connectionHandle
        let isOurs = handle.flatMap { table.entries[$0] }.map { $0.number > before } ?? false
        let link = KernelLink(self, peer, socket, handle: handle, madeByUs: isOurs, tap: tap)
        links.append(link)
        return link
      } catch var failure as ConnectFailure {
        hci.pump()
        failure.status = table.failure
        failure.isAdapterDown = !isUp(adapter.index)
        guard failure.isWorthRetrying, !isRetry else { throw failure.error(peer, adapter: adapter.name, seconds: timeout.inSeconds) }
        isRetry = true
        onNote?(.tryingAgain(peer))
      }
    }
  }

  package func connectedPeer(_ address: Address) -> PeerAddress? {
    ManagementConnections.read(adapter: adapter.index)?.first { $0.address == address }
  }

  func forget(_ link: KernelLink) { links.removeAll { $0 === link } }

  package func close() async {
    await shielded { [self] in
      if let scan {
        scan.end(CancellationError())
        _ = try? await scan.over.value()
      }
      for link in links { await link.disconnect() }
      hci.close()
    }
  }
}
