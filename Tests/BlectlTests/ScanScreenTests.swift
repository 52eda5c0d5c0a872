import Foundation
import TestSupport

/// The live table of a scan on a terminal.
@Suite(.timeLimit(.minutes(15))) struct ScanScreenTests {
  /// Creates a file of `count` devices. Some names are wide, hostile, long or similar.
  private static func air(_ count: Int) throws -> TemporaryPath {
    let names = ["温度計センサー玄関", "\u{1B}[31mEvil\u{202E}", "LongSensorNameNumber01", "LongSensorNameNumber02", ""]
    let devices = (0..<count).map { number -> [String: Any] in
      var advertisement: [String: Any] = ["flags": 6]
      if number % 2 == 0 { advertisement["manufacturer_data"] = ["0305": String(format: "%02x000038c1a4", number)] }
      // More services than fit a line.
      if number % 2 == 1 { advertisement["services"] = ["180d", "180f", "180a", "1809", "1812", "181a", "1816", "1818"] }
      return [
        "name": "d", "address": String(format: "D1:00:00:00:00:%02X/random", number), "interval_ms": 200,
        "rssi": -40 - number % 60, "advertisement": advertisement, "scan_response": ["name": names[number % names.count]],
      ]
    }
    let path = TemporaryPath()
    try JSONSerialization.data(withJSONObject: devices).write(to: URL(fileURLWithPath: path.path))
    return path
  }

  private func scan(_ arguments: [String] = [], air: String, columns: Int, rows: Int = 24, locale: String = "C.UTF-8") throws -> (
    Int32, Screen, String
  ) {
    let terminal = try PseudoTerminal(
      [Blectl.path, "-i", air, "scan", "--duration", "3"] + arguments, columns: columns, rows: rows,
      environment: ["BLECTL_CLOCK": "virtual", "NO_COLOR": "1"], locale: locale)
    let (status, text) = terminal.finish()
    return (status, Screen(text, rows: rows), text)
  }

  @Test(arguments: [50, 80, 160], [0, 4, 40])
  func everyLineFitsAndTheStrongestIsFirst(_ columns: Int, _ count: Int) throws {
    let air = try Self.air(max(1, count))
    let (status, screen, _) = try scan(count == 0 ? ["--name", "nobody"] : [], air: "sim:\(air.path)", columns: columns)
    #expect(status == 0 && screen.unknown.isEmpty, "\(screen.unknown)")
    #expect(screen.lines.allSatisfy { DisplayText.width($0) <= columns || $0.hasPrefix("note: ") }, "\(screen.lines)")
    let header = try #require(screen.lines.lastIndex { $0.hasPrefix("RSSI") })
    let rows = screen.lines[(header + 1)...].filter { $0.contains(":00:00:00:") }
    #expect(rows.count == count)
    #expect(Set(rows.compactMap { $0.firstMatch(of: /D1:00:00:00:00:../)?.output }).count == count)
    let levels = rows.compactMap { Int($0.prefix(4).drop { $0 == " " }) }
    #expect(levels.count == count && levels == levels.sorted(by: >), "\(levels)")
    #expect(screen.lines.contains { $0.hasPrefix("\(count) devices, ") })
  }

  @Test func whatEachSaysFollowsTheTable() throws {
    let air = try Self.air(4)
    let (status, screen, _) = try scan(["-v"], air: "sim:\(air.path)", columns: 100, rows: 50)
    #expect(status == 0 && screen.unknown.isEmpty, "\(screen.unknown)")
    let summary = try #require(screen.lines.lastIndex { $0.hasPrefix("4 devices, ") })
    let heads = screen.lines[(summary + 1)...].filter { $0.contains("  random · connectable · every ") }
    #expect(heads.count == 4 && heads.first?.contains("D1:00:00:00:00:00") == true, "\(screen.lines)")
    #expect(screen.lines.contains { $0.contains("\\x1b[31mEvil") }, "\(screen.lines)")
  }

  /// With too many devices, the strongest are shown and the others counted. The last table has all.
  @Test(arguments: [50, 80, 160]) func fourHundred(_ columns: Int) throws {
    let controller = try H4Controller()
    let terminal = try PseudoTerminal(
      [Blectl.path, "-i", controller.adapter, "scan", "--count", "401"], columns: columns, rows: 24, environment: ["NO_COLOR": "1"])
    #expect(controller.command(0x200C)?.first == 1)
    func send(_ number: Int) {
      controller.send([
        4, 0x3E, 15, 2, 1, 0, 1, UInt8(number % 256), UInt8(number / 256), 0, 0, 0, 0xD1, 3, 2, 1, 6, UInt8(256 - 99 + number % 60),
      ])
    }
    for number in 0..<400 { send(number) }
    #expect(terminal.wait(for: "400 devices (379 below), 400 records"))
    let live = Screen(String(decoding: terminal.bytes, as: UTF8.self), rows: 24).lines
    #expect(live.suffix(24).first?.hasPrefix("RSSI") == true && live.suffix(23).first?.hasPrefix(" -40 ") == true, "\(live.suffix(24))")
    send(400)
    let (status, text) = terminal.finish()
    let lines = Screen(text, rows: 24).lines
    #expect(status == 0 && lines.filter { $0.contains(" D1:00:00:") }.count >= 401)
    #expect(lines.allSatisfy { DisplayText.width($0) <= columns })
  }

  /// In 50 columns, ASCII too, devices stay distinguishable by the end of their name and of their MAC.
  @Test(arguments: ["C.UTF-8", "C"]) func fiftyColumnsTellDevicesApart(_ locale: String) throws {
    let air = try Self.air(5)
    let (_, screen, text) = try scan(air: "sim:\(air.path)", columns: 50, locale: locale)
    let rows = screen.lines.filter { $0.contains("D1:00") }
    #expect(rows.contains { $0.contains("r01 ") && $0.hasSuffix("00:00:02") }, "\(rows)")
    #expect(rows.contains { $0.contains("r02 ") }, "\(rows)")
    #expect(text.utf8.allSatisfy { $0 < 0x80 } == (locale == "C"))
  }

  /// A row that kept its place in the moving table is at its proper rank in the final one.
  @Test(arguments: [(["--duplicates"], " -59 "), (["--min-rssi", "-70"], " -50 ")])
  func theLastTableIsAboutWhatItShows(_ options: [String], _ first: String) throws {
    let controller = try H4Controller()
    let terminal = try PseudoTerminal(
      [Blectl.path, "-i", controller.adapter, "scan", "--count", options.count == 1 ? "5" : "3"] + options, columns: 80, rows: 24,
      environment: ["NO_COLOR": "1"])
    #expect(controller.command(0x200C)?.first == 1)
    func send(_ number: UInt8, _ rssi: Int, _ byte: UInt8 = 0) {
      controller.send([4, 0x3E, 14, 2, 1, 0, 1, number, 0, 0, 0, 0, 0xD1, 2, 1, byte, UInt8(truncatingIfNeeded: rssi)])
    }
    if options.count == 1 {
      send(1, -60)
      #expect(terminal.wait(for: "1 device, 1 record"))
      for rssi in [-62, -54, -54] { send(2, rssi) }
      send(3, -90)
    } else {
      send(1, -50)
      for _ in 0..<8 { send(1, -90) }
      send(2, -69)
      send(2, -100, 1)
      send(3, -70)
    }
    let (status, text) = terminal.finish()
    let rows = Screen(text, rows: 24).lines.filter { $0.contains("D1:00:00:00:00:") }
    #expect(status == 0 && rows.count == 3 && rows.first?.hasPrefix(first) == true, "\(rows)")
    let levels = rows.compactMap { Int($0.prefix(4).drop { $0 == " " }) }
    #expect(levels.count == 3 && levels == levels.sorted(by: >), "\(levels)")
    if options.count == 2 { #expect(levels == [-50, -69, -70]) }
  }

  @Test func orders() throws {
    func names(_ sort: String) throws -> [Substring] {
      let screen = try scan(["--sort", sort], air: "sim", columns: 100).1
      return screen.lines.suffix(7).compactMap { $0.split(separator: " ").dropFirst(2).first }
    }
    #expect(try names("name").starts(with: ["Band-7", "GateLock", "GateLock", "Panel", "SafeLock"]))
    #expect(try names("rssi").starts(with: ["Panel", "GateLock", "Band-7", "SafeLock", "GateLock"]))
    #expect(try Blectl.run("scan", "--sort", "colour").status == 64)
  }

  @Test func colourOnlyWhereItIsWanted() throws {
    let terminal = try PseudoTerminal(
      [Blectl.path, "-i", "sim", "scan", "--duration", "1"], columns: 80, rows: 24, environment: ["BLECTL_CLOCK": "virtual"])
    #expect(terminal.finish().text.contains("\u{1B}[32m -46"))
    #expect(try !scan(air: "sim", columns: 80).2.contains("m -46"))
  }

  /// The table moves up by its height in the new width: terminals wrap lines that became too long, and no remains may stay.
  @Test func narrowingLeavesNothingOfTheWideTable() throws {
    let terminal = try PseudoTerminal(
      [Blectl.path, "-i", "sim", "scan", "--duration", "0"], columns: 120, rows: 24, environment: ["NO_COLOR": "1"])
    #expect(terminal.wait(for: "5 devices"))
    terminal.resize(columns: 50, rows: 24)
    for _ in 0..<2 { #expect(terminal.wait(for: "5 devices", after: terminal.bytes.count)) }
    terminal.interrupt()
    let frames = terminal.finish().text.components(separatedBy: "\u{1B}[J").dropLast()
    let widths = frames.map { $0.split(separator: "\r\n").map { DisplayText.width(String($0.replacing(/\u{1B}\[\d*[AK]\r?/, with: ""))) } }
    var folded = 0
    for (number, frame) in frames.enumerated().dropFirst() {
      let up = try #require(frame.firstMatch(of: /^\u{1B}\[(\d+)A\r/).flatMap { Int($0.1) }, "\(frame)")
      let rows = widths[number - 1].reduce(0) { $0 + ($1 + 49) / 50 }
      if up == rows, up > widths[number - 1].count { folded += 1 } else { #expect(up == widths[number - 1].count, "\(frame)") }
    }
    #expect(folded == 1)
  }

  /// Ctrl-Z and fg: other programs wrote below the table. It stays as it was, and a new one starts below.
  @Test func afterAStopATableBeginsBelow() throws {
    let terminal = try PseudoTerminal(
      [Blectl.path, "-i", "sim", "scan", "--duration", "0"], columns: 100, rows: 24, environment: ["NO_COLOR": "1"])
    for job in 1...2 {
      #expect(terminal.wait(for: "A\rRSSI", after: terminal.bytes.count))
      terminal.stop()
      terminal.show("[\(job)]+  Stopped\n")
      terminal.resume()
      #expect(terminal.wait(for: "[\(job)]+  Stopped\r\nRSSI"))
    }
    terminal.interrupt()
    #expect(terminal.finish().status == 130)
  }

  /// A message does not appear in the table, and the table does not overwrite it.
  @Test func aNoteStandsAboveTheTable() throws {
    let controller = try H4Controller()
    let terminal = try PseudoTerminal(
      [Blectl.path, "-i", controller.adapter, "scan", "--count", "2"], columns: 80, rows: 24, environment: ["NO_COLOR": "1"])
    #expect(controller.command(0x200C)?.first == 1)
    // A reserved event type between two valid ones.
    for (type, number) in [(0, 1), (9, 2), (0, 3)] {
      controller.send([4, 0x3E, 15, 2, 1, UInt8(type), 1, UInt8(number), 0, 0, 0, 0, 0xD1, 3, 2, 1, 6, 0xC4])
      if number == 1 { #expect(terminal.wait(for: "1 device")) }
    }
    let (status, text) = terminal.finish()
    let lines = Screen(text, rows: 24).lines.filter { !$0.isEmpty }
    #expect(status == 0 && lines.drop { !$0.hasPrefix("RSSI") }.count == 4, "\(lines)")
    #expect(lines.first?.hasPrefix("note: Skipped 1 advertising report of") == true && !lines[1].contains("dBm"), "\(lines)")
    #expect(lines.last?.hasPrefix("2 devices, ") == true)
  }

  /// In real time: the table is redrawn in the new width. Ctrl-C leaves the last one, with the prompt on a new line.
  @Test func resizeAndInterrupt() throws {
    let terminal = try PseudoTerminal(
      [Blectl.path, "-i", "sim", "scan", "--duration", "0"], columns: 120, rows: 24, environment: ["NO_COLOR": "1"])
    #expect(terminal.wait(for: "5 devices"))
    terminal.resize(columns: 50, rows: 10)
    // The second frame from now is complete, and was started in the new width.
    for _ in 0..<2 { #expect(terminal.wait(for: "5 devices", after: terminal.bytes.count)) }
    terminal.interrupt()
    let (status, text) = terminal.finish()
    #expect(status == 130)
    let last = text.components(separatedBy: "RSSI").last ?? ""
    #expect(last.split(separator: "\r\n").allSatisfy { DisplayText.width(String($0.replacing("\u{1B}[K", with: ""))) <= 50 }, "\(last)")
    #expect(last.hasSuffix("\r\n\u{1B}[J"))
  }
}
