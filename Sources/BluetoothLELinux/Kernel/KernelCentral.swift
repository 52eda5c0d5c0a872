// A program on Linux needs one import: this module adds radios to BluetoothLE.
@_exported public import BluetoothLE

/// A Central on the kernel's Bluetooth stack. It scans over a raw HCI socket and connects over L2CAP sockets, also while bluetoothd runs.
@LoopActor
package final class KernelCentral: Central, LinkController {
  package let adapter: AdapterInfo
  package var onNote: (@LoopActor (GAPNote) -> Void)?
  package var failure: (any Error)? { hci.failure }
  package var identity: PeerAddress? { adapter.address.map { PeerAddress($0, .public) } }

  let hci: HCISocket
  let keyring: KernelKeyring
  private let tap: (any Tap)?
  private(set) lazy var served = KernelPeripheral(self)
  /// The path of the file with the number of the advertising instance. Nil keeps no number.
  package var instanceFile: String? {
    get { served.instanceFile }
    set { served.instanceFile = newValue }
  }
  /// The served device that pairs. Set it before the device starts.
  package var pairedDevice: (any PairedDevice)? {
    get { served.device }
    set { served.device = newValue }
  }
  private(set) var table = LinkTable()
  private var scan: KernelScan?
  private(set) var links: [KernelLink] = []
  /// The function that returns whether the adapter with an index is up. Tests replace it.
  var isUp: (Int) -> Bool = AdapterList.isUp
  var makeChannel: @LoopActor (AdapterInfo, PeerAddress, LoopClock.Instant) async throws -> L2CAPSocket = {
    try await L2CAPSocket.connect($0, $1, until: $2)
  }
  var discovery = KernelDiscovery()

  /// Opens an adapter.
  /// - Parameter index: The number N of `hciN`, or nil for the first usable adapter.
  /// - Parameter tap: The receiver of ATT PDUs as ACL packets, and of the HCI commands and events that this process may see.
  /// - Throws: AdapterProblem.
  package static func open(adapter index: Int?, tap: (any Tap)? = nil) async throws -> KernelCentral {
    let adapter = try AdapterList.choose(index)
    return KernelCentral(adapter, try HCISocket(adapter: adapter.index, tap: tap), tap: tap)
  }

  init(_ adapter: AdapterInfo, _ hci: HCISocket, tap: (any Tap)?) {
    (self.adapter, self.hci, self.tap) = (adapter, hci, tap)
    keyring = KernelKeyring(adapter)
    // Observe before any connection, so that no event about it is missed.
    _ = hci.addObserver(ended: { [weak self] in self?.served.onFailure?($0) }, { [weak self] in self?.table.handle($0) })
  }

  package func useBonds(_ bonds: @escaping @LoopActor () throws -> [Bond]) { keyring.bonds = bonds }

  // MARK: Scanning

  package func scan(
    _ parameters: ScanParameters, started: @escaping @LoopActor () -> Void, report: @escaping @LoopActor (AdvertisingReport) -> Void
  ) async throws {
    guard scan == nil else { throw GAPError.isScanning(adapter: adapter.name) }
    let scan = KernelScan(self)
    self.scan = scan
    defer {
      self.scan = nil
      scan.over.resume(returning: ())
    }
    let commands = try ScanCommands(parameters, adapter: adapter.name, try await abilities(for: parameters.phys), sharing: !links.isEmpty)
    let procedure = ScanProcedure(commands, wantsScanResponses: parameters.isActive)
    try await scan.run(procedure, started: started, report: report)
  }

  /// Whether a discovery is active that bluetoothd may have started. Without bluetoothd, an earlier scan left it.
  var isOthersDiscovery: Bool { discovery.isActive(adapter) == true && keyring.hasDaemon() }

  // MARK: What the controller can do

  /// The commands that the controller supports. Nil until the controller has reported them.
  private var supportedCommands: SupportedCommands?

  private func abilities(for phys: Set<PHY>) async throws -> ControllerInfo {
    var info = ControllerInfo()
    // A controller without a public address uses a random one.
    info.ownAddress = PeerAddress(adapter.address ?? Address(rawValue: 0), adapter.address == nil ? .random : .public)
    // A controller that does not report its commands is an old one.
    info.supported = try await askSupportedCommands(for: .scanning) ?? SupportedCommands()
    if phys.contains(.coded), info.supported.scansExtended {
      info.leFeatures = try await hci.send(LEReadLocalSupportedFeatures(), for: .scanning).features
    }
    return info
  }

  private func askSupportedCommands(for use: AdapterUse) async throws -> SupportedCommands? {
    if supportedCommands == nil {
      do {
        supportedCommands = try await hci.send(ReadLocalSupportedCommands(), for: use).commands
      } catch let error as ControllerError where error.status != nil {
        // Refused.
      }
    }
    return supportedCommands
  }

  // MARK: LinkController

  package var name: String { adapter.name }

  package func supports<C: Command>(_ command: C.Type) async throws -> Bool {
    try await askSupportedCommands(for: .changingConnection)?.contains(command) ?? true
  }

  @discardableResult
  package func perform<C: Command>(_ command: C) async throws -> C.Return { try await hci.send(command, for: .changingConnection) }

  // MARK: Connecting

  package func connect<Value>(
    _ peer: PeerAddress, timeout: Duration, retries: Int, confirm: @escaping @LoopActor (any Link, Int) async throws -> Value
  ) async throws -> Value {
    // The kernel finds the peer with its own scan, which would stop ours silently.
    if let scan {
      scan.end(GAPError.scanEnded(adapter: adapter.name, connecting: peer))
      try await scan.over.value()
    }
    // A killed program may have left a discovery, during which the kernel does not scan for the peer.
    if discovery.isActive(adapter) == true, !keyring.hasDaemon() { _ = discovery.end(adapter) }
    let deadline = EventLoop.shared.now.advanced(by: timeout)
    let destination = try await keyring.destination(of: peer)
    do {
      return try await retrying(peer, times: retries, confirm: confirm) { try await establish(peer, at: destination, deadline) }
    } catch let failure as ConnectFailure {
      throw failure.error(peer, adapter: adapter.name, limit: timeout)
    }
  }

  private func establish(_ peer: PeerAddress, at destination: PeerAddress, _ deadline: LoopClock.Instant) async throws -> KernelLink {
    let before = table.latest
    table.failures[peer.address] = nil
    hci.trace?.attemptStarts(peer)
    var connected: ConnectionHandle?
    defer { hci.trace?.attemptEnds(peer, connected) }
    do {
      let socket = try await makeChannel(adapter, destination, deadline)
      hci.pump()
      let handle = socket.connectionHandle
      connected = handle
      let isOurs = handle.flatMap { table.entries[$0] }.map { $0.number > before } ?? false
      let link = KernelLink(self, peer, at: destination, socket, handle: handle, madeByUs: isOurs, tap: tap)
      links.append(link)
      return link
    } catch var failure as ConnectFailure {
      hci.pump()
      failure.status = table.failures[peer.address]
      failure.isAdapterDown = !isUp(adapter.index)
      throw failure
    }
  }

  package func connectedPeer(_ address: Address) -> PeerAddress? {
    ManagementChannel.connections(of: adapter.index)?.first { $0.address == address }
  }

  package var peripheral: (any PeripheralRole)? { served }

  /// Adds the link of a central.
  func accept(_ descriptor: consuming OwnedDescriptor, _ peer: PeerAddress) -> KernelLink {
    let socket = L2CAPSocket(descriptor) { SocketEnd(peer, .errno($0)) }
    hci.pump()
    let link = KernelLink(self, peer, socket, handle: socket.connectionHandle, madeByUs: true, tap: tap)
    links.append(link)
    return link
  }

  func forget(_ link: KernelLink) {
    links.removeAll { $0 === link }
    // A later link may have the same handle.
    if let handle = link.handle, !links.contains(where: { $0.handle == handle }) { hci.trace?.forget(handle) }
  }

  package func close() async {
    await shielded { [self] in
      if let scan {
        scan.end(CancellationError())
        _ = try? await scan.over.value()
      }
      await served.end()
      for link in links { await link.disconnect() }
      keyring.close()
      hci.close()
    }
  }
}

/// The state of each link, according to the controller's events since the program opened the raw socket.
struct LinkTable: Equatable {
  struct Entry: Equatable {
    var state = LinkState()
    /// The number of the connection, counted from 1 over all links. 0 for a link that is older than the raw socket.
    var number = 0
  }

  private(set) var entries: [ConnectionHandle: Entry] = [:]
  /// The number of the latest connection, counted from 1. 0 before the first connection.
  private(set) var latest = 0
  /// The status of each peer's latest failed connection attempt. Attempts to several peers may run at the same time.
  var failures: [Address: ControllerErrorCode] = [:]

  mutating func handle(_ event: Event) {
    if case .leConnectionComplete(let complete) = event {
      guard complete.status == .success else {
        failures[complete.peer.address] = complete.status
        return
      }
      latest += 1
      entries[complete.handle] = Entry(state: LinkState(complete), number: latest)
    } else if let handle = event.connectionHandle {
      entries[handle, default: Entry()].state.update(with: event)
    }
  }
}
