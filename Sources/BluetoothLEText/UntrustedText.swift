// SPDX-License-Identifier: Apache-2.0
/// A text from a device or a foreign file, such as the name in an advertisement.
///
/// The text may contain any characters, including those that control a terminal. Its description has escapes instead, so messages can use
/// the description directly. Code that compares, stores or searches the text uses `raw`.
package struct UntrustedText: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The text as received, without escapes.
  package let raw: String

  package init(_ raw: String) { self.raw = raw }

  package init(stringLiteral literal: String) { raw = literal }

  package var isEmpty: Bool { raw.isEmpty }

  /// The text with escapes for characters that could control a terminal.
  package var description: String { DisplayText.escape(raw) }
}
