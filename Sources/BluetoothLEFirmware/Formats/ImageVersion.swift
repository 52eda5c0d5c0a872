// SPDX-License-Identifier: Apache-2.0
/// The version of an MCUboot image: `1.2.3`, with a build number unless it is 0.
///
/// Tools write the build number in two ways. imgtool writes `1.2.3+4`, and devices report `1.2.3.4`. Both are the same version.
package struct ImageVersion: Hashable, Comparable, Sendable, CustomStringConvertible {
  package let major: UInt8
  package let minor: UInt8
  package let revision: UInt16
  package let build: UInt32

  package init(major: UInt8, minor: UInt8, revision: UInt16, build: UInt32 = 0) {
    (self.major, self.minor, self.revision, self.build) = (major, minor, revision, build)
  }

  /// Parses one to four decimal numbers: `1`, `1.2`, `1.2.3`, `1.2.3+4`, `1.2.3.4`. Missing numbers are 0. Returns nil for other text.
  package init?(_ text: String) {
    let parts = text.utf8.split(omittingEmptySubsequences: false) { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "+") }
    let numbers = parts.compactMap { part in part.allSatisfy { (0x30...0x39).contains($0) } ? UInt32(Substring(part)) : nil }
    guard (1...4).contains(parts.count), numbers.count == parts.count else { return nil }
    // Only the build number may follow a plus sign.
    if let plus = text.utf8.firstIndex(of: UInt8(ascii: "+")), parts.count != 4 || text.utf8[plus...].contains(UInt8(ascii: ".")) {
      return nil
    }
    func number(_ index: Int) -> UInt32 { index < numbers.count ? numbers[index] : 0 }
    guard let major = UInt8(exactly: number(0)), let minor = UInt8(exactly: number(1)), let revision = UInt16(exactly: number(2)) else {
      return nil
    }
    self.init(major: major, minor: minor, revision: revision, build: number(3))
  }

  package static func < (one: Self, other: Self) -> Bool {
    (one.major, one.minor, one.revision, one.build) < (other.major, other.minor, other.revision, other.build)
  }

  /// The version as imgtool writes it, such as `1.2.3+4`. A build number of 0 is left out.
  package var description: String { "\(major).\(minor).\(revision)" + (build == 0 ? "" : "+\(build)") }
}
