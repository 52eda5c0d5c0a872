// SPDX-License-Identifier: Apache-2.0
/// The RFC 3339 form of times in UTC with milliseconds, and the Gregorian calendar.
package enum Timestamp {
  package static func text(_ nanoseconds: Int64) -> String {
    var text: [UInt8] = []
    append(nanoseconds, to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  /// Parses a time that `text` returned. Nil for any other text.
  package static func nanoseconds(_ time: String) -> Int64? {
    let numbers = time.split { "-T:.Z".contains($0) }.compactMap { Int64($0) }
    guard numbers.count == 7, (1678...2261).contains(numbers[0]), numbers.dropFirst().allSatisfy({ $0 < 1000 }) else { return nil }
    let (year, month) = (numbers[1] > 2 ? numbers[0] : numbers[0] - 1, numbers[1] > 2 ? numbers[1] - 3 : numbers[1] + 9)
    let day = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + numbers[2] - 719_469
    let seconds = ((day * 24 + numbers[3]) * 60 + numbers[4]) * 60 + numbers[5]
    let nanoseconds = (seconds * 1000 + numbers[6]) * 1_000_000
    return text(nanoseconds) == time ? nanoseconds : nil
  }

  /// Appends a time in RFC 3339 form to a text. `nanoseconds` counts from 1970-01-01T00:00:00Z.
  package static func append(_ nanoseconds: Int64, to text: inout [UInt8]) {
    text.append(addingCapacity: 24) { write(nanoseconds, to: &$0) }
  }

  private static func write(_ nanoseconds: Int64, to text: inout ByteOutput) {
    let milliseconds = nanoseconds.flooredDivision(by: 1_000_000)
    let seconds = milliseconds.flooredDivision(by: 1000)
    let day = seconds.flooredDivision(by: 86_400)
    let (year, month, date) = civil(day)
    let second = seconds - day * 86_400
    // Nanoseconds in 64 bits reach from 1677 to 2262.
    add(year, 4, before: "-", to: &text)
    add(month, 2, before: "-", to: &text)
    add(date, 2, before: "T", to: &text)
    add(second / 3600, 2, before: ":", to: &text)
    add(second / 60 % 60, 2, before: ":", to: &text)
    add(second % 60, 2, before: ".", to: &text)
    add(milliseconds - seconds * 1000, 3, before: "Z", to: &text)
  }

  private static func add(_ number: Int64, _ digits: Int, before mark: Unicode.Scalar, to text: inout ByteOutput) {
    var place: Int64 = digits == 4 ? 1000 : digits == 3 ? 100 : 10
    while place > 0 {
      text.append(0x30 &+ UInt8(truncatingIfNeeded: number / place % 10))
      place /= 10
    }
    text.append(UInt8(ascii: mark))
  }

  /// Returns the date of a day, such as `2026-11-22`. `day` is the number of days since 1970-01-01.
  package static func date(day: Int64) -> String {
    let (year, month, date) = civil(day)
    return [("\(year)", 4), ("\(month)", 2), ("\(date)", 2)].map { $0.padded(to: $1, with: "0") }.joined(separator: "-")
  }

  /// The components of a date and time in UTC.
  package struct Fields: Equatable, Sendable {
    package let year, month, day, hour, minute, second: Int64
    /// The day of the week (ISO 8601), from 1 (Monday) to 7 (Sunday).
    package let weekday: Int64

    /// Converts seconds since 1970-01-01T00:00:00Z to a date and time.
    package init(seconds: Int64) {
      let day = seconds.flooredDivision(by: 86_400)
      let second = seconds &- day &* 86_400
      (year, month, self.day) = Timestamp.civil(day)
      (hour, minute, self.second) = (second / 3600, second / 60 % 60, second % 60)
      // 1970-01-01 was a Thursday.
      weekday = (day &+ 3) &- (day &+ 3).flooredDivision(by: 7) &* 7 &+ 1
    }
  }

  /// Returns the Gregorian date for a number of days since 1970-01-01.
  private static func civil(_ day: Int64) -> (year: Int64, month: Int64, date: Int64) {
    let shifted = day + 719_468
    let era = shifted.flooredDivision(by: 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
  }
}

extension String {
  /// Returns the text with characters before it up to a length of `width`.
  package func padded(to width: Int, with filler: String = " ") -> String { String(repeating: filler, count: max(0, width - count)) + self }
}

extension Int64 {
  fileprivate func flooredDivision(by divisor: Int64) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
