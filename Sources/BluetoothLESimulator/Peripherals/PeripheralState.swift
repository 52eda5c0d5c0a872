// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE
import BluetoothLEDeviceFiles
import BluetoothLEText

/// The state of a virtual device: variables, clock, random numbers and subscriptions.
/// Its methods evaluate expressions without I/O. They compute at most `work` bytes.
package struct PeripheralState: Sendable {
  package enum Value: Sendable, Equatable {
    case number(Int64)
    case bytes([UInt8])
  }

  package private(set) var variables: [Value]
  /// The number of subscribed clients, by the handle of the characteristic value.
  package var subscribers: [AttributeHandle: Int] = [:]
  /// The time of the loop's clock in nanoseconds. The caller sets it with each event.
  package var now: Int64
  /// The number of bytes that the device may still compute. At 0, values are empty and conditions do not hold.
  package var work = PeripheralState.workPerEvent

  /// The maximum number of bytes that the actions of a peripheral file may compute for one event.
  package static let workPerEvent = 1 << 20
  /// The maximum length of an intermediate result, in bytes. Stored and sent values are shorter.
  static let longest = 65_536

  private var random: SeededRandom
  private let began: Int64
  /// The creation time of the device in nanoseconds since 1970-01-01T00:00:00Z.
  private let wallClock: Int64
  /// The number of seconds by which actions have moved the device's clock forward, negative for backward.
  private var clockOffset: Int64 = 0
  /// The last second of the year 9999, in seconds since 1970-01-01T00:00:00Z.
  private static let latest: Int64 = 253_402_300_799

  /// Creates the initial state of a device. `seed` and `stream` determine the random numbers.
  /// - Parameter now: The time of the loop's clock in nanoseconds.
  /// - Parameter wallClock: The time `now` in nanoseconds since 1970-01-01T00:00:00Z.
  package init(variables: [Value], now: Int64, wallClock: Int64, seed: UInt64, stream: UInt64) {
    self.variables = variables
    self.now = now
    began = now
    self.wallClock = wallClock
    random = SeededRandom(seed: seed, stream: stream)
  }

  /// The device's clock in seconds since 1970-01-01T00:00:00Z.
  private var clock: Int64 {
    let elapsed = wallClock.addingReportingOverflow(now &- began)
    return (elapsed.overflow ? Int64.max : elapsed.partialValue) / 1_000_000_000 + clockOffset
  }

  package mutating func setClock(_ seconds: Int64) { clockOffset += min(max(0, seconds), Self.latest) - clock }

  /// Sets the variable with this zero-based index. Does nothing for an unknown index, or for a number in place of bytes or the reverse.
  package mutating func assign(_ value: Value, to variable: Int) {
    guard variables.indices.contains(variable) else { return }
    switch (variables[variable], value) {
    case (.number, .number): variables[variable] = value
    case (.bytes, .bytes(let bytes)): variables[variable] = .bytes(Array(bytes.prefix(AttributeDatabase.maximumValueLength)))
    default: break
    }
  }

  /// Subtracts `cost`, a number of bytes, from `work`. Returns whether the result is greater than 0.
  mutating func spend(_ cost: Int) -> Bool {
    work = max(0, work - cost)
    return work > 0
  }

  // MARK: Bytes

  /// Evaluates a template and truncates the result to 512 bytes, the maximum length of an attribute value.
  package mutating func value(_ template: Template, written: [UInt8], _ database: AttributeDatabase) -> [UInt8] {
    Array(bytes(template, written, database).prefix(AttributeDatabase.maximumValueLength))
  }

  /// Evaluates the parts of a template in order until the result has `longest` bytes.
  /// - Parameter before: The bytes before the template, which a checksum of all preceding parts includes.
  private mutating func bytes(
    _ template: Template, _ written: [UInt8], _ database: AttributeDatabase, after before: [UInt8] = []
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    for part in template.parts {
      bytes += self.bytes(part, after: before + bytes, written, database)
      guard bytes.count < Self.longest else { break }
    }
    return bytes
  }

  private mutating func bytes(_ part: Template.Part, after before: [UInt8], _ written: [UInt8], _ database: AttributeDatabase) -> [UInt8] {
    guard spend(1) else { return [] }
    let made: [UInt8]
    switch part {
    case .bytes(let literal): made = literal
    case .valueOf(let handle): made = database[handle]?.value ?? []
    case .written: made = written
    case .variable(let number): made = if case .bytes(let bytes)? = value(of: number) { bytes } else { [] }
    case .number(let number, let format): made = format.bytes(of: self.number(number, written, database))
    case .random(let count): made = (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next() >> 56) }
    case .checksum(let checksum, let order, let template):
      let covered = template.map { bytes($0, written, database) } ?? before
      guard spend(covered.count) else { return [] }
      made = checksum.bytes(of: covered, order)
    case .authentication(let algorithm, let message, let key):
      let (message, key) = (bytes(message, written, database), bytes(key, written, database))
      guard spend(message.count + 1024) else { return [] }
      made = algorithm.code(of: message, key: key) ?? []
    case .exclusiveOr(let template, let other):
      let (bytes, other) = (bytes(template, written, database), bytes(other, written, database))
      made = other.isEmpty ? bytes : bytes.indices.map { bytes[$0] ^ other[$0 % other.count] }
    case .frame(let template): made = bytes(template, written, database)
    case .parameter(let name, let request):
      switch (try? request.decode(written))?[name] {
      case .bytes(let bytes)?: made = bytes
      case .text(let text)?: made = Array(text.utf8)
      case .integer?, .number?, .list?, .object?, nil: made = []
      }
    case .cut(let template, let from, let count):
      let bytes = bytes(template, written, database, after: before)
      let rest = from >= 0 ? bytes.dropFirst(from) : bytes.suffix(-from)
      made = Array(count.map { $0 >= 0 ? rest.prefix($0) : rest.dropLast(-$0) } ?? rest)
    }
    return spend(made.count) ? made : []
  }

  private func value(of variable: Int) -> Value? { variables.indices.contains(variable) ? variables[variable] : nil }

  // MARK: Numbers

  package mutating func number(_ expression: NumberExpression, _ written: [UInt8], _ database: AttributeDatabase) -> Int64 {
    guard spend(1) else { return 0 }
    switch expression {
    case .literal(let number): return number
    case .variable(let variable): return if case .number(let number)? = value(of: variable) { number } else { 0 }
    case .random(let range):
      let width = UInt64(bitPattern: range.upperBound &- range.lowerBound)
      let drawn = width == .max ? random.next() : random.next() % (width + 1)
      return range.lowerBound &+ Int64(bitPattern: drawn)
    case .clock(let field): return clock(field)
    case .length(let template): return Int64(bytes(template, written, database).count)
    case .read(let template, let format): return format.number(in: bytes(template, written, database))
    case .parameter(let name, let request):
      guard spend(written.count), let values = try? request.decode(written), let value = values[name] else { return 0 }
      return request.field(name)?.number(in: value) ?? 0
    case .subscribers(let handle): return Int64(subscribers[handle] ?? 0)
    case .arithmetic(let operation, let operands):
      guard let first = operands.first else { return 0 }
      var result = number(first, written, database)
      for operand in operands.dropFirst() { result = operation(result, number(operand, written, database)) }
      return result
    }
  }

  /// Returns a time in nanoseconds. Limits a computed time to its range.
  mutating func nanoseconds(_ time: DeviceTime, _ written: [UInt8], _ database: AttributeDatabase) -> Int64 {
    let milliseconds = if case .literal(let number) = time.number { number } else { number(time.number, written, database) }
    return min(max(milliseconds, time.range.lowerBound), time.range.upperBound) &* 1_000_000
  }

  private func clock(_ field: NumberExpression.ClockField) -> Int64 {
    let fields = Timestamp.Fields(seconds: clock)
    return switch field {
    case .unix: clock
    case .year: fields.year
    case .month: fields.month
    case .day: fields.day
    case .hour: fields.hour
    case .minute: fields.minute
    case .second: fields.second
    case .weekday: fields.weekday
    case .uptime_ms: (now &- began) / 1_000_000
    }
  }

  // MARK: Conditions

  package mutating func holds(_ condition: Condition, written: [UInt8], _ database: AttributeDatabase) -> Bool {
    guard spend(1) else { return false }
    switch condition {
    case .all(let conditions):
      for condition in conditions where !holds(condition, written: written, database) { return false }
      return work > 0
    case .any(let conditions):
      for condition in conditions where holds(condition, written: written, database) { return true }
      return false
    case .not(let condition): return !holds(condition, written: written, database) && work > 0
    case .number(let left, let comparison, let right):
      return comparison(number(left, written, database), number(right, written, database)) && work > 0
    case .bytes(let left, let isEqual, let right):
      return (bytes(left, written, database) == bytes(right, written, database)) == isEqual && work > 0
    case .matches(let template, let pattern): return pattern.matches(bytes(template, written, database)) && work > 0
    }
  }
}
