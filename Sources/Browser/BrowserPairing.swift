import BluetoothLE
import Presentation

/// The user of a pairing in the browser, who answers its questions in the last line of the screen.
@LoopActor
final class BrowserPairing: PairingUser {
  private weak var browser: BrowserSession?
  private var question: Wait<String?>?
  /// The function that ends the pairing.
  private let cancel: @LoopActor () -> Void

  init(_ browser: BrowserSession, cancel: @escaping @LoopActor () -> Void) { (self.browser, self.cancel) = (browser, cancel) }

  func passkey() async -> SixDigits? { await ask(.passkey).flatMap { SixDigits($0) } }

  func isSame(_ number: SixDigits) async -> Bool { await ask(.comparison, "\(number)  ") == "yes" }

  func show(_ passkey: SixDigits) { open(.display, "\(passkey)  ") }

  /// Takes the answer of the user. Nil cancels the pairing.
  func answer(_ text: String?) {
    guard let question else { return cancel() }
    self.question = nil
    question.resume(returning: text)
  }

  private func ask(_ purpose: Prompt.Purpose, _ digits: String = "") async -> String? {
    let question = Wait<String?>()
    self.question = question
    open(purpose, digits)
    return (try? await question.value()) ?? nil
  }

  private func open(_ purpose: Prompt.Purpose, _ digits: String) {
    browser?.browser.overlay = .prompt(Prompt(purpose: purpose, field: LineField(), digits: digits))
    browser?.changed()
  }
}

extension BrowserSession {
  /// Pairs with a device, and reads its values again.
  func pair(on connection: Connection) async throws {
    guard let security = connection.security else { throw Failure(.usage, "The adapter cannot pair.") }
    guard pairing == nil else { throw Failure(.usage, "A pairing is still running.") }
    if let bond = try security.bond(), let level = security.level, level.isAuthenticated {
      return note("Already paired with \(bond.name ?? connection.title).", of: row(of: connection))
    }
    let parameters = PairingParameters(ioCapability: .keyboardDisplay, requestsMITM: true)
    let result = Wait<PairingResult>()
    let user = BrowserPairing(self) { result.resume(throwing: PairingFailure.canceled) }
    pairing = user
    defer {
      pairing = nil
      if case .prompt(let prompt)? = browser.overlay, prompt.purpose.isOfPairing { browser.overlay = nil }
    }
    let task = EventLoop.shared.spawn {
      do { result.resume(returning: try await security.pair(PairingWish(parameters, user: user))) } catch { result.resume(throwing: error) }
    }
    defer { task.cancel() }
    note("Paired with \(browser.title(of: row(of: connection))): \(try await result.value().text)", of: row(of: connection))
    browser.devices.peers[row(of: connection)]?.security = security.level
    try await readAll(from: connection)
  }
}
