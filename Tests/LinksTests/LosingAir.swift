import BluetoothLESimulator

/// A simulated air with one device that leaves the range on command, and may return as another device.
@LoopActor
final class LosingAir {
  let session: Session
  let device: Device
  let air = Air()

  /// - Parameter text: One peripheral as in a file of `sim:FILE`.
  init(_ text: String) async throws {
    device = Device(try Self.peripheral(text))
    air.add(device)
    let central = HostCentral(VirtualController(air: air), name: "sim")
    try await central.start()
    session = Session { central }
    session.staysOpen = true
  }

  static func peripheral(_ text: String) throws -> VirtualPeripheral {
    VirtualPeripheral(try PeripheralFile.parse(Array("[\(text)]".utf8), name: "test")[0])
  }

  func connect(_ selector: PeerSelector) async throws -> Connection {
    let match = try await session.central().find(PeerSearch(selector))
    return try await session.connect(match.peer, name: match.name, foundBy: selector)
  }

  /// Breaks the link. Returns when both sides have noticed.
  func lose(_ connection: Connection) async throws {
    for channel in device.channels { channel.cut() }
    _ = try await connection.client.untilClosed()
    while device.present.connectionCount > 0 { try await EventLoop.shared.sleep(for: .milliseconds(100)) }
  }

  @LoopActor
  final class Device: Advertiser {
    /// The peripheral as it is now.
    var present: VirtualPeripheral
    /// Whether the device is out of range.
    var isAway = false
    /// The number of links to cut right after they connect.
    var shortLinks = 0
    private(set) var channels: [VirtualLinkChannel] = []
    private(set) var connections = 0

    init(_ present: VirtualPeripheral) { self.present = present }

    var address: PeerAddress { present.address }
    var linkLimits: LinkLimits { present.linkLimits }
    var advertising: AdvertisingSettings {
      var settings = present.advertising
      if isAway { settings.isConnectable = false }
      return settings
    }

    func connected(_ channel: any Channel) {
      connections += 1
      channels = []
      if let channel = channel as? VirtualLinkChannel {
        channels = [channel]
        if shortLinks > 0 {
          shortLinks -= 1
          EventLoop.shared.schedule(after: .milliseconds(1)) { channel.terminate(reason: .connectionTimeout) }
        }
      }
      present.connected(channel)
    }
  }

  /// Returns a device that sends values of `ff01` and `ff02`.
  /// - Parameters:
  ///   - interval: The time between two values in ms.
  ///   - hash: The Database Hash. Nil if it has none.
  ///   - first: The services before its own.
  static func counter(
    address: String = "D1:00:00:00:00:77/random", name: String = "Counter", interval: Int = 1000, hash: String? = nil,
    first: String = "", second: Bool = true, limits: String = ""
  ) -> String {
    let characteristic = { (uuid: String) in
      #"{"uuid": "\#(uuid)", "properties": ["notify"], "periodic": {"every_ms": \#(interval), "values": ["\#(uuid.suffix(2))"]}}"#
    }
    let own = ["ff01"] + (second ? ["ff02"] : [])
    let database = hash.map {
      #"{"uuid": "1801", "characteristics": [{"uuid": "2a05", "properties": ["indicate"]}, {"uuid": "2b2a", "properties": ["read"], "value": "\#($0)"}]},"#
    }
    return """
      {"name": "\(name)", "address": "\(address)", \(limits) "advertisement": {"flags": 6, "name": "\(name)", "services": ["ff00"]}, "mtu": 185,
       "services": [\(first) \(database ?? "") {"uuid": "ff00", "characteristics": [\(own.map(characteristic).joined(separator: ","))]}]}
      """
  }
}
