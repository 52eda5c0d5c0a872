// SPDX-License-Identifier: Apache-2.0
/// A type that answers the questions of a pairing: a person, or a program in place of one.
///
/// The methods may take their time, and may call the library. The device waits about 30 s (Vol 3 Part H §3.4). All of them have a default,
/// so implement only those that ``abilities`` permits. A delegate that types a passkey needs one method:
///
/// ```swift
/// struct Person: PairingDelegate {
///   func passkey(for device: Peripheral) async -> String? {
///     print("Passkey of \(device):")
///     return readLine()
///   }
/// }
/// ```
public protocol PairingDelegate: Sendable {
  /// The abilities of the delegate, which decide about the method of the pairing (Vol 3 Part H §2.3.5.1). The default is
  /// ``PairingAbilities/keyboardAndDisplay``.
  var abilities: PairingAbilities { get }
  /// Returns the six digits that the device displays. Nil or another text cancels the pairing. The default returns nil.
  func passkey(for device: Peripheral) async -> String?
  /// Shows six digits, which the person types on the device. The default does nothing.
  func show(passkey: String, for device: Peripheral) async
  /// Returns whether the device displays the same six digits. The default returns false.
  func confirm(number: String, for device: Peripheral) async -> Bool
}

extension PairingDelegate {
  public var abilities: PairingAbilities { .keyboardAndDisplay }
  public func passkey(for device: Peripheral) async -> String? { nil }
  public func show(passkey: String, for device: Peripheral) async {}
  public func confirm(number: String, for device: Peripheral) async -> Bool { false }
}

/// The IO capabilities of a delegate, which answers the questions of a pairing (Vol 3 Part H Table 2.4).
public enum PairingAbilities: Sendable, Hashable {
  /// Neither shows nor types. The pairing is Just Works, without protection against an attacker in the middle.
  case none
  /// Shows digits: ``PairingDelegate/show(passkey:for:)``.
  case display
  /// Shows digits and confirms them: also ``PairingDelegate/confirm(number:for:)``.
  case displayAndYesNo
  /// Types digits: ``PairingDelegate/passkey(for:)``.
  case keyboard
  /// Shows, confirms and types digits.
  case keyboardAndDisplay

  var capability: IOCapability {
    switch self {
    case .none: .noInputNoOutput
    case .display: .displayOnly
    case .displayAndYesNo: .displayYesNo
    case .keyboard: .keyboardOnly
    case .keyboardAndDisplay: .keyboardDisplay
    }
  }
}

extension PairingWish {
  init(_ delegate: any PairingDelegate, with peer: PeerAddress, level: SecurityLevel, isOfCommand: Bool) {
    var parameters = PairingParameters(ioCapability: delegate.abilities.capability)
    parameters.level = max(level, .encrypted)
    parameters.requestsMITM = delegate.abilities != .none
    self.init(parameters, user: DelegatedUser(delegate, Peripheral(peer)), isOfCommand: isOfCommand)
  }
}

/// A delegate as the security manager asks it.
@LoopActor
private final class DelegatedUser: PairingUser {
  private let delegate: any PairingDelegate
  private let device: Peripheral

  nonisolated init(_ delegate: any PairingDelegate, _ device: Peripheral) { (self.delegate, self.device) = (delegate, device) }

  func passkey() async -> SixDigits? {
    let (delegate, device) = (delegate, device)
    return try? await EventLoop.shared.callOut { await delegate.passkey(for: device) }.flatMap { SixDigits($0) }
  }

  func show(_ passkey: SixDigits) {
    let (delegate, device) = (delegate, device)
    EventLoop.shared.spawn { try? await EventLoop.shared.callOut { await delegate.show(passkey: "\(passkey)", for: device) } }
  }

  func isSame(_ number: SixDigits) async -> Bool {
    let (delegate, device) = (delegate, device)
    return (try? await EventLoop.shared.callOut { await delegate.confirm(number: "\(number)", for: device) }) ?? false
  }
}
