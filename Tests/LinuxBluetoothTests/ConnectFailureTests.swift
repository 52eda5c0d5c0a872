import Bluetooth
import GAP
import Glibc
import LinuxIO
import SystemPackage
import Testing

@testable import LinuxBluetooth

@Suite(.timeLimit(.minutes(1))) struct ConnectFailureTests {
  private static let peer = PeerAddress(Address(rawValue: 0xF0F1_F2F3_F4F5), .random)

  enum Outcome: Sendable {
    /// The limit passed without a link.
    case late
    case none(NoConnection.Cause)
    case adapter(AdapterProblem)
  }

  struct Case: Sendable {
    var errno: Int32
    var stage = ConnectFailure.Stage.completing
    var status: UInt8?
    var isAdapterDown = false
    var outcome: Outcome
    var retry = false
  }

  @Test(arguments: [
    // The kernel reports its own timeout as "connection refused".
    Case(errno: ECONNREFUSED, outcome: .late),
    Case(errno: ETIMEDOUT, outcome: .late),
    Case(errno: ECONNREFUSED, stage: .starting, outcome: .adapter(.leDisabled("hci0"))),
    Case(errno: EHOSTUNREACH, stage: .starting, outcome: .adapter(.down("hci0"))),
    Case(errno: EBUSY, outcome: .none(.takenByAnother)),
    Case(errno: EBUSY, stage: .starting, outcome: .none(.takenByAnother)),
    Case(errno: ENOSYS, outcome: .none(.notEstablished), retry: true),
    Case(errno: ENOSYS, status: 0x3E, outcome: .none(.notEstablished), retry: true),
    Case(errno: ENOSYS, status: 0x3D, outcome: .none(.notEstablished)),
    Case(errno: ENOSYS, stage: .starting, outcome: .adapter(.other("hci0", .connecting(peer), .noFunction))),
    Case(errno: ECONNRESET, outcome: .none(.endedByPeer), retry: true),
    Case(errno: ECONNABORTED, outcome: .none(.givenUpHere)),
    Case(errno: ECONNABORTED, isAdapterDown: true, outcome: .adapter(.down("hci0"))),
    Case(errno: EACCES, outcome: .none(.security)),
    Case(errno: EMLINK, outcome: .none(.tooManyLinks)),
    Case(errno: ENODEV, outcome: .adapter(.unplugged("hci0"))),
    Case(errno: EAFNOSUPPORT, stage: .starting, outcome: .adapter(.kernelWithoutBluetooth)),
    Case(errno: EINVAL, stage: .starting, outcome: .adapter(.other("hci0", .connecting(peer), .invalidArgument))),
  ]) func whatErrnoMeans(one: Case) {
    let errno = Errno(rawValue: one.errno)
    let status = one.status.map { ControllerErrorCode(rawValue: $0) }
    let failure = ConnectFailure(errno: errno, stage: one.stage, status: status, isAdapterDown: one.isAdapterDown)
    let error = failure.error(Self.peer, adapter: "hci0", limit: .seconds(20))
    switch one.outcome {
    case .late: #expect(error as? GAPError == .noConnection(Self.peer, within: .seconds(20)))
    case .none(let cause):
      #expect(error as? NoConnection == NoConnection(Self.peer, adapter: "hci0", cause, errno: errno, status: status))
    case .adapter(let problem): #expect(error as? AdapterProblem == problem)
    }
    #expect(failure.mayPass == one.retry)
  }
}
