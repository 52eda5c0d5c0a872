import Bluetooth
import GATT
import Presentation
import Terminal
import Text

/// The form for writing a value, with the text, the format, the mode and the values that the user wrote before.
struct WriteForm: Equatable {
  enum Field: CaseIterable { case value, format, mode }

  enum Outcome: Equatable {
    case editing
    case cancelled
    case write([UInt8], BrowserPeer.Written)
  }

  let peer: PeerAddress
  let attribute: Attribute
  private(set) var field = Field.value
  private(set) var value = LineField()
  private(set) var format: String
  private(set) var mode: WriteMode
  /// The reason why the browser cannot send the value.
  private(set) var problem: String?
  let earlier: [BrowserPeer.Written]
  /// The index of the displayed value in the list of earlier values. Nil while the user types a new value.
  private(set) var place: Int?
  private var draft = LineField()
  private var isEmptyMeant = false

  /// The formats in the order of the manual, without `auto`, which parses typed values as hex.
  static let formats = ValueFormat.names.filter { $0 != "auto" }

  init(_ attribute: Attribute, of peer: PeerAddress, earlier: [BrowserPeer.Written]) {
    self.peer = peer
    self.attribute = attribute
    self.earlier = earlier
    format = earlier.last?.format ?? "hex"
    mode = earlier.last?.mode ?? .auto
  }

  /// The bytes of the typed value.
  var octets: Result<[UInt8], any Error> {
    let text = value.text
    return Result { text.isEmpty ? [] : try ValueFormat(format).parse(text) }
  }

  mutating func handle(_ key: Key) -> Outcome {
    problem = nil
    switch key {
    case .escape: return .cancelled
    case .enter: return send()
    case .tab: go(1)
    case .backTab: go(-1)
    default: edit(key)
    }
    return .editing
  }

  private mutating func send() -> Outcome {
    switch octets {
    case .failure(let error):
      problem = Failure(error).message
      return .editing
    case .success(let octets):
      if octets.isEmpty, !isEmptyMeant {
        isEmptyMeant = true
        problem = "The value is empty. Press Enter again to write it."
        return .editing
      }
      return .write(octets, BrowserPeer.Written(format: format, text: value.text, mode: mode))
    }
  }

  private mutating func go(_ step: Int) {
    let all = Field.allCases
    let index = all.firstIndex(of: field) ?? 0
    field = all[(index + step + all.count) % all.count]
  }

  private mutating func edit(_ key: Key) {
    isEmptyMeant = false
    switch (field, key) {
    case (.value, .up): recall(-1)
    case (.value, .down): recall(1)
    case (.value, _): _ = value.handle(key)
    case (.format, .left), (.format, .up): format = Self.next(format, in: Self.formats, -1)
    case (.format, .right), (.format, .down), (.format, .character(" ")): format = Self.next(format, in: Self.formats, 1)
    case (.format, .character(let letter)):
      // A letter selects the next format that starts with it.
      let from = Self.formats.firstIndex(of: format) ?? 0
      let others = Self.formats[(from + 1)...] + Self.formats[...from]
      format = others.first { $0.first == letter } ?? format
    case (.mode, .left), (.mode, .up): mode = WriteMode(rawValue: Self.next(mode.rawValue, in: Self.modes, -1)) ?? mode
    case (.mode, .right), (.mode, .down), (.mode, .character(" ")):
      mode = WriteMode(rawValue: Self.next(mode.rawValue, in: Self.modes, 1)) ?? mode
    default: break
    }
  }

  private static let modes = WriteMode.allCases.map(\.rawValue)

  private static func next(_ now: String, in all: [String], _ step: Int) -> String {
    let index = all.firstIndex(of: now) ?? 0
    return all[(index + step + all.count) % all.count]
  }

  /// Replaces the typed value by an earlier or later value, with the format and mode of that value.
  private mutating func recall(_ step: Int) {
    guard !earlier.isEmpty else { return }
    let index = (place ?? earlier.count) + step
    guard index >= 0 else { return }
    if place == nil { draft = value }
    guard index < earlier.count else {
      place = nil
      value = draft
      return
    }
    place = index
    value = LineField(earlier[index].text)
    format = earlier[index].format
    mode = earlier[index].mode
  }
}
