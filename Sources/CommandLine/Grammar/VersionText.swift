import BluetoothLECompression
import BluetoothLELinux

/// The text of `--version -v`: the version, the commit, and what the build contains.
enum VersionText {
  /// The versions of `scripts/parts/versions`, with which `scripts/release` builds.
  static let packages = "swift-argument-parser 1.8.2, swift-collections 1.6.0, swift-system 1.8.1"

  /// Returns the text if the words ask for it, otherwise nil.
  static func wanted(by arguments: [String], _ commands: CommandSet) -> String? {
    guard arguments.contains("--version"), arguments.contains(where: { $0 == "--verbose" || $0.hasPrefix("-v") }) else { return nil }
    #if arch(arm64)
      let architecture = "arm64"
    #else
      let architecture = "x86-64"
    #endif
    let unknown = "unknown (built from source)"
    let commit = ThisProcess.commit
    return """
      blectl \(commands.version)
      commit: \(commit.map { Hex.encode($0.hash, bytes: 8) } ?? unknown)
      date: \(commit.map { String(Timestamp.text($0.time).prefix(10)) } ?? unknown)
      radios: kernel sockets, exclusive HCI channel, H4 over TCP, Unix and serial streams, simulator, recordings
      libraries: \(cryptoLibraryVersion), readline \(ReadlineDialogue.libraryVersion), ncurses \(Screen.libraryVersion), zlib \(compressionLibraryVersion), libbluetooth
      packages: \(commit == nil ? unknown : packages)
      architecture: \(architecture)
      """
  }
}
