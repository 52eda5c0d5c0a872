import BluetoothLE

@testable import BluetoothLESimulator

/// An action and its time in µs.
struct LinkLayerEntry: Equatable {
  let at: Int64
  let action: LinkLayer.Action

  init(at: Int64, _ action: LinkLayer.Action) {
    self.at = at
    self.action = action
  }

  static func completed(_ at: Int64, _ side: LinkLayer.Side, _ count: Int) -> LinkLayerEntry {
    LinkLayerEntry(at: at, .completed(by: side, count))
  }
}

/// A link with two hosts that react instantly.
struct LinkLayerBench {
  var link: LinkLayer
  var now: Int64 = 0
  var log: [LinkLayerEntry] = []
  var onReceive: ((LinkLayer.Side, [UInt8], inout LinkLayer, Int64) -> Void)?
  var onCompleted: ((LinkLayer.Side, Int, inout LinkLayer, Int64) -> Void)?

  init(interval: ConnectionInterval, latency: UInt16 = 0, timeout: Centiseconds = 500) {
    link = LinkLayer(
      parameters: LinkLayer.Parameters(interval: interval, latency: latency, supervisionTimeout: timeout), firstAnchor: 0,
      random: SeededRandom(seed: 1, stream: 1))
  }

  mutating func run(until end: Int64) {
    while let due = link.due, due <= end {
      now = max(now, due)
      for action in link.wake(at: now) {
        log.append(LinkLayerEntry(at: now / 1000, action))
        switch action {
        case .received(let side, let bytes, _): onReceive?(side, bytes, &link, now)
        case .completed(let side, let count): onCompleted?(side, count, &link, now)
        default: break
        }
      }
    }
  }

  mutating func set(bytes: Int, _ coding: AirTime.Coding) {
    link.start(.dataLength(central: bytes, peripheral: bytes), at: now)
    link.start(.phy(central: coding, peripheral: coding), at: now)
    run(until: .max)
    log = []
  }

  /// Returns the value bytes per second that arrive while eight HCI buffers stay full.
  mutating func saturate(from side: LinkLayer.Side, value: Int, seconds: Int64) -> Double {
    let frame = [UInt8](repeating: 0, count: value + 7)
    var offset = 0
    func feed(_ link: inout LinkLayer, _ now: Int64) {
      let packet = frame[offset..<min(frame.count, offset + 251)]
      link.send(by: side, Array(packet), isStart: offset == 0, at: now)
      offset = offset + 251 >= frame.count ? 0 : offset + 251
    }
    var arrived = 0
    let start = now
    for _ in link[side].queue.count..<8 { feed(&link, now) }
    while let due = link.due, due <= start + seconds * 1_000_000_000 {
      now = max(now, due)
      for action in link.wake(at: now) {
        switch action {
        case .received(_, let bytes, _): arrived += bytes.count
        case .completed(_, let count): for _ in 0..<count { feed(&link, now) }
        default: log.append(LinkLayerEntry(at: now / 1000, action))
        }
      }
    }
    now = start + seconds * 1_000_000_000
    return Double(arrived) * Double(value) / Double(frame.count) / Double(seconds)
  }
}
