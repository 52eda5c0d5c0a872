import BluetoothLE
import Presentation
import Terminal

/// The form in which the user types a value to write and selects its format and mode.
struct WriteForm: Equatable {
  enum Field: CaseIterable { case value, format, mode }

  enum Outcome: Equatable {
    case editing
    case cancelled
    case write([UInt8], WrittenValue)
  }

  let peer: PeerAddress
  let attribute: Attribute
  private(set) var field = Field.value
  private(set) var value = LineField()
  private(set) var format: String
  private(set) var mode: WriteMode
  /// The reason why blectl cannot write the typed value. Nil until the user presses Enter, and after the next key.
  private(set) var problem: String?
  let earlier: [WrittenValue]
  /// The zero-based index of the displayed value in `earlier`. Nil while the user types a new value.
  private(set) var earlierIndex: Int?
  private var draft = LineField()
  private var isEmptyMeant = false

  /// The formats that the user can select. The list omits `auto`, which parses typed values as hex.
  static let formats = ValueFormat.names.filter { $0 != "auto" }

  init(_ attribute: Attribute, of peer: PeerAddress, earlier: [WrittenValue]) {
    (self.peer, self.attribute, self.earlier) = (peer, attribute, earlier)
    format = earlier.last?.format ?? "hex"
    mode = earlier.last?.mode ?? .auto
  }

  /// The bytes of the typed value, or the error if the text does not fit the format.
  var bytes: Result<[UInt8], any Error> {
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
    switch bytes {
    case .failure(let error):
      problem = Failure(error).message
      return .editing
    case .success(let bytes):
      if bytes.isEmpty, !isEmptyMeant {
        isEmptyMeant = true
        problem = "The value is empty. Press Enter again to write it."
        return .editing
      }
      return .write(bytes, WrittenValue(format: format, text: value.text, mode: mode))
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
    case (.format, .right), (.format, .down), (.format, " "): format = Self.next(format, in: Self.formats, 1)
    case (.format, .character(let letter)):
      // A letter selects the next format that starts with it.
      let from = Self.formats.firstIndex(of: format) ?? 0
      let others = Self.formats[(from + 1)...] + Self.formats[...from]
      format = others.first { $0.first == letter } ?? format
    case (.mode, .left), (.mode, .up): mode = WriteMode(rawValue: Self.next(mode.rawValue, in: Self.modes, -1)) ?? mode
    case (.mode, .right), (.mode, .down), (.mode, " "):
      mode = WriteMode(rawValue: Self.next(mode.rawValue, in: Self.modes, 1)) ?? mode
    default: break
    }
  }

  private static let modes = WriteMode.allCases.map(\.rawValue)

  private static func next(_ now: String, in all: [String], _ step: Int) -> String {
    let index = all.firstIndex(of: now) ?? 0
    return all[(index + step + all.count) % all.count]
  }

  /// Shows the value that is `step` places later in `earlier`, with its format and mode. A negative step shows an earlier value.
  private mutating func recall(_ step: Int) {
    guard !earlier.isEmpty else { return }
    let index = (earlierIndex ?? earlier.count) + step
    guard index >= 0 else { return }
    if earlierIndex == nil { draft = value }
    guard index < earlier.count else {
      earlierIndex = nil
      value = draft
      return
    }
    earlierIndex = index
    value = LineField(earlier[index].text)
    format = earlier[index].format
    mode = earlier[index].mode
  }

  // MARK: Drawing

  /// Draws the form inside a box. Returns no cursor unless the user edits the value.
  func draw(_ renderer: LineRenderer, in box: BrowserLayout.Box, command: String) -> (lines: [Frame.Line], cursor: Frame.Cursor?) {
    let width = box.width - 2
    func row(_ name: String, _ field: Field, _ text: String, _ hint: String) -> Frame.Line {
      let isHere = self.field == field
      return renderer.line(
        [
          Span(isHere ? "▸ " : "  ", .cyan), Span(renderer.pad(name, to: 8), isHere ? .bold : .plain),
          Span(text, isHere ? .bold : .plain),
        ],
        right: isHere ? [Span(hint, .dim)] : [], width: width)
    }
    // If the value is longer than the line, show the part around the cursor.
    let room = width - 12
    let (shown, column) = value.visible(room, renderer)
    let history =
      earlier.isEmpty
      ? "" : earlierIndex.map { "earlier value \($0 + 1) of \(earlier.count)" } ?? "↑ \(earlier.count) earlier"
    let isShort = DisplayText.width(shown) + history.count < room
    var lines = [
      row("value", .value, shown, isShort ? history : ""), row("format", .format, format, "← → change"),
      row("mode", .mode, mode.rawValue, "← → change"), renderer.line([], width: width),
    ]
    lines.append(renderer.line(problem.map { [Span(renderer.message($0), .red)] } ?? preview(renderer), width: width))
    lines.append(warning(width, renderer))
    lines.append(renderer.line([Span("= " + renderer.message(command), .dim)], width: width))
    let uuid = attribute.uuid
    let name = uuid.flatMap { AssignedNumbers.name(of: $0) }.map { "\(renderer.safe($0)) " } ?? ""
    let title = Span("Write \(name)\(uuid?.description ?? "") \(attribute.handle)", .bold)
    let cursor = Frame.Cursor(row: box.row + 1, column: min(box.width - 2, 11 + column))
    return (renderer.box([title], lines, in: box, isFocused: true), field == .value && box.height > 2 ? cursor : nil)
  }

  /// Returns the typed value as hex bytes, or the error if the text does not fit the format.
  private func preview(_ renderer: LineRenderer) -> [Span] {
    switch bytes {
    case .success(let bytes):
      let hex = bytes.prefix(64).map { Hex.encode([$0]) }.joined(separator: " ")
      return [Span("  " + Quantity.bytes(bytes.count), .dim), Span(bytes.isEmpty ? "" : "  " + hex)]
    case .failure(let error):
      // The value may be incomplete, so this is not a problem before Enter.
      return [Span("  " + renderer.message(Failure(error).message), .dim)]
    }
  }

  private func warning(_ width: Int, _ renderer: LineRenderer) -> Frame.Line {
    guard let properties = attribute.properties, properties.isDisjoint(with: [.write, .writeWithoutResponse]) else {
      return renderer.line([], width: width)
    }
    return renderer.line(
      [Span("  Not writable according to its properties (\(TreePane.properties(properties))). Enter tries anyway.", .yellow)],
      width: width)
  }
}
