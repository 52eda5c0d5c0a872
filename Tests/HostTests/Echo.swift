import BluetoothLESimulator

/// A simulated device that sends back every PDU.
@LoopActor
final class Echo: Advertiser {
  let address: PeerAddress
  var advertising = AdvertisingSettings()
  var linkLimits = LinkLimits()
  private(set) var received: [[UInt8]] = []
  private var channel: (any Channel)?

  init(_ address: PeerAddress) {
    self.address = address
    advertising.data = [2, 1, 6]
  }

  func connected(_ channel: any Channel) {
    self.channel = channel
    channel.handler = { [self] event in
      guard case .received(let pdu) = event else { return }
      received.append(pdu)
      channel.send(pdu)
    }
  }
}
