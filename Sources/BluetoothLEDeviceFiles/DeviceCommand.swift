// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE

/// A command from a device file: the request to write, and the answer to expect.
package struct DeviceCommand: Sendable, Equatable {
  package var name: String
  package var summary: String?
  package var to: DeviceCharacteristic
  package var mode = WriteMode.auto
  /// The number of request bytes per segment, 1–512. Nil sends the largest segments that fit.
  package var chunk: Int?
  /// The pause between two segments of the request.
  package var gap = Duration.zero
  package var request: Frame
  /// The request fields that a caller can set, in the order of the request. The field `counter` is not a parameter.
  package var parameters: [Parameter] = []
  /// The name of the request field that holds the number of the request. Nil if requests have no number.
  package var counter: String?
  /// The expected answer. Nil if the device does not answer the command.
  package var answer: Answer?

  package struct Parameter: Sendable, Equatable {
    package var field: Frame.Field
    /// The smallest allowed value, in the unit of the field. Nil for no minimum.
    package var least: Double?
    package var greatest: Double?
    /// The value for a call that omits the parameter. Nil if every call must set the parameter.
    package var defaultValue: DeviceValue?
    package var summary: String?

    package var name: String { field.name }
  }

  package struct Answer: Sendable, Equatable {
    package var from: DeviceCharacteristic
    /// The parts of the answer in order of arrival, at least one.
    package var parts: [Part]
    /// The longest wait for the first packet, and between packets.
    package var limit: Duration
    package var errors: Errors?
    /// The names of fields that must have the same value in the answer as in the request.
    package var echo: [String] = []

    package static let maximumPackets = 65_536
    package static let defaultLimit = Duration.seconds(5)
  }

  /// A sequence of packets with the same frame within an answer.
  package struct Part: Sendable, Equatable {
    package var frame: Frame
    package var end = End.count(1)
    package var index: Index?
    /// The name of the list that collects the values of each packet as an object. Nil leaves the values ungrouped.
    package var group: String?

    package enum End: Sendable, Equatable {
      case count(Int)
      /// The part ends after the number of packets that the named field of this or an earlier part holds.
      case field(String)
      /// The part ends with the packet in which the named field has this value.
      case value(field: String, DeviceValue)
      /// The part ends when the device sends no packet for this duration.
      case silence(Duration)
    }

    /// The field that numbers the packets of a part, and the number of the first packet.
    package struct Index: Sendable, Equatable {
      package var field: String
      package var first: Int
    }
  }

  /// The fields and values with which a device reports an error.
  package struct Errors: Sendable, Equatable {
    /// The frame of an error packet. Nil if a field of the answer's own frames holds the code.
    package var frame: Frame?
    package var field: String
    /// The codes that mean no error. If the list is empty, every code in an error frame is an error.
    package var fine: [DeviceValue] = []
    /// The meanings of error codes. Each key is an error code as text, as `key(_:)` returns it.
    package var meanings: [String: String] = [:]

    /// Returns the text that represents an error code in the `codes` of a device file.
    package static func key(_ value: DeviceValue) -> String { value.plainText }
  }

  // MARK: Requests

  /// Encodes a request with these parameters, and with defaults for missing parameters. Returns the request and the values of its fields.
  /// - Parameter number: The number for the field `counter`, truncated to the width of the field.
  /// - Throws: `FieldFault` if a parameter is missing, out of range, or does not fit its field.
  package func encode(_ values: [NamedValue], number: Int64 = 0) throws(FieldFault) -> (bytes: [UInt8], values: [NamedValue]) {
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

  /// Decodes a written value as the device does. Returns nil if the value is another command, or if a parameter is out of range.
  package func decode(_ written: [UInt8]) -> [NamedValue]? {
    guard let values = try? request.decode(written) else { return nil }
    for parameter in parameters {
      guard let value = values[parameter.name], (try? parameter.check(value)) != nil else { return nil }
    }
    return values
  }
}

extension DeviceCommand.Parameter {
  /// Parses text that a user typed as a value of the field, and checks the range of the value.
  package func parse(_ text: String) throws(FieldFault) -> DeviceValue {
    let value = try field.parse(text)
    try check(value)
    return value
  }

  /// Checks that a number, or each number in a list, is between `least` and `greatest`.
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

  /// The allowed values as text, such as `1 to 30` or `at most 30`. Nil if `least` and `greatest` are nil.
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
