/// A version of Linux, such as `6.1.192`.
struct KernelVersion: Comparable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
  private let numbers: [Int]

  /// Parses the upstream version, which distributions report in different files. Nil if `release` is not a version.
  /// - Parameters:
  ///   - release: /proc/sys/kernel/osrelease (`6.1.0-27-amd64`). Distributions leave the last number at 0.
  ///   - version: /proc/sys/kernel/version, which is exact on Debian (`#1 SMP PREEMPT_DYNAMIC Debian 6.1.115-1 (2024-11-01)`).
  ///   - signature: /proc/version_signature, which is exact on Ubuntu (`Ubuntu 6.8.0-52.53-generic 6.8.12`).
  init?(release: String, version: String = "", signature: String = "") {
    guard let plain = Self.numbers(release[...]) else { return nil }
    let debian = version.split(separator: " ").drop { $0 != "Debian" }.dropFirst().first.map { String($0) }
    let exact = [debian, signature.split(separator: " ").last.map { String($0) }].compactMap { $0.flatMap { Self.numbers($0[...]) } }
    numbers = exact.first { $0.prefix(2) == plain.prefix(2) } ?? plain
  }

  init(stringLiteral text: String) { numbers = Self.numbers(text[...]) ?? [0, 0, 0] }

  /// Returns the first three numbers at the start of a text.
  private static func numbers(_ text: Substring) -> [Int]? {
    let parts = text.prefix { $0 == "." || $0.isASCII && $0.isNumber }.split(separator: ".").prefix(3).compactMap { Int($0) }
    return parts.count < 2 ? nil : parts + [Int](repeating: 0, count: 3 - parts.count)
  }

  static func < (left: KernelVersion, right: KernelVersion) -> Bool { left.numbers.lexicographicallyPrecedes(right.numbers) }

  var description: String { numbers.map(String.init).joined(separator: ".") }
}
