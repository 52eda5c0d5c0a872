import BluetoothLESimulator
import TestSupport

/// A device that records the data it receives.
@LoopActor
final class TestDevice: Advertiser {
  let address: PeerAddress
  var advertising = AdvertisingSettings()
  var linkLimits = LinkLimits()
  private(set) var channel: VirtualLinkChannel?
  private(set) var links = 0
  private(set) var received: [[UInt8]] = []
  private(set) var bytes = 0
  /// The times of the first and the last PDU in ns.
  private(set) var firstTime: Int64 = 0
  private(set) var lastTime: Int64 = 0
  private(set) var closed: ControllerErrorCode?
  var onConnect: ((VirtualLinkChannel) -> Void)?
  var onReceive: (([UInt8], VirtualLinkChannel) -> Void)?
  var keeps = true

  init(_ number: UInt64 = 1, type: AddressType = .random) {
    address = PeerAddress(Address(rawValue: 0xD100_0000_0000 + number), type)
    advertising.data = [0x02, 0x01, 0x06]
    advertising.scanResponse = [0x03, 0x09, 0x41, 0x42]
  }

  func connected(_ channel: any Channel) {
    guard let channel = channel as? VirtualLinkChannel else { return }
    self.channel = channel
    links += 1
    closed = nil
    channel.handler = { [weak self, weak channel] event in
      guard let self, let channel else { return }
      switch event {
      case .received(let pdu):
        if self.bytes == 0 { self.firstTime = EventLoop.shared.now.nanoseconds }
        self.lastTime = EventLoop.shared.now.nanoseconds
        self.bytes += pdu.count
        if self.keeps { self.received.append(pdu) }
        self.onReceive?(pdu, channel)
      case .dropped, .exhausted: break
      case .closed(let error): self.closed = error as? ControllerErrorCode
      }
    }
    onConnect?(channel)
  }
}

/// A virtual controller with a link to a device in its air.
@LoopActor
struct LinkedController {
  let air = Air()
  let device = TestDevice()
  let host: TestHost

  init(_ configure: (inout VirtualController.Configuration) -> Void = { _ in }) async throws {
    air.add(device)
    host = TestHost(air: air, configure)
    try await host.setUp()
  }
}
