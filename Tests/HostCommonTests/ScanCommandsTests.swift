import TestSupport

@Suite(.timeLimit(.minutes(15))) struct ScanCommandsTests {
  private func controller(_ commands: [Opcode], _ features: LEFeatures = [], _ type: AddressType = .public) -> ControllerInfo {
    var info = ControllerInfo()
    info.supported = SupportedCommands(commands)
    info.leFeatures = features
    info.ownAddress = PeerAddress(Address(rawValue: 1), type)
    return info
  }

  private static let extended: [Opcode] = [LESetExtendedScanParameters.opcode, LESetExtendedScanEnable.opcode]

  @Test func legacy() throws {
    var parameters = ScanParameters()
    let commands = try ScanCommands(parameters, adapter: "a", controller([]))
    #expect(!commands.isExtended)
    #expect(
      commands.configure
        == LESetScanParameters(ScanTiming(isActive: true, interval: 96, window: 96), ownAddressType: 0, filterPolicy: 0))
    #expect(commands.enable == LESetScanEnable(true, filterDuplicates: false))
    #expect(commands.disable == LESetScanEnable(false, filterDuplicates: false))
    parameters.isActive = false
    #expect(
      try ScanCommands(parameters, adapter: "a", controller([], [], .random), sharing: true).configure
        == LESetScanParameters(ScanTiming(isActive: false, interval: 192, window: 96), ownAddressType: 1, filterPolicy: 0))
  }

  /// Extended commands require support for both, as in the kernel, so that legacy and extended commands never mix.
  @Test func extendedCommandsAreUsedWhenBothAreThere() throws {
    for some in Self.extended { #expect(try !ScanCommands(ScanParameters(), adapter: "a", controller([some])).isExtended) }
    let commands = try ScanCommands(ScanParameters(), adapter: "a", controller(Self.extended, [], .random))
    let timing = ScanTiming(isActive: true, interval: 96, window: 96)
    #expect(commands.configure == LESetExtendedScanParameters(ownAddressType: 1, filterPolicy: 0, phys: .le1M, [timing]))
    #expect(commands.enable == LESetExtendedScanEnable(true, filterDuplicates: 0, duration: 0, period: 0))
    #expect(commands.disable == LESetExtendedScanEnable(false, filterDuplicates: 0, duration: 0, period: 0))
  }

  @Test func thePHYsTakeTurns() throws {
    var parameters = ScanParameters()
    parameters.phys = [.coded, .le1M]
    let controller = controller(Self.extended, .phyCoded)
    func timing(_ interval: Slots) -> ScanTiming { ScanTiming(isActive: true, interval: interval, window: 96) }
    #expect(
      try ScanCommands(parameters, adapter: "a", controller).configure
        == LESetExtendedScanParameters(ownAddressType: 0, filterPolicy: 0, phys: [.le1M, .coded], [timing(192), timing(192)]))
    #expect(
      try ScanCommands(parameters, adapter: "a", controller, sharing: true).configure
        == LESetExtendedScanParameters(ownAddressType: 0, filterPolicy: 0, phys: [.le1M, .coded], [timing(288), timing(288)]))
    parameters.phys = [.coded]
    #expect(
      try ScanCommands(parameters, adapter: "a", controller).configure
        == LESetExtendedScanParameters(ownAddressType: 0, filterPolicy: 0, phys: .coded, [timing(96)]))
  }

  @Test func whatCannotBe() {
    var parameters = ScanParameters()
    for phys in [[], [.le2M]] as [Set<PHY>] {
      parameters.phys = phys
      #expect(throws: GAPError.noPrimaryPHY) { try ScanCommands(parameters, adapter: "a", controller(Self.extended)) }
    }
    parameters.phys = [.coded, .le1M]
    #expect(throws: GAPError.cannotScan(adapter: "a", on: .coded, hasExtended: false)) {
      try ScanCommands(parameters, adapter: "a", controller([], .phyCoded))
    }
    #expect(throws: GAPError.cannotScan(adapter: "a", on: .coded, hasExtended: true)) {
      try ScanCommands(parameters, adapter: "a", controller(Self.extended))
    }
  }
}
