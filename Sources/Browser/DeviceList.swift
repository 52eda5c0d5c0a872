import BluetoothLE
import BluetoothLEDeviceFiles
import Presentation

/// The known devices in the order of the screen, with the filter, the cursor and the scroll position.
/// Times are nanoseconds since 1970-01-01T00:00:00Z.
struct DeviceList {
  /// The devices to which the browser connects or has connected.
  var peers: [PeerAddress: BrowserPeer] = [:]
  private(set) var signals: [PeerAddress: SampleHistory] = [:]
  /// The connected devices and the devices that match the filter, in the order of the last frame.
  private(set) var matches: [DeviceView] = []
  private(set) var filter = ""
  /// The device that the user selected. Nil puts the cursor on the first device.
  var selected: PeerAddress?
  /// The zero-based index of the first visible device.
  private(set) var top = 0
  /// The zero-based index of the first visible line in the selected device's advertisement.
  var detailTop = 0
  private var watch: DeviceWatch
  private var order = DeviceOrder(.rssi)
  private var facts: [PeerAddress: (changes: Int, facts: ScanFacts)] = [:]
  /// The number of rows for devices and the time, in nanoseconds since 1970-01-01T00:00:00Z, of the latest call of `arrange`.
  private var arranged = (rows: 0, time: Int64(0))

  /// The maximum number of devices that the list keeps, not counting devices with a connection.
  private static let limit = 5000

  init() {
    var options = DeviceWatch.Options()
    options.recordLimit = Self.limit
    options.deviceLimit = Self.limit
    watch = DeviceWatch(options)
  }

  /// All devices that the scan has heard, in any order.
  var all: [DeviceView] { watch.all }

  /// The device whose tree or advertisement is visible. Nil without any device.
  var shown: PeerAddress? { selected ?? matches.first?.peer }

  var shownPeer: BrowserPeer? { shown.flatMap { peers[$0] } }

  /// The zero-based index in `matches` of the device under the cursor. 0 if `matches` does not contain that device.
  var index: Int { selected.flatMap { peer in matches.firstIndex { $0.peer == peer } } ?? 0 }

  func device(_ peer: PeerAddress) -> DeviceView? { matches.first { $0.peer == peer } }

  /// Returns the name of a device, or its address if the name is unknown.
  func name(of peer: PeerAddress) -> UntrustedText { peers[peer]?.name ?? device(peer)?.name ?? UntrustedText("\(peer.address)") }

  mutating func select(_ peer: PeerAddress) {
    if peer != shown { detailTop = 0 }
    selected = peer
  }

  // MARK: Events

  mutating func heard(_ report: AdvertisingReport, at time: Int64) {
    _ = watch.add(report, at: time)
    guard let peer = report.peer, let rssi = report.rssi else { return }
    addSignal(Double(rssi), of: peer, at: time)
  }

  /// Adds a sample of the signal strength in dBm to a device's history. Drops samples within 250 ms of the previous one.
  private mutating func addSignal(_ rssi: Double, of peer: PeerAddress, at time: Int64) {
    if signals.count > 2 * Self.limit { signals = signals.filter { peers[$0.key] != nil } }
    signals[peer, default: SampleHistory(capacity: 512)].add(rssi, at: time, every: 250_000_000)
  }

  mutating func connecting(_ peer: PeerAddress, name: UntrustedText?) {
    peers[peer, default: BrowserPeer(name: name)].state = .connecting
    if let name { peers[peer]?.name = name }
  }

  mutating func update(_ parameters: LinkParameters, _ security: LinkSecurity?, of peer: PeerAddress, at time: Int64) {
    peers[peer]?.link = parameters
    peers[peer]?.security = security
    if let rssi = parameters.rssi { addSignal(Double(rssi), of: peer, at: time) }
  }

  // MARK: Order and filter

  /// Sorts and filters the devices for a screen with room for `rows` of them. Clears the selection of a device that disappeared.
  mutating func arrange(rows: Int, at time: Int64) {
    arranged = (rows, time)
    var heard = order.arrange(watch.devicesWithRecords, inView: rows, at: time)
    let known = Set(heard.map(\.peer))
    // Add devices that connected without being heard.
    heard.insert(contentsOf: peers.keys.filter { !known.contains($0) }.sorted { "\($0)" < "\($1)" }.map { DeviceView($0) }, at: 0)
    matches = heard.filter { peers[$0.peer]?.isConnected == true || matchesFilter($0) }
    // Never select a device that is not visible.
    if let selected, device(selected) == nil { self.selected = nil }
  }

  /// Sets the text of the filter and applies it immediately. The filter never hides connected devices.
  /// - Returns: The device to select if the selected one does not match the filter. Nil if the selection can stay.
  mutating func setFilter(_ text: String) -> PeerAddress? {
    guard text != filter else { return nil }
    filter = text
    arrange(rows: arranged.rows, at: arranged.time)
    guard let selected, let device = device(selected), !matchesFilter(device) else { return nil }
    let all = matches
    return all.first { matchesFilter($0) }?.peer
  }

  /// Returns whether the name, address or advertising data of a device contains the filter's text. Ignores case.
  private mutating func matchesFilter(_ device: DeviceView) -> Bool {
    let wanted = filter.lowercased()
    return wanted.isEmpty || device.name?.raw.lowercased().contains(wanted) == true
      || "\(device.peer.address)".lowercased().contains(wanted)
      || facts(of: device).others.contains { $0.lowercased().contains(wanted) }
      || facts(of: device).mac?.lowercased().contains(wanted) == true
  }

  /// Returns the facts in the advertisements of a device. Caches the facts until the advertisements change.
  mutating func facts(of device: DeviceView) -> ScanFacts {
    if let known = facts[device.peer], known.changes == device.changes { return known.facts }
    let found = ScanFacts(device, AdvertisingFormats())
    if facts.count > 2000 { facts = [:] }
    facts[device.peer] = (device.changes, found)
    return found
  }

  /// Scrolls the list until the device under the cursor is visible, on a screen with room for `rows` devices.
  mutating func scroll(rows: Int) { top = BrowserLayout.top(top, showing: index, of: matches.count, rows: rows) }
}
