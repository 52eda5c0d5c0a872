import BluetoothLE

/// A radio with scripted reports. It makes no links.
@LoopActor
final class ScriptedCentral: Central {
  var onNote: (@LoopActor (GAPNote) -> Void)?
  /// The batches of reports. Each arrives within one turn, as the reports of one HCI event do.
  var batches: [(after: Duration, reports: [AdvertisingReport])] = []
  var startDelay = Duration.zero
  var connected: [PeerAddress] = []
  /// The error that scanning throws.
  var scanFailure: (any Error)?
  var failure: (any Error)?
  private(set) var scans = 0
  private(set) var isScanning = false

  func scan(
    _ parameters: ScanParameters, started: @escaping @LoopActor () -> Void, report: @escaping @LoopActor (AdvertisingReport) -> Void
  ) async throws {
    if let scanFailure { throw scanFailure }
    scans += 1
    isScanning = true
    defer { isScanning = false }
    try await EventLoop.shared.sleep(for: startDelay)
    started()
    for (time, reports) in batches {
      try await EventLoop.shared.sleep(for: time)
      for item in reports { report(item) }
    }
    try await EventLoop.shared.sleep(for: .seconds(86_400))
  }

  func connect<Value>(
    _ peer: PeerAddress, timeout: Duration, retries: Int, confirm: @escaping @LoopActor (any Link, Int) async throws -> Value
  ) async throws -> Value { throw CancellationError() }

  func connectedPeer(_ address: Address) -> PeerAddress? { connected.first { $0.address == address } }

  func close() async {}
}

func peer(_ number: UInt64) -> PeerAddress { PeerAddress(Address(rawValue: 0xD1_00_00_00_00_00 + number), .random) }

/// Returns a connectable advertisement, or another PDU.
func report(_ number: UInt64, _ data: [UInt8] = [], rssi: Int8 = -60, _ pdu: AdvertisingReport.PDU = .connectable) -> AdvertisingReport {
  AdvertisingReport(
    pdu: pdu, isConnectable: pdu == .connectable, isScannable: pdu == .connectable, peer: peer(number), rssi: rssi, data: data)
}

/// Returns advertising data with a complete local name.
func named(_ name: String) -> [UInt8] { [UInt8(name.utf8.count + 1), 9] + name.utf8 }
