import Bluetooth
import Glibc
import LinuxIO
import SystemPackage
import Testing

@testable import LinuxBluetooth

@Suite struct ConnectFailureTests {
  private static let peer = PeerAddress(Address(rawValue: 0xF0F1_F2F3_F4F5), .random)

  struct Case: Sendable {
    var errno: Int32
    var stage = ConnectFailure.Stage.completing
    var status: UInt8?
    var isAdapterDown = false
    var kind: BluetoothError.Kind
    var words: String
    var retry = false
  }

  @Test(arguments: [
    // The kernel says "connection refused" for its own time limit.
    Case(errno: ECONNREFUSED, kind: .timeout, words: "did not connect within 20 s"),
    Case(errno: ETIMEDOUT, kind: .timeout, words: "off, out of range, or connected to someone else"),
    Case(errno: ECONNREFUSED, stage: .starting, kind: .adapter, words: "switched off on hci0"),
    Case(errno: EHOSTUNREACH, stage: .starting, kind: .adapter, words: "hciconfig hci0 up"),
    Case(errno: EBUSY, kind: .adapter, words: "bluetoothctl disconnect F0:F1:F2:F3:F4:F5"),
    Case(errno: EBUSY, stage: .starting, kind: .adapter, words: "bluetoothctl disconnect"),
    Case(errno: ENOSYS, kind: .linkLost, words: "failed to be established", retry: true),
    Case(errno: ENOSYS, status: 0x3E, kind: .linkLost, words: "Connection Failed to be Established (0x3e)", retry: true),
    Case(errno: ENOSYS, status: 0x3D, kind: .linkLost, words: "MIC Failure (0x3d)"),
    Case(errno: ENOSYS, stage: .starting, kind: .adapter, words: "ENOSYS"),
    Case(errno: ECONNRESET, kind: .linkLost, words: "ended the connection"),
    Case(errno: ECONNABORTED, kind: .linkLost, words: "given up on this side"),
    Case(errno: ECONNABORTED, isAdapterDown: true, kind: .adapter, words: "hci0 is down"),
    Case(errno: EACCES, kind: .linkLost, words: "security"),
    Case(errno: EMLINK, kind: .adapter, words: "as many connections"),
    Case(errno: ENODEV, kind: .adapter, words: "unplugged"),
    Case(errno: EAFNOSUPPORT, stage: .starting, kind: .adapter, words: "-i sim"),
    Case(errno: EINVAL, stage: .starting, kind: .adapter, words: "connecting to F0:F1:F2:F3:F4:F5/random on hci0 failed: Invalid argument"),
  ]) func sentences(one: Case) {
    let failure = ConnectFailure(
      errno: Errno(rawValue: one.errno), stage: one.stage, status: one.status.map { ControllerErrorCode(rawValue: $0) },
      isAdapterDown: one.isAdapterDown)
    let error = failure.error(Self.peer, adapter: "hci0", seconds: 20)
    #expect(error.kind == one.kind)
    #expect(error.message.contains(one.words))
    #expect(failure.isWorthRetrying == one.retry)
    #expect(!error.message.contains("errno "))
  }

  @Test(
    arguments: [
      (Optional(ETIMEDOUT), nil, "nothing was heard"), (ECONNRESET, nil, "the peer ended it"), (ECONNRESET, 0x15, "Power Off (0x15)"),
      (ECONNABORTED, nil, "this side"), (nil, nil, "it was closed"),
      (nil, 0x08, "nothing was heard from it any more: Connection Timeout (0x08)"),
      (ENOSYS, 0x3D, "MIC Failure"), (EIO, nil, "EIO"),
    ] as [(Int32?, UInt8?, String)]) func ends(errno: Int32?, reason: UInt8?, words: String)
  {
    let error = SocketEnd.error(Self.peer, errno.map { Errno(rawValue: $0) }, reason: reason.map { ControllerErrorCode(rawValue: $0) })
    #expect(error.kind == .linkLost)
    #expect(error.message.hasPrefix("the connection to F0:F1:F2:F3:F4:F5/random was lost: "))
    #expect(error.message.contains(words))
    #expect(error.code == reason.map(Int.init) ?? errno.map(Int.init))
  }

  @Test func fractionsOfASecondAreSaid() {
    #expect(ConnectFailure.timeout(Self.peer, seconds: 0.5).message.contains("within 0.5 s"))
    #expect(ConnectFailure.timeout(Self.peer, seconds: 4e9).message.contains("within 4000000000 s"))
  }
}
