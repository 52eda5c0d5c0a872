import BluetoothLEText

/// The recognition of files that look like traces to a user but have a format that blectl cannot read.
package enum ForeignFile {
  /// Returns the format of a file and advice on what to do with the file. Returns nil for an unknown format. `name` is the file's path.
  package static func explain(_ file: [UInt8], named name: String) -> String? {
    let name = DisplayText.clip(ShellWords.quoteForShell(name), to: 120)
    for (magic, command) in magics where file.starts(with: magic) { return "it is compressed. Run: \(command) -d \(name)" }
    let lines = file.prefix(4096).split { $0 == 0x0A || $0 == 0x0D }
    if !file.prefix(4096).contains(0), lines.contains(where: { line in scriptBeginnings.contains { line.starts(with: $0.utf8) } }) {
      return "it is a script of blectl, not a recording. Run it: blectl run \(name)"
    }
    if !file.prefix(4096).contains(0), let first = file.first(where: { $0 > 0x20 }), "[{".utf8.contains(first) {
      if file.prefix(4096).contains("\"event\":".utf8) { return "it is a record of blectl without advertising data or packets." }
      return "it is JSON. If it describes simulated devices: -i sim:\(name)"
    }
    guard file.prefix(256).contains("== dumpstate".utf8) else { return nil }
    return "it is an Android bug report without a Bluetooth log. Enable the HCI snoop log in the developer options, and report again."
  }

  /// The beginnings of lines that only scripts have.
  private static let scriptBeginnings = ["test \"", "device ", "setup", "include "]

  private static let magics: [([UInt8], String)] = [
    ([0xFD, 0x37, 0x7A], "xz"),
    ([0x42, 0x5A, 0x68], "bzip2"),
    ([0x28, 0xB5, 0x2F, 0xFD], "zstd"),
  ]
}
