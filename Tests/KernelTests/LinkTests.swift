import Foundation
import TestSupport
import Testing

extension KernelTests {
  /// An adapter whose controller and air are Bumble's, on /dev/vhci: it repeats advertisements, can tune a link, go out of range and be pulled out.
  @Suite struct LinkTests {
    static let peer = "\(BumbleAir.peer)/random"

    private func plug(_ options: String...) throws -> BumbleAir {
      let air = try BumbleAir(["--vhci"] + options)
      // The kernel sets the adapter up first.
      for _ in 0..<50 where try Guest.run("hciconfig", air.adapter, "up").status != 0 { usleep(100_000) }
      return air
    }

    @Test func connectReportsTheRealLink() throws {
      let air = try plug("--controller", "extended", "--tuning", "on")
      let link = try #require(try air.blectl("connect", Self.peer, "--json").records.first)
      #expect(link.int("mtu") == 517 && link.string("phy") == "1m" && link.int("latency") == 0 && link.int("rssi") == -50)
      #expect((link.double("interval_ms") ?? 0) >= 7.5 && (link.double("supervision_timeout_ms") ?? 0) >= 100)
      try Guest.expectNoLink(air.adapter)
    }

    @Test(arguments: ["on", "off"]) func tuningALiveLink(_ tuning: String) throws {
      let air = try plug("--controller", "extended", "--tuning", tuning)
      let picture = Octets.picture(20_000)
      _ = try air.blectl("write", Self.peer, "ffe8", "00")
      let sent = try air.blectl(
        "send-file", Self.peer, "ffe1", "-", "--interval", "15", "--phy", "2m", "--data-length", "251", "--json", input: picture)
      #expect(sent.status == 0, "\(sent.errors)")
      let record = try #require(try sent.records.last)
      #expect(record.double("interval_ms") == 15)
      if tuning == "on" {
        #expect(record.string("phy") == "2m" && record.int("data_length") == 251, "\(sent.text)")
      } else {
        // A controller that cannot: told, and the transfer goes on.
        #expect(sent.errors.contains("PHY") && sent.errors.contains("0x01"), "\(sent.errors)")
      }
      let report = try air.blectl("read", Self.peer, "ffe7", "--as", "u32le").text.split(whereSeparator: \.isWhitespace).compactMap {
        UInt32($0)
      }
      #expect(report == [20_000, Octets.crc32(picture)])
    }

    @Test func outOfRangeAndBack() throws {
      let air = try plug("--controller", "extended")
      let listening = try Blectl.start(["notify", Self.peer, "ffe5", "--json"], adapter: air.adapter, virtual: false)
      #expect(listening.waitForOutput(containing: "notification"))
      air.say("away")
      let lost = listening.wait()
      #expect(lost.status == 6 && lost.error?.int("code") == 8, "\(lost.errors)")
      let absent = try air.blectl("connect", Self.peer, "--timeout", "3", "--json")
      #expect(absent.status == 4 && absent.error?.string("message")?.contains("3 s") == true, "\(absent.errors)")
      try Guest.expectNoLink(air.adapter)
      air.say("back")
      #expect(try air.blectl("read", Self.peer, "ffe2").text == "hello lock\n")
    }

    @Test func unpluggedInMidOperation() throws {
      let air = try plug("--controller", "legacy")
      let listening = try Blectl.start(["notify", Self.peer, "ffe5", "--json"], adapter: air.adapter, virtual: false)
      #expect(listening.waitForOutput(containing: "notification"))
      air.kill()
      let lost = listening.wait()
      #expect(lost.status == 6 && lost.errors.contains("unplugged"), "\(lost.errors)")
      let gone = try air.blectl("scan", "--json")
      #expect(gone.status == 3 && gone.error?.string("message")?.contains("there is no adapter") == true, "\(gone.errors)")
    }
  }
}
