import Foundation
import TestSupport

/// Devices with invalid databases remain usable, and everything readable is shown.
@Suite(.timeLimit(.minutes(15))) struct IrregularDeviceTests {
  private static let address = "D2:00:00:00:00:02"

  /// The device of `Tests/Vectors/foreign.btsnoop`, whose values are outside of their service.
  private static let foreign: PlainServer = {
    func item(_ handle: AttributeHandle, _ type: UInt32, _ value: [UInt8]) -> PlainServer.Item {
      PlainServer.Item(handle: handle, type: UUID(type), value: value)
    }
    var server = PlainServer([
      item(0x10, 0x2800, [0x00, 0x18]), item(0x11, 0x2803, [2, 0x16, 0, 0x00, 0x2A]), item(0x13, 0x2803, [2, 0x18, 0, 0x01, 0x2A]),
      item(0x15, 0x2800, [0x0A, 0x18]), item(0x16, 0x2A00, Array("Raw".utf8)), item(0x17, 0x2803, [2, 0x1A, 0, 0x29, 0x2A]),
      item(0x18, 0x2A01, [0, 0]), item(0x19, 0x2803, [2, 0x1C, 0, 0x24, 0x2A]), item(0x1A, 0x2A29, Array("Maker".utf8)),
      item(0x1B, 0x2803, [0x12, 0x1D, 0, 0x25, 0x2A]), item(0x1C, 0x2A24, Array("Model".utf8)), item(0x1D, 0x2A25, Array("1".utf8)),
      item(0x1E, 0x2902, [0, 0]),
    ])
    server.ends = [0x10: 0x14, 0x15: 0x1D]
    return server
  }()

  private func run(_ arguments: String...) throws -> ProcessResult {
    let controller = try H4Controller()
    controller.serve(Self.foreign)
    return try Blectl.run(arguments, adapter: controller.adapter, virtual: false)
  }

  @Test func theTreeIsShown() throws {
    let result = try run("services", "\(Self.address)/random", "--values")
    #expect(result.status == 0, "\(result.errors)")
    for text in ["1800 Generic Access", "2a00 Device Name", "Raw", "2a29", "Maker", "Model", "2902"] {
      #expect(result.text.contains(text), "\(text): \(result.text)")
    }
    #expect(result.errors.contains("Kept characteristic 2a00 (handle 0x0011): its value is at 0x0016, outside its service."))
    #expect(result.errors.split(separator: "\n").count { $0.contains("Kept ") } == 5, "\(result.errors)")
  }

  @Test func whatWasFoundCanBeUsed() throws {
    let read = try run("read", "\(Self.address)/random", "1800/2a00", "0x001a", "model_number_string")
    #expect(read.status == 0 && read.text.contains("Raw") && read.text.contains("Maker") && read.text.contains("Model"), "\(read.errors)")
    #expect(try run("write", "\(Self.address)/random", "2a00", "00", "--mode", "request").status == 0)
    let notify = try run("notify", "\(Self.address)/random", "2a25", "-d", "0.1")
    #expect(notify.status == 0 && !notify.errors.contains("2902)"), "\(notify.errors)")
  }

  @Test(arguments: [("--primary", 2), ("--characteristics", 5), ("--char-desc", 13)]) func gatttoolListsIt(
    _ procedure: String, _ count: Int
  )
    throws
  {
    let result = try run("gatttool", "-b", Self.address, "-t", "random", procedure)
    #expect(result.lines.count == count, "\(result.text)\(result.errors)")
  }

  /// The recording ends where an older version gave up. Known results come before the error.
  @Test func whatARecordingHasIsShown() throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../Vectors/foreign.btsnoop").path
    let adapter = "replay:\(file)"
    let services = try Blectl.run(["services", "name:Raw", "--json", "--strict"], adapter: adapter, virtual: false)
    let records = try services.lines.map { try Record($0) }
    #expect(records.map { $0.string("uuid") } == ["1800", "180a"], "\(services.text)\(services.errors)")
    #expect(services.errors.contains("its value is at 0x0016, outside its service."), "\(services.errors)")
    #expect(services.errors.contains("\"error\""), "\(services.errors)")
    let characteristics = try Blectl.run(
      ["gatttool", "-b", Self.address, "-t", "random", "--characteristics"], adapter: adapter, virtual: false)
    #expect(characteristics.lines.count == 5, "\(characteristics.text)\(characteristics.errors)")
  }
}
