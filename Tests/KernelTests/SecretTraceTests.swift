import Foundation
import TestSupport
import Traces

@testable import BluetoothLELinux

extension KernelTests {
  /// The trace of a bonded link on the kernel's adapter, which the kernel encrypts.
  @Suite struct SecretTraceTests {
    private static let peer = "\(BumbleAir.peer)/random"
    private static let key = (1...16).map { UInt8(0xC0 + $0) }
    private static let zeroed = [1, 0x19, 0x20, 28] + [UInt8](repeating: 0, count: 28)

    init() throws {
      try Guest.lock()
      try Self.bond()
    }

    /// Gives the kernel the key of Lock-01. An adapter powered on by hciconfig has no Security Manager, so the kernel powers it on itself.
    private static func bond() throws {
      for isOn in [false, true] {
        _ = ManagementChannel.ask(0x0005, adapter: 0, [isOn ? 1 : 0])  // Set Powered
        try Guest.wait(for: "hci0 to be \(isOn ? "on" : "off")") { try Guest.must("hciconfig", "hci0").contains("UP") == isOn }
      }
      let address = try #require(Address(BumbleAir.peer))
      // Type: random address, authenticated key of LE Secure Connections, central, 16 bytes; no EDIV, no Rand.
      let bond = address.littleEndianBytes + [2, 3, 1, 16] + [UInt8](repeating: 0, count: 10) + key
      #expect(ManagementChannel.ask(0x0013, adapter: 0, [1, 0] + bond)?.status == 0)  // Load Long Term Keys
    }

    /// Starts the program as the package installs it, as a user without rights if `asUser` is set.
    private func start(asUser: Bool, _ arguments: String...) throws -> RunningProcess {
      let program = "/tmp/blectl-for-all"
      if try Guest.run("test", "-e", program).status != 0 {
        try Guest.must("cp", Blectl.path, program)
        try Guest.must("setcap", "cap_net_raw,cap_net_admin=p", program)
      }
      let user = asUser ? ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"] : []
      return try RunningProcess(user + [program, "-i", "hci0", "--json"] + arguments, hasInput: false)
    }

    private func packets(_ file: String) throws -> [[UInt8]] {
      try Snoop.parse(Array(try Data(contentsOf: URL(fileURLWithPath: file)))).map(\.packet)
    }

    private func holdsKey(_ packets: [[UInt8]]) -> Bool { packets.contains { $0.suffix(16) == Self.key[...] } }

    /// Makes Lock-01 ask for encryption, and waits until the link is encrypted.
    private func encrypt() throws {
      let lock = try Guest.lock()
      lock.say("secure:\(Bytes.hex(Self.key))")
      #expect(lock.event("encryption")?.bool("on") == true)
    }

    /// The trace of the user's own link shows encryption, and the key only if the user asks for it.
    @Test(arguments: [false, true]) func ourLink(_ keepsSecrets: Bool) throws {
      let file = "/tmp/trace-ours-\(keepsSecrets)"
      let link = try start(asUser: true, "notify", Self.peer, "ffe5", "--trace", file, keepsSecrets ? "--trace-secrets" : "-q")
      #expect(link.waitForOutput(containing: "notification"))
      try encrypt()
      // Packets that arrive later follow the command in the trace.
      #expect(link.nextLine { $0.contains("notification") } != nil)
      let result = link.end(by: SIGINT)
      #expect(result.status == 130, "\(result.errors)")
      let packets = try packets(file)
      #expect(packets.contains { $0.starts(with: [1, 0x19, 0x20]) })
      #expect(packets.contains(Self.zeroed) != keepsSecrets && holdsKey(packets) == keepsSecrets)
      // The Encryption Change event, of a link whose start and end are in the trace.
      for start: [UInt8] in [[4, 0x08], [4, 0x3E, 19, 1], [4, 0x05]] { #expect(packets.contains { $0.starts(with: start) }, "\(start)") }
      try Guest.waitForNoLink()
      // The trace can be replayed, with or without zeroed keys.
      let replayed = try Blectl.run(["notify", Self.peer, "ffe5", "-n", "1", "--json"], adapter: "replay:\(file)", virtual: false)
      #expect(replayed.status == 0 && replayed.text.contains("notification"), "\(replayed.errors)")
    }

    /// Another user sees nothing of root's link, and root sees no key in the trace of another process.
    @Test func aLinkOfAnotherUser() throws {
      let (ours, users, roots) = ("/tmp/trace-link", "/tmp/trace-user", "/tmp/trace-root")
      let link = try start(asUser: false, "notify", Self.peer, "ffe5", "--trace", ours, "--trace-secrets")
      #expect(link.waitForOutput(containing: "notification"))
      let scans = [
        try start(asUser: true, "scan", "-d", "0", "--trace", users), try start(asUser: false, "scan", "-d", "0", "--trace", roots),
      ]
      for file in [users, roots] {
        try Guest.wait(for: "\(file) to hold packets") { (try? packets(file))?.isEmpty == false }
      }
      try encrypt()
      try Guest.wait(for: "root to see the encryption") { try packets(roots).contains { $0.starts(with: [4, 0x08]) } }
      for process in scans + [link] { process.signal(SIGINT) }
      for process in scans + [link] { #expect(process.wait().status == 130) }
      #expect(holdsKey(try packets(ours)))
      let seen = try packets(roots)
      #expect(seen.contains(Self.zeroed) && !holdsKey(seen))
      let unseen = try packets(users)
      #expect(
        !unseen.contains { $0.starts(with: [1, 0x19, 0x20]) || $0.starts(with: [4, 0x08]) || $0.starts(with: [4, 0x13]) }, "\(unseen)")
      #expect(!holdsKey(unseen) && unseen.contains { $0.starts(with: [1]) })
      try Guest.waitForNoLink()
    }
  }
}
