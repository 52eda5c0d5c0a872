// SPDX-License-Identifier: Apache-2.0
import BluetoothLE

/// An advertising set of a controller, which the air transmits as it does a device (Vol 4 Part E §7.8.53). Legacy commands have one set.
@LoopActor
final class AdvertisingSet: Advertiser {
  /// Data that the host may set in fragments.
  struct Content {
    var bytes: [UInt8] = []
    /// Whether the last fragment is missing.
    var isPartial = false
  }

  let handle: UInt8
  private(set) weak var controller: VirtualController?
  /// The parameters of the advertising command. The rest of this type is what they do not determine.
  var advertising = AdvertisingSettings()
  var pdus = AdvertisingPDUs()
  var isHighDutyCycle = false
  var ownAddressType: UInt8 = 0
  /// The random address of an extended set.
  var randomAddress: Address?
  var data = Content()
  var scanResponse = Content()
  /// The address on the air, which `start` determines.
  private(set) var address: PeerAddress
  private var station: Station?
  private var timer: LoopTimer?
  /// The number of advertising events that end the set. 0 for no limit.
  private(set) var maxEvents: UInt8 = 0
  private(set) var countedEvents: UInt8 = 0

  init(_ handle: UInt8, _ controller: VirtualController) {
    (self.handle, self.controller) = (handle, controller)
    address = PeerAddress(controller.address, .public)
    advertising.interval = .milliseconds(1280)
    pdus.isScannable = true
  }

  var isEnabled: Bool { station != nil }
  /// Whether the controller has room for another link.
  var canConnect: Bool { controller?.freeHandle != nil }
  var linkEnd: LinkEnd? { controller?.linkEnd }
  /// The link has no limits other than those of the controllers.
  var linkLimits: LinkLimits { LinkLimits() }

  /// Transmits the set from now on, as its parameters say.
  /// - Parameter duration: The time after which the set ends. 0 for no limit.
  func start(from address: PeerAddress, duration: Duration = .zero, maxEvents: UInt8 = 0) {
    stop()
    (self.address, self.maxEvents, countedEvents) = (address, maxEvents, 0)
    update()
    station = controller?.air.add(self)
    guard duration > .zero else { return }
    timer = EventLoop.shared.schedule(after: duration) { [weak self] in self?.end(.advertisingTimeout) }
  }

  /// Transmits the current data of the host from the next advertising event on.
  func update() {
    (advertising.data, advertising.scanResponse) = (data.bytes, scanResponse.bytes)
    // ADV_DIRECT_IND and scannable extended PDUs have no data.
    if pdus.isExtended ? pdus.isScannable : pdus.target != nil { advertising.data = [] }
    advertising.pdus = pdus
  }

  func stop() {
    timer?.cancel()
    if let station { controller?.air.remove(station) }
    station = nil
  }

  /// Counts an advertising event.
  func sent() {
    guard maxEvents > 0 else { return }
    countedEvents += 1
    if countedEvents >= maxEvents { end(.limitReached) }
  }

  /// Ends the set without a link.
  private func end(_ status: ControllerErrorCode) {
    stop()
    controller?.ended(self, status)
  }

  func connected(_ link: VirtualLink) {
    stop()
    controller?.accept(link, of: self)
  }

  /// Does nothing: the controller serves the link itself.
  func connected(_ channel: any Channel) {}
}
