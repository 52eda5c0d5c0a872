/// The options that set how a command connects, and which connection parameters it requests.
package struct LinkOptions: OptionSection {
  package static let title = HelpPage.connectionTitle

  @Option("Largest MTU to offer, 23-517 (default: 517)", value: "n", parsing: .unconditional) package var mtu: Int?
  @Option("Request this PHY: 1m, 2m or coded", value: "phy", completion: .list(["1m", "2m", "coded"])) package var phy: PHYArgument?

  @Option("Request this connection interval, 7.5-4000", value: "ms", parsing: .unconditional, transform: TimeText.milliseconds)
  package var interval: Double?

  @Option("Retry a failed connection up to N times, 0-100 (default: 1)", value: "n", parsing: .unconditional) package var retries: Int?
  @Flag(help: "Wait for the device to appear, for up to --timeout (default: 1 hour)") package var wait = false
  @Flag(help: "Pair if the device demands it") package var pair = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Minimum security level: 2 encrypted, 3 authenticated, 4 Secure Connections", valueName: "n"),
    completion: .list(["2", "3", "4"]))
  package var level: Int?

  package init() {}

  package func validate() throws {
    try limit("--mtu", mtu, to: 23...517, "bytes")
    try limit("--interval", interval, to: 7.5...4000, "ms")
    try limit("--retries", retries, to: 0...100)
    try limit("--level", level, to: 2...4)
  }

  /// Whether the user gave `--mtu`, `--phy`, `--interval`, `--retries` or `--level`.
  package var areOfConnection: Bool { mtu != nil || phy != nil || interval != nil || retries != nil || level != nil }

  /// The least security of the link. Nil without `--level`.
  package var leastSecurity: SecurityLevel? { level.flatMap { SecurityLevel(rawValue: $0) } }

  package var requested: LinkParameterRequest {
    LinkParameterRequest(mtu: mtu, phy: phy?.phy, interval: interval.map { .limited(seconds: $0 / 1000) })
  }
}

package struct PHYArgument: ExpressibleByArgument, Sendable {
  let phy: PHY

  package init?(argument: String) {
    guard let phy = PHY(name: argument) else { return nil }
    self.phy = phy
  }
}
