/// The recognition of files that look like traces to a user but have a format that blectl cannot read.
package enum ForeignFile {
  /// Returns the format of a file and advice on what to do with the file. Returns nil for an unknown format.
  package static func explain(_ file: [UInt8]) -> String? {
    for (magic, text) in magics where file.starts(with: magic) { return text }
    guard file.prefix(256).contains("== dumpstate".utf8) else { return nil }
    return "it is an Android bug report without a Bluetooth log. Enable the HCI snoop log in the developer options, and report again."
  }

  private static let magics: [([UInt8], String)] = [
    ([0xFD, 0x37, 0x7A], "it is compressed. Run: xz -d FILE"),
    ([0x42, 0x5A, 0x68], "it is compressed. Run: bzip2 -d FILE"),
    ([0x28, 0xB5, 0x2F, 0xFD], "it is compressed. Run: zstd -d FILE"),
  ]
}
