import BluetoothLELinux
import CommandLine
import SystemPackage

/// The connections of gatttool, which have a given address type and an ATT_MTU of 23 bytes.
@LoopActor
enum GatttoolLink {
  /// Connects to a device by its address.
  /// - Parameter type: The type of the device's address.
  /// - Throws: Failure for an invalid address or an unsupported option; the errors of `Session.connect`.
  static func connect(_ destination: String, type: AddressType, isOverClassic: Bool, securityLevel: String, _ context: Context) async throws
    -> Connection
  {
    guard let address = Address(destination) else {
      throw Failure(.usage, "\(DisplayText.quote(destination)) is not an address. Use six bytes of two hex digits, AA:BB:CC:DD:EE:FF")
    }
    if isOverClassic { throw Failure(.usage, "GATT over BR/EDR is not supported: blectl supports only Bluetooth LE. Leave out --psm") }
    var request = LinkRequest(.address(address, type))
    request.limits = context.step.limits
    request.exchangesMTU = false
    let connection = try await OneShotLinks(context.session, Silence(), nil).open(request)
    do { try await secure(connection, securityLevel) } catch {
      await context.session.disconnect(connection)
      throw error
    }
    // Keep MTU 23 even if the peer requests more, because gatttool truncates results to it.
    connection.client.bearer.offer(rxMTU: 23)
    return connection
  }

  /// A reporter that prints nothing about a connection.
  private final class Silence: LinkReporter {
    func report(_ event: LinkEvent) {}
    func explained(_ error: any Error, _ search: FailedSearch) -> any Error { error }
    func explained(_ error: any Error, on connection: Connection) -> any Error { error }
    func storedName(of peer: PeerAddress) -> UntrustedText? { nil }
  }

  /// Raises the security of a link to a level of gatttool, with an existing bond. Starts no pairing.
  /// - Throws: Failure without a bond that reaches the level; the errors of `Connection.secure`.
  static func secure(_ connection: Connection, _ level: String) async throws {
    let level = level.lowercased()
    guard let demanded: SecurityLevel = ["medium": .encrypted, "high": .authenticated][level] else { return }
    do { try await connection.secure(to: demanded) } catch is InsufficientSecurity {
      throw Failure(
        .pairing,
        "\(text(.permissionDenied)). No bond reaches the security level \(level). Pair first: blectl pair \(connection.peer.address) --level "
          + "\(demanded.rawValue)")
    }
  }

  /// Returns gatttool's message for a failed connection, with the kernel's errno if the error has one.
  static func reason(_ error: any Error, _ destination: String) -> String {
    let place = "connect to \(Address(destination)?.description ?? destination): "
    switch error {
    case let error as NoConnection: return place + text(error.errno)
    case GAPError.noConnection: return place + text(.connectionRefused)
    case AdapterProblem.none, AdapterProblem.unknown, AdapterProblem.down, AdapterProblem.unplugged: return place + text(.noRouteToHost)
    default: return place + Failure(error).message
    }
  }

  private static func text(_ errno: Errno) -> String { "\(errno) (\(errno.rawValue))" }
}
