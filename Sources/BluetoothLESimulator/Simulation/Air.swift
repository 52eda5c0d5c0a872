// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE

/// The simulated radio environment, in which devices advertise, radios listen and links run. The seed determines all random events.
/// No timer runs while no radio listens and no link is busy.
@LoopActor
package final class Air {
  /// The faults to inject. `LinkLayer` applies them to its link. Changes apply to later links only.
  package var faults = Faults()

  package struct Faults: Sendable {
    /// The probability, 0–1, that a receiver misses an LL PDU with data.
    package var packetErrorRate = 0.0
    /// The number of LL payload bytes, in both directions together, after which each link loses radio contact. Nil keeps device limits.
    package var cutAfterBytes: Int?
    /// The numbers, counted from 1, of the connections that end with Connection Failed to be Established (0x3E).
    package var failingConnections: Set<Int> = []
    /// The devices that do not advertise, as if a user had switched them off.
    package var silent: Set<PeerAddress> = []
    /// The time in µs that the central's scheduler leaves unused at the end of each connection event.
    package var guardTime = 0

    package init() {}
  }

  let seed: UInt64
  private var stations: [Station] = []
  private var listeners: [any AirListener] = []
  private var connections = 0
  /// The numbers of devices and of advertising sets so far, which determine their random numbers.
  private var (devices, sets): (UInt64, UInt64) = (0, 0)

  package init(seed: UInt64 = 1) { self.seed = seed }

  /// Returns the configuration with its ACL buffers reduced to the smallest limits of the devices.
  func limited(_ configuration: VirtualController.Configuration) -> VirtualController.Configuration {
    var configuration = configuration
    let limits = stations.map(\.advertiser.linkLimits)
    configuration.buffers = min(configuration.buffers, limits.compactMap(\.controllerBuffers).min() ?? .max)
    configuration.bufferLength = min(configuration.bufferLength, limits.compactMap(\.controllerBufferLength).min() ?? .max)
    return configuration
  }

  /// Adds a device, which advertises while a radio listens and accepts one central at a time.
  package func add(_ advertiser: any Advertiser) {
    let station = Station(advertiser, random: SeededRandom(seed: seed, stream: devices &* 2))
    devices += 1
    stations.append(station)
    advertise(station, .heard)
  }

  /// Starts to transmit an advertising set, until `remove` or a connection.
  func add(_ set: AdvertisingSet) -> Station {
    sets += 1
    let station = Station(set, set: set, random: SeededRandom(seed: seed, stream: 1 << 50 | sets))
    stations.append(station)
    advertise(station, .enabled)
    return station
  }

  func remove(_ station: Station) {
    station.isRemoved = true
    station.timer?.cancel()
    stations.removeAll { $0 === station }
  }

  /// Adds the described devices. The seed determines their random numbers.
  package func add(_ descriptions: [some AdvertiserDescription]) {
    for description in descriptions { add(description.advertiser(seed: seed)) }
  }

  /// Gives a device the bond that a central has with it.
  package func restore(_ bond: Bond, with central: PeerAddress) {
    for station in stations where bond.isOf(station.advertiser.address) {
      station.advertiser.restore(bond.seenByPeer(of: central), with: central)
    }
  }

  // MARK: Listening

  /// Starts delivering advertisements to a listener. Does nothing if the listener already receives advertisements.
  func listen(_ listener: any AirListener) {
    guard !listeners.contains(where: { $0 === listener }) else { return }
    listeners.append(listener)
    if listeners.count == 1 { for station in stations where !station.isCounted { advertise(station, .heard) } }
  }

  func stopListening(_ listener: any AirListener) {
    listeners.removeAll { $0 === listener }
    if listeners.isEmpty { for station in stations where !station.isCounted { station.timer?.cancel() } }
  }

  /// Schedules the next advertising event of a device or a set.
  private func advertise(_ station: Station, _ cause: Station.Cause) {
    station.timer?.cancel()
    guard !listeners.isEmpty || station.isCounted, station.isFree else { return }
    station.timer = EventLoop.shared.schedule(after: station.pause(cause)) { [weak self, weak station] in
      guard let self, let station else { return }
      self.transmit(station)
      self.advertise(station, .repeated)
    }
  }

  private func transmit(_ station: Station) {
    let settings = station.advertiser.advertising
    guard settings.isOn, !faults.silent.contains(station.advertiser.address),
      EventLoop.shared.now >= station.start.advanced(by: settings.startsAfter)
    else { return }
    let pdus = settings.sentPDUs
    let own = station.set?.controller
    for listener in listeners where station.isFree && listener !== own {
      // ±3 dB, as in a quiet room.
      let advertised = jitter(settings.rssi, &station.random)
      let answered = jitter(settings.rssi, &station.random)
      listener.hear(Advertisement(station: station, settings: settings, pdus: pdus, rssi: advertised, scanResponseRSSI: answered))
    }
    if station.isFree { station.set?.sent() }
  }

  private func jitter(_ rssi: Int8, _ random: inout SeededRandom) -> Int8 { Int8(clamping: Int(rssi) - 3 + Int(random.next() % 7)) }

  /// An advertising event as a radio receives it.
  struct Advertisement {
    fileprivate let station: Station
    let settings: AdvertisingSettings
    let pdus: AdvertisingPDUs
    /// The RSSI of the advertisement, in dBm.
    let rssi: Int8
    let scanResponseRSSI: Int8

    @LoopActor var peer: PeerAddress { station.advertiser.address }
  }

  // MARK: Connecting

  /// Answers an advertisement with CONNECT_IND. The first connection event follows in about 2 ms.
  /// - Parameter central: The abilities of the central's controller.
  /// - Returns: The link, or nil if the device accepts no connection.
  func connect(
    to advertisement: Advertisement, from initiator: PeerAddress, parameters: LinkLayer.Parameters, central: LinkEnd
  ) -> VirtualLink? {
    let station = advertisement.station
    guard advertisement.settings.isConnectable, station.isFree, station.set?.canConnect ?? true else { return nil }
    connections += 1
    let settings = advertisement.settings
    // ADV_IND, T_IFS, CONNECT_IND, transmitWindowDelay.
    let firstAnchor = EventLoop.shared.now.nanoseconds + 376_000 + 150_000 + 352_000 + 1_250_000
    let limits = station.advertiser.linkLimits
    var layer = LinkLayer(
      parameters: parameters, firstAnchor: firstAnchor,
      random: SeededRandom(seed: seed &+ UInt64(limits.seed), stream: UInt64(connections) &* 2 &+ 1))
    station.connections += 1
    layer.limit(to: limits, connection: station.connections)
    layer.guardTime = max(layer.guardTime, faults.guardTime)
    layer.packetErrorRate = max(layer.packetErrorRate, faults.packetErrorRate)
    if let bytes = faults.cutAfterBytes { layer.cutAfterBytes = bytes }
    if advertisement.pdus.isExtended {
      layer.central.coding = AirTime.Coding(advertisement.pdus.secondary)
      layer.peripheral.coding = layer.central.coding
    }
    let fails = faults.failingConnections.contains(connections) || station.connections <= limits.failingConnections
    if fails { layer.failEstablishment() }
    let link = VirtualLink(
      peer: station.advertiser.address, initiator: initiator, rssi: settings.rssi, limits: limits,
      ends: LinkEnds(central: central, peripheral: station.set?.linkEnd ?? LinkEnd(limits)), layer: layer)
    // The device does not notice a connection that fails, so it continues to advertise.
    guard !fails else { return link }
    if let set = station.set {
      set.connected(link)
      return link
    }
    station.link = link
    station.timer?.cancel()
    link.closed = { [weak self, weak station] in
      guard let self, let station else { return }
      station.link = nil
      self.advertise(station, .heard)
    }
    let firmware = limits.firmware.map {
      FirmwareQueue($0, random: SeededRandom(seed: seed &+ UInt64(limits.seed), stream: 1 << 49 | UInt64(connections)))
    }
    station.advertiser.connected(VirtualLinkChannel(link, firmware))
    return link
  }
}

/// A radio that receives advertisements.
@LoopActor
protocol AirListener: AnyObject { func hear(_ advertisement: Air.Advertisement) }
