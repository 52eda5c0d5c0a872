import Bluetooth
import CommandLine
import DeviceFiles
import EventLoop
import Finding
import GAP
import GATT
import Operations
import Text

/// The links of the browser, for opening a connection to a device.
@LoopActor
final class BrowserLinks: DeviceLinks {
  private let browser: BrowserSession
  let reporter: any LinkReporter
  var device: DeviceDescription?

  init(_ browser: BrowserSession) {
    self.browser = browser
    reporter = Reporter(browser)
  }

  var session: Session { browser.context.session }
  var clientObserver: Session.ClientObserver? { nil }
  var currentDevice: PeerSelector? { nil }

  func connection(for request: LinkRequest) async throws -> Connection { try await open(request) }

  func keeps(_ connection: Connection) -> Bool { true }
  func showsInBackground(_ event: ValueEvent) -> Bool { false }

  func search(for request: LinkRequest, within limit: Duration) async throws -> FoundDevice {
    .peer(try await session.find(request.search(within: limit), reporter))
  }

  /// Hands the connection to the browser, unless the user has disconnected.
  /// - Throws: CancellationError if the user disconnected before the device was connected.
  func willUse(_ connection: Connection) throws {
    try Task.checkCancellation()
    browser.hold(connection)
  }

  /// Reports only events that the browser does not show itself.
  private final class Reporter: LinkReporter {
    private let browser: BrowserSession
    private let text: LinkText

    init(_ browser: BrowserSession) {
      self.browser = browser
      text = LinkText(browser.context.process, browser.context.output)
    }

    func report(_ event: LinkEvent) {
      switch event {
      case .agreed, .refused, .ready: text.report(event)
      default: break
      }
    }

    func explained(_ error: any Error, _ search: FailedSearch) -> any Error { error }
    func explained(_ error: any Error, on connection: Connection) -> any Error { error }
    func problem(_ error: any Error) -> LinkProblem { text.problem(error) }
    func storedName(of peer: PeerAddress) -> UntrustedText? { browser.browser.peers[peer]?.name }
  }
}
