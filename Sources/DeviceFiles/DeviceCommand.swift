package import GATT

/// Something that a device does when it is told to, and how it answers.
package struct DeviceCommand: Sendable, Equatable {
  package var name: String
  package var summary: String?
  package var to: DeviceCharacteristic
  package var mode = WriteMode.auto
  /// Octets of a segment; nil: what fits.
  package var chunk: Int?
  /// Between two segments.
  package var gap = Duration.zero
  package var request: Frame
  /// In the order of the request; without `counter`.
  package var parameters: [Parameter] = []
  /// The field of the request that counts the requests of a link.
  package var counter: String?
  /// Nil: it has none.
  package var answer: Answer?

  package struct Parameter: Sendable, Equatable {
    package var field: Frame.Field
    /// In the unit of the field.
    package var least: Double?
    package var greatest: Double?
    /// Nil: it must be given.
    package var defaultValue: DeviceValue?
    package var summary: String?

    package var name: String { field.name }
  }

  package struct Answer: Sendable, Equatable {
    package var from: DeviceCharacteristic
    /// One after the other; at least one.
    package var parts: [Part]
    /// To the first packet, and from one to the next.
    package var limit: Duration
    package var errors: Errors?
    /// Fields that must be in the answer what they are in the request.
    package var echo: [String] = []

    /// No answer has more packets.
    package static let maximumPackets = 65_536
    package static let defaultLimit = Duration.seconds(5)
  }

  /// Packets of one frame.
  package struct Part: Sendable, Equatable {
    package var frame: Frame
    package var end = End.count(1)
    package var index: Index?
    /// The values are a list of objects with this name.
    package var group: String?

    package enum End: Sendable, Equatable {
      case count(Int)
      /// As many packets as a field says: of this part, or of one before.
      case field(String)
      /// With the packet in which the field is that.
      case value(field: String, DeviceValue)
      /// When no packet came for so long.
      case silence(Duration)
    }

    /// A field that numbers the packets.
    package struct Index: Sendable, Equatable {
      package var field: String
      package var first: Int
    }

    /// It may have another number of packets than one.
    package var repeats: Bool { end != .count(1) }
  }

  /// How the device says that it did not do it.
  package struct Errors: Sendable, Equatable {
    /// Nil: a field of the answer says it.
    package var frame: Frame?
    package var field: String
    /// Values that are no error; of a frame of its own all are.
    package var fine: [DeviceValue] = []
    /// By what `key` says of the value.
    package var meanings: [String: String] = [:]

    /// What a value is called in the file.
    package static func key(_ value: DeviceValue) -> String { value.plainText }
  }

  // MARK: Requests

  /// The request with these parameters, and with defaults for others.
  /// - Parameter number: what the counter says; its field takes the lowest bits.
  /// - Throws: for a parameter that is missing, or that its field or its range does not allow.
  package func encode(_ values: [NamedValue], number: Int64 = 0) throws(FieldFault) -> (octets: [UInt8], values: [NamedValue]) {
    var all: [NamedValue] = []
    for parameter in parameters {
      guard let value = values[parameter.name] ?? parameter.defaultValue else {
        throw FieldFault(field: parameter.name, reason: .missing)
      }
      // As it goes over the air: an answer says it so.
      let canonical = try parameter.field.canonical(value)
      try parameter.check(canonical)
      all.append(NamedValue(parameter.name, canonical))
    }
    if let counter, let value = request.field(counter)?.value(of: number) { all.append(NamedValue(counter, value)) }
    return (try request.encode(all), all)
  }

  /// What a device makes of it; nil when it is not this command, or one of its parameters is not in its range.
  package func decode(_ written: [UInt8]) -> [NamedValue]? {
    guard let values = try? request.decode(written) else { return nil }
    for parameter in parameters {
      guard let value = values[parameter.name], (try? parameter.check(value)) != nil else { return nil }
    }
    return values
  }
}

extension DeviceCommand.Parameter {
  /// What is typed for it. - Throws: what is wrong with it.
  package func parse(_ text: String) throws(FieldFault) -> DeviceValue {
    let value = try field.parse(text)
    try check(value)
    return value
  }

  /// The range, of a number or of each of a list.
  package func check(_ value: DeviceValue) throws(FieldFault) {
    if case .list(let items) = value {
      for item in items { try check(item) }
      return
    }
    guard least != nil || greatest != nil, let number = field.double(value) else { return }
    guard number >= least ?? -.infinity, number <= greatest ?? .infinity else {
      throw FieldFault(field: name, reason: .outOfRange(value.plainText, rangeText))
    }
  }

  /// `1 to 30`; nil when nothing limits it but its field.
  package var rangeText: String? {
    func text(_ number: Double) -> String { DeviceValue.number(number).plainText }
    switch (least, greatest) {
    case (let least?, let greatest?): return "\(text(least)) to \(text(greatest))"
    case (let least?, nil): return "\(text(least)) or more"
    case (nil, let greatest?): return "at most \(text(greatest))"
    case (nil, nil): return nil
    }
  }
}
