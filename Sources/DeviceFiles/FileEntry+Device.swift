import Text

/// What device files have besides.
extension FileEntry {
  /// Text for people: something, on one line, without what a terminal might obey.
  func words(limit: Int = 256) throws(FileEntryError) -> String {
    let text = try string()
    guard (1...limit).contains(text.utf8.count), DisplayText.escape(text) == text.replacing("\\", with: "\\\\") else {
      throw error("text of 1 to \(limit) octets that can be printed should be here")
    }
    return text
  }

  /// A name that is typed: `level=5`.
  func checkName(_ name: String) throws(FileEntryError) {
    let isPlain = name.utf8.allSatisfy {
      switch $0 {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F, 0x2D: true
      default: false
      }
    }
    guard isPlain, (1...64).contains(name.utf8.count), name.first != "-" else {
      throw error("\(DisplayText.quote(name)) cannot be a name: letters, digits, _ and -, at most 64 of them")
    }
  }

  func name() throws(FileEntryError) -> String {
    let name = try string()
    try checkName(name)
    return name
  }

  /// A number with or without a fraction.
  package func decimal(in range: ClosedRange<Double>) throws(FileEntryError) -> Double {
    let number = try decimal()
    guard range.contains(number) else { throw error("\(number) is not in \(range.lowerBound)…\(range.upperBound)") }
    return number
  }

  /// The same without limits.
  func decimal() throws(FileEntryError) -> Double {
    guard case .number(let text) = tree.kind else { throw error("\(tree.noun) where a number should be") }
    if let whole = NumberField.integer(text) { return Double(whole) }
    guard text.utf8.count <= 64, let number = Double(text), number.isFinite else {
      throw error("\(DisplayText.quote(text)) is not a number of a sensible size")
    }
    return number
  }

  /// A value as `Frame.Field.parse` takes it, which fits the field.
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
    throw error("\(tree.noun), which cannot be a value of \(field.name)")
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
      guard let member = members[field.name] else { throw error("it has no \(field.name)") }
      values.append(NamedValue(field.name, try member.value(of: field)))
    }
    return values
  }
}

extension FieldFault: CustomStringConvertible {
  /// What is wrong with the value, without what to do about it.
  package var description: String {
    func choice(_ names: [String]) -> String { names.isEmpty ? "" : "; there are \(names.joined(separator: ", "))" }
    return switch reason {
    case .missing: "\(field) has no value"
    case .notANumber: "\(field) is a number"
    case .noNumber(let text): "\(field): \(DisplayText.quote(text)) is not a number"
    case .notWhole(let text): "\(field): \(text) is not a whole number"
    case .betweenSteps(let text, let nearest): "\(field): \(text) cannot be sent; the nearest that can is \(nearest)"
    case .outOfRange(let text, let range?): "\(field): \(text) is not in its range, \(range)"
    case .outOfRange(let text, nil): "\(field): \(text) does not fit"
    case .unknownName(let text, let names): "\(field): \(DisplayText.quote(text)) is none of its values\(choice(names))"
    case .notHex(let text): "\(field): \(DisplayText.quote(text)) is not hex"
    case .oddDigits(let error): "\(field): \(error)"
    case .notText: "\(field) is text"
    case .notBytes: "\(field) is octets"
    case .notAList: "\(field) is a list"
    case .wrongLength(let count, let allowed, let unit): "\(field) has \(count), not \(allowed) \(unit.rawValue)"
    case .tooLong(let count, let allowed, let unit): "\(field) has \(count), at most \(allowed) \(unit.rawValue) fit"
    }
  }
}
