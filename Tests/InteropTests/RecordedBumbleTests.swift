import TestSupport

/// A session with Bumble gives the same records and exit code on replay. Only the rate of a transfer, and times within the tolerance of
/// `Replayed`, may differ: they depend on the machine's speed.
@Suite(.serialized, .timeLimit(.minutes(15))) struct RecordedBumbleTests {
  static let flows: [[String]] = [
    ["scan", "-d", "1"], ["scan", "--count", "1", "--name", "Lock-01"], ["connect", BumbleAir.peer],
    ["connect", BumbleAir.peer, "--mtu", "100", "--interval", "50"], ["services", BumbleAir.peer, "--values"],
    ["read", BumbleAir.peer, "ffe2", "ffe3"], ["read", BumbleAir.peer, "ffea"],
    ["write", BumbleAir.peer, "ffe4", "0102", "--mode", "request", "--read-back"],
    ["write", BumbleAir.peer, "ffe1", Bytes.hex("ping"), "--expect", "ffe2"], ["notify", BumbleAir.peer, "ffe5", "ffe6", "-d", "1.5"],
    ["write", BumbleAir.peer, "ffe1", Bytes.hex("burst"), "--expect", "ffe5", "--expect-count", "100"],
    ["-e", "read ffe2; write ffe8 02; sleep 1; read ffe2", BumbleAir.peer],
    ["notify", BumbleAir.peer, "ffe5", "-d", "10", "--write", "ffe8=02"], ["read", "AA:BB:CC:DD:EE:FF/random", "ffe2", "-t", "1"],
  ]

  @Test(arguments: BumbleTests.controllers) func replaysAsRecorded(_ options: [String]) throws {
    let air = try BumbleAir(options)
    for arguments in Self.flows { try Replayed.expectSame(arguments, adapter: air.adapter) }
    let picture = try TemporaryFolder.file(Bytes.picture(5000))
    for mode in ["command", "request"] {
      try Replayed.expectSame(["send-file", BumbleAir.peer, "ffe1", picture, "--mode", mode], adapter: air.adapter)
    }
  }
}
