import ArgumentParser
import Bluetooth
import EventLoop

/// How a link is to be made, and what is asked of it first: of every command that connects.
struct LinkOptions: ParsableArguments {
  @Option(parsing: .unconditional, help: ArgumentHelp("Offer this ATT_MTU, 23 to 517, instead of the largest.", valueName: "n"))
  var mtu: Int?

  @Option(help: ArgumentHelp("Ask for this PHY first: 1m, 2m or coded.", valueName: "phy"), completion: .list(["1m", "2m", "coded"]))
  var phy: PHYArgument?

  @Option(
    parsing: .unconditional, help: ArgumentHelp("Ask for this connection interval first, 7.5 to 4000 milliseconds.", valueName: "ms"),
    transform: TimeText.milliseconds)
  var interval: Double?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Retry a connection that fails, or that the device closes before it answers, 0 to 100 times; 1 unless given.", valueName: "n"))
  var retries: Int?

  @Flag(help: "Wait until the device turns up, and connect at once: for --timeout, or an hour.")
  var wait = false

  /// Those that take no value.
  static let flags = ["--wait"]

  func validate() throws {
    if let mtu, !(23...517).contains(mtu) { throw ValidationError("--mtu takes 23 to 517 octets, not \(mtu)") }
    if let interval, !(interval >= 7.5 && interval <= 4000) {
      throw ValidationError("--interval takes 7.5 to 4000 ms, not \(interval.plainText)")
    }
    if let retries, !(0...100).contains(retries) { throw ValidationError("--retries takes 0 to 100, not \(retries)") }
  }

  /// Any of them.
  var isGiven: Bool { mtu != nil || phy != nil || interval != nil || retries != nil || wait }

  var requested: RequestedParameters {
    RequestedParameters(phy: phy?.phy, interval: interval.map { .limited(seconds: $0 / 1000) })
  }
}

struct PHYArgument: ExpressibleByArgument, Sendable {
  let phy: PHY

  init?(argument: String) {
    guard let phy = PHY(name: argument) else { return nil }
    self.phy = phy
  }
}
