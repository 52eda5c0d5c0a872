package import LinuxIO
import Presentation
import Text

/// The SPEC of `--adapter`.
package enum AdapterSpec: Sendable, Equatable {
  /// The kernel's stack on `hciN`. Nil selects the first adapter that is up.
  case kernel(Int?)
  /// The exclusive user channel of a kernel adapter, with blectl's own host.
  case user(Int)
  /// A controller that speaks H4, with blectl's own host.
  case stream(TransportAddress)
  /// The simulated air with the preset peripherals, or with the peripherals of a file.
  case simulation(file: String?)
  /// The devices of a recording (a btsnoop file).
  case replay(file: String)

  init(_ text: String) throws {
    if text == "sim" {
      self = .simulation(file: nil)
    } else if let file = text.after("sim:"), !file.isEmpty {
      self = .simulation(file: file)
    } else if let file = text.after("replay:"), !file.isEmpty {
      self = .replay(file: file)
    } else if let number = text.after("hci").flatMap(Self.index) {
      self = .kernel(number)
    } else if let number = text.after("user:").flatMap({ Self.index($0.after("hci") ?? $0) }) {
      self = .user(number)
    } else if ["tcp:", "unix:", "serial:"].contains(where: text.hasPrefix) {
      self = .stream(try TransportAddress(text))
    } else {
      throw Self.unknown(text)
    }
  }

  /// Whether it is an adapter of the kernel.
  var isKernel: Bool {
    switch self {
    case .kernel, .user: true
    case .stream, .simulation, .replay: false
    }
  }

  private static func index(_ text: String) -> Int? { Int(text).flatMap { (0..<65_535).contains($0) ? $0 : nil } }

  private static func unknown(_ text: String) -> Failure {
    Failure(
      .usage,
      "Unknown adapter \(DisplayText.quote(text)). Use hci0, user:0, tcp:HOST:PORT, unix:PATH, "
        + "serial:/dev/ttyACM0[@BAUD], sim, sim:FILE or replay:TRACE.")
  }
}
