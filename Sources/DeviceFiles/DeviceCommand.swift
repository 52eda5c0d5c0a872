package import GATT

/// A command of a device, and its answer.
package struct DeviceCommand: Sendable, Equatable {
  package var name: String
  package var summary: String?
  package var to: DeviceCharacteristic
  package var mode = WriteMode.auto
  /// The number of bytes per segment. Nil for as many as fit.
  package var chunk: Int?
  /// The pause between two segments.
  package var gap = Duration.zero
  package var request: Frame
  /// The parameters in the order of the request, without `counter`.
  package var parameters: [Parameter] = []
  /// The request field that counts the requests on a link.
  package var counter: String?
  /// The answer. Nil if the command has none.
  package var answer: Answer?

  package struct Parameter: Sendable, Equatable {
    package var field: Frame.Field
    /// The smallest value, in the unit of the field.
    package var least: Double?
    package var greatest: Double?
    /// The default. Nil if the parameter is required.
    package var defaultValue: DeviceValue?
    package var summary: String?

    package var name: String { field.name }
  }

  package struct Answer: Sendable, Equatable {
    package var from: DeviceCharacteristic
    /// The parts of the answer in their order, at least one.
    package var parts: [Part]
    /// The longest wait for the first packet, and between packets.
    package var limit: Duration
    package var errors: Errors?
    /// Fields that must have the same value in the answer as in the request.
    package var echo: [String] = []

    /// The maximum number of packets of an answer.
    package static let maximumPackets = 65_536
    package static let defaultLimit = Duration.seconds(5)
  }

  /// A part of an answer: packets of one frame.
  package struct Part: Sendable, Equatable {
    package var frame: Frame
    package var end = End.count(1)
    package var index: Index?
    /// The name of the list of objects that holds the values. Nil without a list.
    package var group: String?

    package enum End: Sendable, Equatable {
      case count(Int)
      /// Ends after the number of packets in a field of this or an earlier part.
      case field(String)
      /// Ends with the packet in which a field has this value.
      case value(field: String, DeviceValue)
      /// Ends after a pause of this length.
      case silence(Duration)
    }

    /// A field that numbers the packets.
    package struct Index: Sendable, Equatable {
      package var field: String
      package var first: Int
    }

    /// Whether the part may have a number of packets other than one.
    package var repeats: Bool { end != .count(1) }
  }

  /// The device's way to report an error.
  package struct Errors: Sendable, Equatable {
    /// The frame of an error. Nil if a field of the answer holds the code.
    package var frame: Frame?
    package var field: String
    /// Values that mean no error. Empty: every value of an error frame is an error.
    package var fine: [DeviceValue] = []
    /// The meanings of codes, by `key`.
    package var meanings: [String: String] = [:]

    /// Returns the key of a code in the file.
    package static func key(_ value: DeviceValue) -> String { value.plainText }
  }

  // MARK: Requests

  /// Encodes the request with these parameters. Defaults replace missing ones.
  /// - Parameter number: the value of the counter, whose field holds the lowest bits.
  /// - Throws: FieldFault for a missing parameter, or one outside of its field or range.
  package func encode(_ values: [NamedValue], number: Int64 = 0) throws(FieldFault) -> (octets: [UInt8], values: [NamedValue]) {
    var all: [NamedValue] = []
    for parameter in parameters {
      guard let value = values[parameter.name] ?? parameter.defaultValue else { throw FieldFault(field: parameter.name, reason: .missing) }
      // Use the value as it is sent, because an answer echoes that.
      let canonical = try parameter.field.canonical(value)
      try parameter.check(canonical)
      all.append(NamedValue(parameter.name, canonical))
    }
    if let counter, let value = request.field(counter)?.value(of: number) { all.append(NamedValue(counter, value)) }
    return (try request.encode(all), all)
  }

  /// Decodes a written value as the device does. Nil if the value is another command, or a parameter is out of range.
  package func decode(_ written: [UInt8]) -> [NamedValue]? {
    guard let values = try? request.decode(written) else { return nil }
    for parameter in parameters {
      guard let value = values[parameter.name], (try? parameter.check(value)) != nil else { return nil }
    }
    return values
  }
}

extension DeviceCommand.Parameter {
  /// Parses and checks a typed value.
  package func parse(_ text: String) throws(FieldFault) -> DeviceValue {
    let value = try field.parse(text)
    try check(value)
    return value
  }

  /// Checks the range of a number, or of each number in a list.
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

  /// The range as text: `1 to 30`. Nil if only the field limits the value.
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
