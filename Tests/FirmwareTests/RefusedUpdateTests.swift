import BluetoothLESimulator
import TestSupport

@testable import BluetoothLEFirmware

/// Files and options that simulated devices do not take: no byte of an image arrives, and what is in flash stays.
@Suite(.timeLimit(.minutes(15))) struct RefusedUpdateTests {
  private typealias Row = (device: String, file: [UInt8], error: any Error, change: @Sendable (inout UpdateOptions) -> Void)

  private static func smp(_ keys: String = "") -> String { #""mcumgr": {"slot_size": 16384, "image_size": 3000\#(keys)}"# }

  private static func dfu(_ keys: String = "") -> String { #""dfu": {\#(keys)}"# }

  private static func refused(_ error: DFUExtendedError) -> DFUError { .refused(.execute, .extended, error) }

  private static func refusal(_ operation: String, _ object: String, _ result: Int, _ more: String = "") -> String {
    #""refuses": {"operation": "\#(operation)", "object": "\#(object)", "result": \#(result)\#(more)}"#
  }

  private static let none: @Sendable (inout UpdateOptions) -> Void = { _ in }
  private static let (new, old, package) = (UpdateAir.image(2, size: 3000), UpdateAir.image(0, 9, size: 3000), Fixture.package())
  private static let packet = Fixture.packet(Fixture.initCommand(Fixture.application))
  private static let unsigned = Fixture.package(packet: Fixture.packet(Fixture.initCommand(Fixture.application), isSigned: false))
  private static let damaged = Fixture.package(binary: Array(Fixture.application.dropLast()), packet: packet)
  private static let downgrade = ManagementError.downgradeForbidden(
    running: ImageVersion(major: 1, minor: 0, revision: 0), file: ImageVersion(major: 0, minor: 9, revision: 0))

  private static let rows: [Row] = [
    (smp(), package, FirmwareUpdateError.packageForMCUmgr, none),
    (smp(), new, FirmwareUpdateError.unusedOption(.prn, .mcumgr), { $0.prn = 4 }),
    (smp(), new, ManagementError.noSuchImage(3), { $0.image = 3 }),
    (smp(), UpdateAir.image(2, size: 16_000), ManagementError.imageTooLarge(16_072, limit: 12_288), none),
    (smp(#", "no_downgrade": true"#), old, downgrade, none),
    (smp(#", "mode": 0"#), new, ManagementError.refused(.upload, ManagementRefusal(group: 1, code: 9), reason: nil), none),
    (smp(#", "reassembly": false"#), new, ManagementError.mtuTooSmall(mtu: 23), none),
    (dfu(#""buttonless": "no_bonds""#), new, FirmwareUpdateError.imageForDFU, none),
    (dfu(#""buttonless": "no_bonds""#), damaged, FirmwareFileError.partSize(.application, initPacket: 500, file: 499), none),
    (dfu(), package, FirmwareUpdateError.unusedOption(.image, .nordicDFU), { $0.image = 1 }),
    (dfu(), package, FirmwareUpdateError.unusedOption(.confirms, .nordicDFU), { $0.confirms = false }),
    (dfu(#""hardware_version": 51"#), package, refused(.hardwareVersion), none),
    (dfu(#""softdevice": 182"#), package, refused(.softdeviceVersion), none),
    (dfu(#""application_version": 20000"#), package, refused(.firmwareVersion), none),
    (dfu(#""flash_size": 4096"#), Fixture.package(binary: [UInt8](repeating: 1, count: 5000)), refused(.space), none),
    (dfu(), unsigned, refused(.signatureMissing), none),
    (dfu(#""init_packet_size": 64"#), package, DFUError.initPacketTooLarge(packet.count, limit: 64), none),
    (dfu(refusal("select", "data", 4)), package, DFUError.refused(.select, .insufficientResources, nil), none),
  ]

  private static let extended = (UInt8(2)...14).map { code -> Row in
    (dfu(refusal("execute", "command", 11, #", "extended": \#(code)"#)), package, refused(DFUExtendedError(code)), none)
  }

  @Test func nothingChanges() async throws {
    try await onLoop {
      for row in Self.rows + Self.extended {
        let air = try await UpdateAir(row.device, row.device.contains("reassembly") ? #", "mtu": 23"# : "")
        let before = air.flash
        var options = UpdateOptions()
        row.change(&options)
        do {
          try await air.update(row.file, options)
          Issue.record("no error: \(row.device)")
        } catch { #expect("\(error)" == "\(row.error)", "\(row.device)") }
        let ledger = air.ledger
        #expect(air.flash == before && ledger.received == 0 && ledger.pages == 0 && ledger.restarts == 0, "\(row.device)")
        await air.session.close()
      }
    }
  }
}
