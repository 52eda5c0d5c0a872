import Text

/// Readers of values that only device files have.
extension FileEntry {
  /// Reads text for people: one printable line, not empty.
  func words(limit: Int = 256) throws(FileEntryError) -> String {
    let text = try string()
    guard (1...limit).contains(text.utf8.count), DisplayText.escape(text) == text.replacing("\\", with: "\\\\") else {
      throw error("Expected printable text of 1 to \(limit) bytes.")
    }
    return text
  }

  /// Checks a name that people type, as in `level=5`.
  func checkName(_ name: String) throws(FileEntryError) {
    let isPlain = name.utf8.allSatisfy {
      switch $0 {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F, 0x2D: true
      default: false
      }
    }
    guard isPlain, (1...64).contains(name.utf8.count), name.first != "-" else {
      throw error("Invalid name \(DisplayText.quote(name)). Use up to 64 letters, digits, _ and -.")
    }
  }

  func name() throws(FileEntryError) -> String {
    let name = try string()
    try checkName(name)
    return name
  }

  /// Reads a number, whole or not.
  package func decimal(in range: ClosedRange<Double>) throws(FileEntryError) -> Double {
    let number = try decimal()
    guard range.contains(number) else { throw error("\(number) is not in \(range.lowerBound)…\(range.upperBound).") }
    return number
  }

  /// Reads a number without limits.
  func decimal() throws(FileEntryError) -> Double {
    guard case .number(let text) = tree.kind else { throw mismatch("a number") }
    if let whole = NumberField.integer(text) { return Double(whole) }
    guard text.utf8.count <= 64, let number = Double(text), number.isFinite else {
      throw error("\(DisplayText.quote(text)) is not a number, or is too large.")
    }
    return number
  }

  /// Reads a value that fits the field, in the forms of `Frame.Field.parse`.
  package func value(of field: Frame.Field) throws(FileEntryError) -> DeviceValue {
    let value = try literal(of: field)
    do { return try field.canonical(value) } catch { throw self.error(error.description) }
  }

  private func literal(of field: Frame.Field) throws(FileEntryError) -> DeviceValue {
    do {
      switch (tree.kind, field) {
      case (.string(let text), _): return try field.parse(text)
      case (.number(let text), .number), (.number(let text), .bit): return try field.parse(text)
      case (.array, .list(let list)): return .list(try items(of: list))
      default: break
      }
    } catch let fault as FieldFault {
      throw error(fault.description)
    } catch let error as FileEntryError {
      throw error
    } catch { throw self.error("\(error)") }
    throw error("The value of \(field.name) cannot be \(tree.noun).")
  }

  private func items(of list: Frame.ListField) throws(FileEntryError) -> [DeviceValue] {
    var values: [DeviceValue] = []
    for item in try bounded() {
      switch list.item {
      case .number(let field): values.append(try item.value(of: .number(field)))
      case .group(let pieces): values.append(.object(try item.members(of: pieces.flatMap(Frame.fields))))
      }
    }
    return values
  }

  private func members(of fields: [Frame.Field]) throws(FileEntryError) -> [NamedValue] {
    let members = try object(fields.map(\.name))
    var values: [NamedValue] = []
    for field in fields {
      guard let member = members[field.name] else { throw error("Missing \(field.name).") }
      values.append(NamedValue(field.name, try member.value(of: field)))
    }
    return values
  }
}

extension FieldFault: CustomStringConvertible {
  /// The fault of the value of the field.
  package var description: String {
    func choice(_ names: [String]) -> String { names.isEmpty ? "" : " Use \(names.joined(separator: ", "))." }
    return switch reason {
    case .missing: "\(field): Missing value."
    case .notANumber: "\(field): Expected a number."
    case .noNumber(let text): "\(field): \(DisplayText.quote(text)) is not a number."
    case .notWhole(let text): "\(field): \(text) is not a whole number."
    case .betweenSteps(let text, let nearest): "\(field): \(text) cannot be sent. The nearest value is \(nearest)."
    case .outOfRange(let text, let range?): "\(field): \(text) is out of range (\(range))."
    case .outOfRange(let text, nil): "\(field): \(text) does not fit."
    case .unknownName(let text, let names): "\(field): Unknown value \(DisplayText.quote(text)).\(choice(names))"
    case .notHex(let text): "\(field): Invalid hex \(DisplayText.quote(text))"
    case .oddDigits(let error): "\(field): \(error)"
    case .notText: "\(field): Expected text."
    case .notBytes: "\(field): Expected bytes."
    case .notAList: "\(field): Expected a list."
    case .wrongLength(let count, let allowed, let unit): "\(field): Expected \(allowed) \(unit.rawValue), found \(count)."
    case .tooLong(let count, let allowed, let unit): "\(field): Too long: \(count) \(unit.rawValue) (maximum \(allowed))."
    }
  }
}
