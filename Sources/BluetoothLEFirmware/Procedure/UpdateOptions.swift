// SPDX-License-Identifier: Apache-2.0
/// The choices of a user for an update.
package struct UpdateOptions: Hashable, Sendable {
  /// An option that only one of the protocols has.
  package enum Member: String, Sendable {
    case prn, image
    case confirms = "no-confirm"
  }

  /// Whether to continue with the bytes that the device has. Otherwise, each part starts from its beginning, also after a lost link.
  package var resumes = true
  /// Whether to confirm the new image after it was proven to run.
  package var confirms = true
  /// The number of packets for each of which a Nordic bootloader sends a receipt, 0–65535. 0 means none. Nil means one after each object,
  /// whose packets do not wait for the answer to its `create`.
  package var prn: Int?
  /// The zero-based number of the image, for devices with several. Nil for the first.
  package var image: Int?

  package init(resumes: Bool = true, prn: Int? = nil) { (self.resumes, self.prn) = (resumes, prn) }
}
