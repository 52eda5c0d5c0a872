import Foundation
import TestSupport

@testable import Gatttool

/// The output and actions of Debian's gatttool 5.66 for these arguments. `Tests/KernelTests` runs both programs side by side.
@Suite(.timeLimit(.minutes(15))) struct GatttoolTests {
  @Test(arguments: [
    ("--foo", "Unknown option --foo"), ("-x", "Unknown option -x"), ("-Ifoo", "Unknown option -Ifoo"),
    ("--char-rea", "Unknown option --char-rea"),
    ("--gat-x", "Unknown option --gat-x"), ("--help=1", "Unknown option --help=1"), ("--help-x", "Unknown option --help-x"),
    ("--char-read-handle=5x", "Unknown option --char-read-handle=5x"), ("-a", "Missing argument for -a"),
    ("-bi", "Missing argument for -b"),
    ("--primary foo -b", "Missing argument for -b"), ("-e=5", "Missing argument for -e"), ("--cha-handle", "Missing argument for --handle"),
    ("-a 5x --char-read", "Cannot parse integer value ?5x? for -a"), ("-a5 --char-read", "Cannot parse integer value ?--char-read? for -a"),
    ("--handle=", "Cannot parse integer value ?? for --handle"), ("-a 0x", "Cannot parse integer value ?0x? for -a"),
    ("-a 99999999999", "Integer value ?99999999999? for -a out of range"), ("-ab 5", "Error parsing option -b"),
    ("-u", "Error parsing option -u"),
    ("-u zz", "Error parsing option -u"), ("--uuid=zz", "Error parsing option --uuid"),
    ("--primary -u --char-read", "Error parsing option -u"),
  ])
  func wrongOptions(_ line: String, _ sentence: String) {
    do throws(GatttoolOptions.Stop) {
      _ = try GatttoolOptions(Self.words(line))
      Issue.record("nothing is said")
    } catch { #expect(error == .wrong(sentence)) }
  }

  @Test func options() throws {
    func options(_ line: String) throws -> GatttoolOptions { try GatttoolOptions(Self.words(line)) }
    let read = try options(
      "-i hci1 --device=AA:BB:CC:DD:EE:FF -t random -I --char-read -a 0x10 -s 010 --end 20 stray -u 0x2a00 --gatt-listen -- -x")
    #expect(read.texts == [.adapter: "hci1", .device: "AA:BB:CC:DD:EE:FF", .addressType: "random"])
    #expect(read.numbers == [.handle: 16, .start: 8, .end: 20] && read.flags == [.interactive, .charRead, .listen])
    #expect(read.uuid == .init(0x2A00) && read.addressType == .random)
    #expect(try options("--char-read --primary=3").procedure == .primary && options("- -m -1").numbers == [.mtu: -1])
    // A one-letter option takes the next word, whatever it is.
    #expect(try options("-bI --primary").texts == [.device: "--primary"])
  }

  @Test func values() {
    #expect(
      GatttoolValue.bytes("0102ff0") == [1, 2, 255] && GatttoolValue.bytes("1z+fz1-1") == [1, 15, 0, 255]
        && GatttoolValue.bytes("1") == [])
    #expect(GatttoolValue.handle("0x0010") == 16 && GatttoolValue.handle("10") == 16 && GatttoolValue.handle("") == 0)
    #expect(GatttoolValue.handle("-1") == nil && GatttoolValue.handle("1g") == nil && GatttoolValue.handle("0x") == nil)
    #expect(
      GatttoolValue.uuid("2a00") == .init(0x2A00) && GatttoolValue.uuid("0x2a00") == .init(0x2A00) && GatttoolValue.uuid("2a0") == nil)
    #expect(GatttoolValue.uuid("6F1C0001-8a3e-4b52-9c1d-2e7f90a1b3c4")?.fullDescription == "6f1c0001-8a3e-4b52-9c1d-2e7f90a1b3c4")
  }

  @Test func help() {
    #expect(GatttoolHelp.text(askedBy: "help-all") == Self.helpOfAll)
    #expect(GatttoolHelp.text(askedBy: "help") == GatttoolHelp.text && GatttoolHelp.text(askedBy: "helper") == nil)
    let parts = Self.helpOfAll.components(separatedBy: "\n\n")
    #expect(GatttoolHelp.text == [parts[0], parts[1], parts[5]].joined(separator: "\n\n") + "\n\n")
    let interactive = "  -I, --interactive                         Use interactive mode\n\n"
    #expect(GatttoolHelp.text(askedBy: "help-gatt") == parts[0] + "\n\n" + parts[2] + "\n" + interactive)
    #expect(GatttoolHelp.text(askedBy: "help-params") == parts[0] + "\n\n" + parts[3] + "\n\n")
    #expect(GatttoolHelp.text(askedBy: "help-char-read-write") == parts[0] + "\n\n" + parts[4] + "\n\n")
  }

  private static func words(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }

  private static let helpOfAll = """
    Usage:
      gatttool [OPTION?]

    Help Options:
      -h, --help                                Show help options
      --help-all                                Show all help options
      --help-gatt                               Show all GATT commands
      --help-params                             Show all Primary Services/Characteristics arguments
      --help-char-read-write                    Show all Characteristics Value/Descriptor Read/Write arguments

    GATT commands
      --primary                                 Primary Service Discovery
      --characteristics                         Characteristics Discovery
      --char-read                               Characteristics Value/Descriptor Read
      --char-write                              Characteristics Value Write Without Response (Write Command)
      --char-write-req                          Characteristics Value Write (Write Request)
      --char-desc                               Characteristics Descriptor Discovery
      --listen                                  Listen for notifications and indications

    Primary Services/Characteristics arguments
      -s, --start=0x0001                        Starting handle(optional)
      -e, --end=0xffff                          Ending handle(optional)
      -u, --uuid=0x1801                         UUID16 or UUID128(optional)

    Characteristics Value/Descriptor Read/Write arguments
      -a, --handle=0x0001                       Read/Write characteristic by handle(required)
      -n, --value=0x0001                        Write characteristic value (required for write operation)

    Application Options:
      -i, --adapter=hciX                        Specify local adapter interface
      -b, --device=MAC                          Specify remote Bluetooth address
      -t, --addr-type=[public | random]         Set LE address type. Default: public
      -m, --mtu=MTU                             Specify the MTU size
      -p, --psm=PSM                             Specify the PSM for GATT/ATT over BR/EDR
      -l, --sec-level=[low | medium | high]     Set security level. Default: low
      -I, --interactive                         Use interactive mode


    """
}
