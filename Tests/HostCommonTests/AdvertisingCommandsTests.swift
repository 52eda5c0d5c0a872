import TestSupport

@Suite(.timeLimit(.minutes(15))) struct AdvertisingCommandsTests {
  private static let extended: [Opcode] = [
    LESetExtendedAdvertisingParameters.opcode, LESetExtendedAdvertisingData.opcode, LESetExtendedAdvertisingEnable.opcode,
  ]
  private static let noPeer = PeerAddress(Address(rawValue: 0), .public)

  private func controller(_ commands: [Opcode] = [], _ type: AddressType = .public) -> ControllerInfo {
    var info = ControllerInfo()
    info.supported = SupportedCommands(commands)
    info.ownAddress = PeerAddress(Address(rawValue: 0xC0_00_00_00_00_07), type)
    return info
  }

  private func advertising(
    _ data: Int, _ response: Int, connectable: Bool = true, extended: Bool = false, interval: Duration = .milliseconds(100)
  ) -> Advertising {
    var advertising = Advertising()
    (advertising.data, advertising.scanResponse) = ([UInt8](repeating: 1, count: data), [UInt8](repeating: 2, count: response))
    (advertising.isConnectable, advertising.isExtended, advertising.interval) = (connectable, extended, interval)
    return advertising
  }

  private func commands(_ advertising: Advertising, _ info: ControllerInfo, limit: Int = 1650) throws -> AdvertisingCommands {
    try AdvertisingCommands(advertising, adapter: "a", info, limit: limit)
  }

  @Test(arguments: [(true, 3, 0 as UInt8), (false, 3, 2), (false, 0, 3)])
  func legacy(_ row: (isConnectable: Bool, response: Int, type: UInt8)) throws {
    let wanted = advertising(31, row.response, connectable: row.isConnectable)
    let made = try commands(wanted, controller(Self.extended.dropLast(), .random))
    #expect(!made.isExtended && made.remove == nil)
    #expect(
      made.configure == [
        LESetAdvertisingParameters(intervalMin: 160, intervalMax: 160, type: row.type, ownAddressType: 1, peer: Self.noPeer).packet,
        LESetAdvertisingData(wanted.data).packet, LESetScanResponseData(wanted.scanResponse).packet,
      ])
    #expect(made.enable == LESetAdvertisingEnable(true) && made.disable == LESetAdvertisingEnable(false))
  }

  /// Legacy PDUs by extended commands: ADV_IND, ADV_SCAN_IND and ADV_NONCONN_IND (Vol 4 Part E §7.8.53, Table 7.2).
  @Test(arguments: [(true, 3, 0x13 as UInt16), (true, 0, 0x13), (false, 3, 0x12), (false, 0, 0x10)])
  func legacyByExtendedCommands(_ row: (isConnectable: Bool, response: Int, properties: UInt16)) throws {
    let wanted = advertising(31, row.response, connectable: row.isConnectable)
    let made = try commands(wanted, controller(Self.extended, .random))
    var expected = [
      LESetExtendedAdvertisingParameters(
        advertisingHandle: 0, properties: row.properties, intervalMin: 160, intervalMax: 160, ownAddressType: 1, peer: Self.noPeer
      ).packet, LESetAdvertisingSetRandomAddress(advertisingHandle: 0, controller().ownAddress.address).packet,
      LESetExtendedAdvertisingData(advertisingHandle: 0, wanted.data).packet,
    ]
    if row.properties & 2 != 0 { expected.append(LESetExtendedScanResponseData(advertisingHandle: 0, wanted.scanResponse).packet) }
    #expect(made.isExtended && made.configure == expected)
    #expect(made.enable == LESetExtendedAdvertisingEnable(true, sets: [.init(advertisingHandle: 0)]))
    #expect(made.disable == LESetExtendedAdvertisingEnable(false, sets: [.init(advertisingHandle: 0)]))
    #expect(made.remove == LERemoveAdvertisingSet(advertisingHandle: 0).packet)
  }

  @Test(arguments: [(true, 600, 0, 1 as UInt16), (false, 600, 0, 0), (false, 0, 600, 2), (true, 0, 0, 1)])
  func extendedPDUs(_ row: (isConnectable: Bool, data: Int, response: Int, properties: UInt16)) throws {
    let made = try commands(advertising(row.data, row.response, connectable: row.isConnectable, extended: true), controller(Self.extended))
    #expect(made.configure.first.flatMap { LESetExtendedAdvertisingParameters($0) }?.properties == row.properties)
    let data = made.configure.compactMap { LESetExtendedAdvertisingData($0) }
    let responses = made.configure.compactMap { LESetExtendedScanResponseData($0) }
    #expect(data.map(\.data.count) == (row.response > 0 ? [] : row.data > 0 ? [251, 251, 98] : [0]))
    #expect(data.map(\.operation) == (row.response > 0 ? [] : row.data > 0 ? [1, 0, 2] : [3]))
    #expect(responses.map(\.data.count) == (row.response > 0 ? [251, 251, 98] : []))
  }

  @Test func fragments() throws {
    for (count, operations) in [(251, [3]), (252, [1, 2]), (502, [1, 2]), (503, [1, 0, 2])] as [(Int, [UInt8])] {
      let made = try commands(advertising(count, 0, extended: true), controller(Self.extended))
      let fragments = made.configure.compactMap { LESetExtendedAdvertisingData($0) }
      #expect(fragments.map(\.operation) == operations && fragments.map(\.data.count).reduce(0, +) == count)
    }
  }

  @Test func limits() throws {
    let info = controller(Self.extended)
    for (wanted, error) in [
      (advertising(32, 0), .advertisingTooLong(adapter: "a", .data, 32, limit: 31)),
      (advertising(0, 32), .advertisingTooLong(adapter: "a", .scanResponse, 32, limit: 31)),
      (advertising(601, 0, extended: true), .advertisingTooLong(adapter: "a", .data, 601, limit: 600)),
      (advertising(0, 601, connectable: false, extended: true), .advertisingTooLong(adapter: "a", .scanResponse, 601, limit: 600)),
      (advertising(0, 1, extended: true), .advertisingTooLong(adapter: "a", .scanResponse, 1, limit: 0)),
      (advertising(1, 1, connectable: false, extended: true), .advertisingTooLong(adapter: "a", .scanResponse, 1, limit: 0)),
      (advertising(0, 0, interval: .microseconds(19_999)), .advertisingIntervalOutOfRange(.microseconds(19_999))),
      (advertising(0, 0, interval: .milliseconds(10_241)), .advertisingIntervalOutOfRange(.milliseconds(10_241))),
      (advertising(0, 0, interval: .seconds(Int64.max)), .advertisingIntervalOutOfRange(.seconds(Int64.max))),
    ] as [(Advertising, GAPError)] {
      #expect(throws: error) { try commands(wanted, info, limit: 600) }
    }
    #expect(throws: GAPError.cannotAdvertiseExtended(adapter: "a")) { try commands(advertising(0, 0, extended: true), controller()) }
    for (interval, units) in [(20, 0x20), (10_240, 0x4000)] as [(Int64, Slots.RawValue)] {
      let made = try commands(advertising(0, 0, interval: .milliseconds(interval)), controller())
      #expect(made.configure.first.flatMap { LESetAdvertisingParameters($0) }?.intervalMin.rawValue == units)
    }
  }
}
