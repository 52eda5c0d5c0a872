import ATT
import Bluetooth
import Finding
import GAP
import GATT
import Presentation
import Terminal
import Text

/// The devices, trees, log and view of the browser. Draws frames and turns keys into actions.
/// `BrowserSession` performs the actions and reports events. Times are nanoseconds since 1970-01-01T00:00:00Z.
struct Browser {
  enum Pane { case devices, tree, log }

  enum Overlay {
    case help(top: Int)
    case form(WriteForm)
    case prompt(Prompt)
  }

  enum Plotted: Equatable {
    case signal(PeerAddress)
    case value(PeerAddress, AttributeHandle)
  }

  /// A prompt for a line of text.
  struct Prompt: Equatable {
    enum Purpose { case filter, search, trace }
    let purpose: Purpose
    var field: LineField
    /// The place where a search began. Each letter searches from this place, and folds the rows that an earlier letter unfolded.
    var origin: BrowserPeer.Place?
  }

  let pen: Pen
  let commandLine: BrowserCommandLine

  // Data: the known devices and the log.
  private var watch: DeviceWatch
  private var order = DeviceOrder(.rssi)
  private var facts: [PeerAddress: (changes: Int, facts: ScanFacts)] = [:]
  private(set) var signals: [PeerAddress: SampleHistory] = [:]
  var peers: [PeerAddress: BrowserPeer] = [:]
  var log = BrowserLog()
  /// The file of the running trace, if any.
  var tracing: String?

  // View state: panes, overlay, plot, filter, search.
  var pane = Pane.devices
  var overlay: Overlay?
  var plotted: Plotted?
  var showsLog = false
  /// The text that filters the devices. Applies immediately, because the next key may arrive before the next frame.
  var filter = "" {
    didSet {
      guard filter != oldValue else { return }
      arrange(inView: layout.devices.inside, at: arrangedAt)
      // The filter never hides connected devices, so select the first device that matches.
      guard let selected, let device = device(selected), !fits(device) else { return }
      let all = devices
      if let first = all.first(where: { fits($0) }) { select(first.peer) }
    }
  }
  var search = ""
  /// The device under the cursor. Nil selects the first.
  var selected: PeerAddress?
  var deviceTop = 0
  /// The first visible line of the advertisement of a device that is not connected.
  var detailTop = 0
  /// The message in the last line. It stays until the next key, and at most for some seconds.
  private(set) var said: (text: String, isProblem: Bool, since: Int64?)?
  /// The devices in the order of the last frame.
  private(set) var devices: [DeviceView] = []
  private(set) var arrangedAt: Int64 = 0
  var layout = BrowserLayout(width: 80, height: 24, hasLog: false, bottom: 0)

  /// The maximum number of known devices, in addition to connected ones.
  private static let deviceLimit = 5000

  /// Creates a browser without devices.
  /// - Parameter zone: The offset of local time from UTC at a time, both in nanoseconds.
  init(isUTF8: Bool, adapter: String? = nil, zone: @escaping (Int64) -> Int64 = { _ in 0 }) {
    pen = Pen(isUTF8: isUTF8, zone: zone)
    commandLine = BrowserCommandLine(adapter: adapter)
    var options = DeviceWatch.Options()
    options.recordLimit = Self.deviceLimit
    options.deviceLimit = Self.deviceLimit
    watch = DeviceWatch(options)
  }

  // MARK: What comes

  var everybody: [DeviceView] { watch.all }

  mutating func heard(_ report: AdvertisingReport, at time: Int64) {
    _ = watch.add(report, at: time)
    guard let peer = report.peer, let rssi = report.rssi else { return }
    signal(of: peer, Double(rssi), at: time)
  }

  /// Adds a sample of the signal strength in dBm, at most four per second, because a plot shows no more.
  private mutating func signal(of peer: PeerAddress, _ rssi: Double, at time: Int64) {
    if signals.count > 2 * Self.deviceLimit { signals = signals.filter { peers[$0.key] != nil } }
    signals[peer, default: SampleHistory(capacity: 512)].add(rssi, at: time, every: 250_000_000)
  }

  mutating func say(_ text: String, isProblem: Bool = false) { said = (text, isProblem, nil) }

  mutating func note(_ text: String, of peer: PeerAddress? = nil, at time: Int64) {
    log.add(.note(text), of: peer, at: time)
    say(text)
  }

  mutating func problem(_ text: String, of peer: PeerAddress? = nil, at time: Int64) {
    log.add(.problem(text), of: peer, at: time)
    say(text, isProblem: true)
  }

  mutating func connecting(_ peer: PeerAddress, name: UntrustedText?) {
    peers[peer, default: BrowserPeer(peer, name: name)].state = .connecting
    if let name { peers[peer]?.name = name }
  }

  mutating func connected(_ peer: PeerAddress, mtu: Int, at time: Int64) {
    peers[peer]?.state = .connected(time)
    peers[peer]?.mtu = mtu
    peers[peer]?.pending = 0
    note("Connected to \(title(of: peer))", of: peer, at: time)
  }

  mutating func discovered(_ table: AttributeTable, of peer: PeerAddress) {
    peers[peer]?.table = table
    if let cursor = peers[peer]?.cursor, table.attribute(at: cursor) == .handle(cursor) { peers[peer]?.cursor = nil }
  }

  mutating func link(_ parameters: LinkParameters, of peer: PeerAddress, at time: Int64) {
    peers[peer]?.link = parameters
    if let rssi = parameters.rssi { signal(of: peer, Double(rssi), at: time) }
  }

  /// Marks the connection of a device as closed and logs the reason.
  /// - Parameter reason: The reason for the loss. Nil if the user disconnected.
  mutating func closed(_ peer: PeerAddress, _ reason: String?, at time: Int64) {
    guard peers[peer] != nil else { return }
    peers[peer]?.state = .closed(reason)
    peers[peer]?.pending = 0
    if let reason {
      problem("\(title(of: peer)): \(reason)", of: peer, at: time)
    } else {
      note("Disconnected from \(title(of: peer))", of: peer, at: time)
    }
  }

  mutating func value(_ value: Result<[UInt8], any Error>, of handle: AttributeHandle, from peer: PeerAddress, at time: Int64) {
    peers[peer]?.take(value, of: handle, at: time)
  }

  /// Counts a request that no key caused. `finished` ends the request.
  mutating func began(_ peer: PeerAddress) { peers[peer]?.pending += 1 }

  mutating func finished(_ peer: PeerAddress) { if let count = peers[peer]?.pending, count > 0 { peers[peer]?.pending = count - 1 } }

  mutating func pdu(_ direction: ATT.Direction, _ octets: [UInt8], of peer: PeerAddress, at time: Int64) {
    log.add(direction, octets, of: peer, at: time)
  }

  // MARK: Who is seen

  /// The device whose tree or advertisement is visible.
  var shown: PeerAddress? { selected ?? devices.first?.peer }

  var shownPeer: BrowserPeer? { shown.flatMap { peers[$0] } }

  func device(_ peer: PeerAddress) -> DeviceView? { devices.first { $0.peer == peer } }

  /// Returns the escaped name of a device, or the address of a device without a name.
  func title(of peer: PeerAddress) -> String { (peers[peer]?.name ?? device(peer)?.name).map { pen.safe($0) } ?? "\(peer.address)" }

  /// Returns the facts in the advertisements of a device. Caches the facts until the advertisements change.
  mutating func facts(of device: DeviceView) -> ScanFacts {
    if let known = facts[device.peer], known.changes == device.changes { return known.facts }
    let found = ScanFacts(device, AdvertisingFormats())
    if facts.count > 2000 { facts = [:] }
    facts[device.peer] = (device.changes, found)
    return found
  }

  /// Sorts the devices. The screen shows `room` of them.
  mutating func arrange(inView room: Int, at time: Int64) {
    arrangedAt = time
    var heard = order.arrange(watch.devicesWithRecords, inView: room, at: time)
    let known = Set(heard.map(\.peer))
    // Add devices that connected without being heard.
    heard.insert(contentsOf: peers.keys.filter { !known.contains($0) }.sorted { "\($0)" < "\($1)" }.map { DeviceView($0) }, at: 0)
    devices = heard.filter { peers[$0.peer]?.isConnected == true || fits($0) }
    // Never select a device that is not visible.
    if let selected, !devices.contains(where: { $0.peer == selected }) { self.selected = nil }
  }

  /// Returns whether the filter matches the name, address or data of a device.
  private mutating func fits(_ device: DeviceView) -> Bool {
    let wanted = filter.lowercased()
    return wanted.isEmpty || device.name?.raw.lowercased().contains(wanted) == true
      || "\(device.peer.address)".lowercased().contains(wanted)
      || facts(of: device).others.contains { $0.lowercased().contains(wanted) }
      || facts(of: device).mac?.lowercased().contains(wanted) == true
  }

  mutating func forget() { said = nil }

  /// Removes the message after 5 seconds on the screen, or 15 seconds for a problem.
  mutating func expire(at time: Int64) {
    guard let since = said?.since else {
      said?.since = time
      return
    }
    if time - since > (said?.isProblem == true ? 15_000_000_000 : 5_000_000_000) { said = nil }
  }
}
