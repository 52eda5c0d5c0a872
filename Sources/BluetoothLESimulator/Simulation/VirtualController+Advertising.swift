// SPDX-License-Identifier: Apache-2.0
import BluetoothLE

extension VirtualController {
  /// The number of advertising sets, and the largest length of their data in bytes. One PDU with 245 bytes has to hold connectable data.
  static let (advertisingSetLimit, advertisingDataLimit, connectableDataLimit) = (8, 1650, 245)
  /// The only transmit power, in dBm.
  private static let txPower: Int8 = 0

  // MARK: Legacy commands

  static func enterAdvertising(_ commands: inout Commands) {
    commands.on(LESetAdvertisingParameters.self) { (controller, command) throws(ControllerErrorCode) in
      try controller.setParameters(command)
    }
    commands.reply(to: LEReadAdvertisingPhysicalChannelTXPower.self) { (controller, command) throws(ControllerErrorCode) in
      try controller.use(.legacy, for: command)
      return .init(txPower)
    }
    commands.on(LESetAdvertisingData.self) { (controller, command) throws(ControllerErrorCode) in
      let set = try controller.legacySet(for: command)
      set.data.bytes = command.data
      set.update()
    }
    commands.on(LESetScanResponseData.self) { (controller, command) throws(ControllerErrorCode) in
      let set = try controller.legacySet(for: command)
      set.scanResponse.bytes = command.data
      set.update()
    }
    commands.on(LESetAdvertisingEnable.self) { (controller, command) throws(ControllerErrorCode) in
      let set = try controller.legacySet(for: command)
      guard command.isOn else { return set.stop() }
      try controller.check(set)
      set.start(from: controller.ownAddress(set.ownAddressType), duration: set.isHighDutyCycle ? highDutyCycleLimit.duration : .zero)
    }
  }

  private static let highDutyCycleLimit: Centiseconds = 128

  private func legacySet(for command: some Command) throws(ControllerErrorCode) -> AdvertisingSet {
    try use(.legacy, for: command)
    if let set = advertisingSets[0] { return set }
    let set = AdvertisingSet(0, self)
    advertisingSets[0] = set
    return set
  }

  private func setParameters(_ command: LESetAdvertisingParameters) throws(ControllerErrorCode) {
    let set = try legacySet(for: command)
    guard !set.isEnabled else { throw .commandDisallowed }
    let isHighDutyCycle = command.type == 1
    guard command.type <= 4, command.ownAddressType <= 3, (1...7).contains(command.channelMap), command.filterPolicy <= 3,
      isHighDutyCycle || command.intervalMin <= command.intervalMax && command.intervalMin >= 0x20 && command.intervalMax <= 0x4000
    else { throw .invalidParameters }
    // The controller has no filter accept list.
    guard command.filterPolicy == 0 else { throw .unsupportedFeature }
    set.ownAddressType = command.ownAddressType
    set.isHighDutyCycle = isHighDutyCycle
    set.advertising.interval = isHighDutyCycle ? .zero : command.intervalMin.duration
    set.advertising.isConnectable = [0, 1, 4].contains(command.type)
    set.pdus.isScannable = command.type == 0 || command.type == 2
    set.pdus.target = command.type == 1 || command.type == 4 ? command.peer : nil
  }

  // MARK: Extended commands

  static func enterExtendedAdvertising(_ commands: inout Commands) {
    commands.on(LESetAdvertisingSetRandomAddress.self) { (controller, command) throws(ControllerErrorCode) in
      let set = try controller.set(command.advertisingHandle, for: command)
      guard !set.isEnabled || !set.advertising.isConnectable else { throw .commandDisallowed }
      set.randomAddress = command.address
    }
    commands.reply(to: LESetExtendedAdvertisingParameters.self) { (controller, command) throws(ControllerErrorCode) in
      try controller.setParameters(command)
      return .init(selectedTXPower: txPower)
    }
    commands.on(LESetExtendedAdvertisingData.self) { (controller, command) throws(ControllerErrorCode) in
      let set = try controller.set(command.advertisingHandle, for: command)
      let takes = set.pdus.isExtended ? !set.pdus.isScannable : set.pdus.target == nil
      try controller.setData(\.data, of: set, takes: takes, command.operation, command.data)
    }
    commands.on(LESetExtendedScanResponseData.self) { (controller, command) throws(ControllerErrorCode) in
      let set = try controller.set(command.advertisingHandle, for: command)
      guard command.operation != 4 else { throw .invalidParameters }
      try controller.setData(\.scanResponse, of: set, takes: set.pdus.isScannable, command.operation, command.data)
    }
    commands.on(LESetExtendedAdvertisingEnable.self) { (controller, command) throws(ControllerErrorCode) in try controller.enable(command) }
    // Hosts read these two before they choose a set of commands.
    commands.reply(to: LEReadMaximumAdvertisingDataLength.self) { _, _ in .init(UInt16(advertisingDataLimit)) }
    commands.reply(to: LEReadNumberOfSupportedAdvertisingSets.self) { _, _ in .init(UInt8(advertisingSetLimit)) }
    commands.on(LERemoveAdvertisingSet.self) { (controller, command) throws(ControllerErrorCode) in
      let set = try controller.set(command.advertisingHandle, for: command)
      guard !set.isEnabled else { throw .commandDisallowed }
      controller.advertisingSets[set.handle] = nil
    }
    commands.on(LEClearAdvertisingSets.self) { (controller, command) throws(ControllerErrorCode) in
      try controller.use(.extended, for: command)
      guard !controller.advertisingSets.values.contains(where: \.isEnabled) else { throw .commandDisallowed }
      controller.advertisingSets = [:]
    }
  }

  private func set(_ handle: UInt8, for command: some Command) throws(ControllerErrorCode) -> AdvertisingSet {
    try use(.extended, for: command)
    guard let set = advertisingSets[handle] else { throw .unknownAdvertisingIdentifier }
    return set
  }

  private func setParameters(_ command: LESetExtendedAdvertisingParameters) throws(ControllerErrorCode) {
    try use(.extended, for: command)
    let known = advertisingSets[command.advertisingHandle]
    guard known?.isEnabled != true else { throw .commandDisallowed }
    guard command.advertisingHandle <= 0xEF, command.intervalMin >= 0x20, command.intervalMin <= command.intervalMax,
      (1...7).contains(command.channelMap), command.ownAddressType <= 3, command.filterPolicy <= 3, command.sid <= 15
    else { throw .invalidParameters }
    let pdus = try pdus(of: command)
    // The controller has no filter accept list.
    guard command.filterPolicy == 0 else { throw .unsupportedFeature }
    guard known != nil || advertisingSets.count < Self.advertisingSetLimit else { throw .memoryCapacityExceeded }
    let set = known ?? AdvertisingSet(command.advertisingHandle, self)
    // The data must fit the new PDUs.
    guard pdus.isExtended || max(set.data.bytes.count, set.scanResponse.bytes.count) <= 31 else { throw .invalidParameters }
    advertisingSets[set.handle] = set
    set.ownAddressType = command.ownAddressType
    set.isHighDutyCycle = command.properties & 0x08 != 0
    set.advertising.interval = .nanoseconds(set.isHighDutyCycle ? 0 : Int64(command.intervalMin) * Slots.unit)
    set.advertising.isConnectable = command.properties & 0x01 != 0
    set.pdus = pdus
  }

  /// Returns the PDUs that the properties and PHYs of a command describe.
  private func pdus(of command: LESetExtendedAdvertisingParameters) throws(ControllerErrorCode) -> AdvertisingPDUs {
    let properties = command.properties
    var pdus = AdvertisingPDUs()
    pdus.isExtended = properties & 0x10 == 0
    pdus.isScannable = properties & 0x02 != 0
    pdus.target = properties & 0x04 != 0 ? command.peer : nil
    guard command.primaryPHY == 1 || command.primaryPHY == 3, let primary = PHY(rawValue: command.primaryPHY) else {
      throw .invalidParameters
    }
    if pdus.isExtended {
      // Vol 4 Part E §7.8.53: not both connectable and scannable, anonymous only if neither, no high duty cycle.
      guard properties & ~0x77 == 0, properties & 0x03 != 0x03, properties & 0x20 == 0 || properties & 0x03 == 0,
        let secondary = PHY(rawValue: command.secondaryPHY)
      else { throw .invalidParameters }
      (pdus.primary, pdus.secondary, pdus.sid) = (primary, secondary, command.sid)
      pdus.isAnonymous = properties & 0x20 != 0
      if properties & 0x40 != 0 { pdus.txPower = Self.txPower }
    } else {
      // ADV_IND, ADV_DIRECT_IND of both duty cycles, ADV_SCAN_IND, ADV_NONCONN_IND.
      guard [0x13, 0x15, 0x1D, 0x12, 0x10].contains(properties), primary == .le1M else { throw .invalidParameters }
    }
    guard configuration.phys.isSuperset(of: [pdus.primary, pdus.secondary]) else { throw .unsupportedFeature }
    return pdus
  }

  /// Adds a fragment to the data of a set.
  /// - Parameter takes: Whether the PDUs of the set have such data.
  private func setData(
    _ content: ReferenceWritableKeyPath<AdvertisingSet, AdvertisingSet.Content>, of set: AdvertisingSet, takes: Bool, _ operation: UInt8,
    _ part: [UInt8]
  ) throws(ControllerErrorCode) {
    guard operation <= 4, takes || part.isEmpty, set.pdus.isExtended || operation == 3 && part.count <= 31 else { throw .invalidParameters }
    var new = set[keyPath: content]
    switch operation {
    case 3: new = .init(bytes: part)
    case 4:
      guard set.isEnabled, part.isEmpty, !new.bytes.isEmpty else { throw .invalidParameters }
    default:
      guard !part.isEmpty, operation == 1 || new.isPartial else { throw .invalidParameters }
      // While the set is enabled, only whole data are safe.
      guard !set.isEnabled else { throw .commandDisallowed }
      new = .init(bytes: operation == 1 ? part : new.bytes + part, isPartial: operation != 2)
    }
    guard new.bytes.count <= (set.advertising.isConnectable ? Self.connectableDataLimit : Self.advertisingDataLimit) else {
      set[keyPath: content] = .init()
      throw .memoryCapacityExceeded
    }
    // A scannable extended set has always a scan response.
    guard !(set.isEnabled && set.pdus.isExtended && takes && set.pdus.isScannable && new.bytes.isEmpty) else { throw .commandDisallowed }
    set[keyPath: content] = new
    if set.pdus.isExtended { set.pdus.dataID &+= 1 }
    set.update()
  }

  private func enable(_ command: LESetExtendedAdvertisingEnable) throws(ControllerErrorCode) {
    try use(.extended, for: command)
    guard command.isOn else {
      let handles = command.sets.isEmpty ? Array(advertisingSets.keys) : command.sets.map(\.advertisingHandle)
      var sets: [AdvertisingSet] = []
      for handle in handles { sets.append(try set(handle, for: command)) }
      return sets.forEach { $0.stop() }
    }
    guard !command.sets.isEmpty, Set(command.sets.map(\.advertisingHandle)).count == command.sets.count else { throw .invalidParameters }
    // All sets must be right before one of them starts.
    var starts: [(set: AdvertisingSet, address: PeerAddress, entry: LESetExtendedAdvertisingEnable.Entry)] = []
    for entry in command.sets {
      let set = try set(entry.advertisingHandle, for: command)
      guard !set.isHighDutyCycle || (1...Self.highDutyCycleLimit).contains(entry.duration) else { throw .invalidParameters }
      try check(set)
      starts.append((set, set.ownAddressType & 1 == 0 ? ownAddress(0) : PeerAddress(set.randomAddress ?? address, .random), entry))
    }
    for start in starts { start.set.start(from: start.address, duration: start.entry.duration.duration, maxEvents: start.entry.maxEvents) }
  }

  // MARK: Both

  /// Checks whether a set can be enabled.
  private func check(_ set: AdvertisingSet) throws(ControllerErrorCode) {
    let hasAddress = commandSet == .legacy ? isOwnAddress(set.ownAddressType) : set.ownAddressType & 1 == 0 || set.randomAddress != nil
    guard hasAddress else { throw .invalidParameters }
    guard !set.data.isPartial, !set.scanResponse.isPartial,
      !set.pdus.isExtended || !set.pdus.isScannable || !set.scanResponse.bytes.isEmpty
    else { throw .commandDisallowed }
    guard !set.advertising.isConnectable || freeHandle != nil else { throw .connectionLimitExceeded }
  }

  /// Tells the host that a set ended without a link.
  func ended(_ set: AdvertisingSet, _ status: ControllerErrorCode) {
    if commandSet == .extended {
      emit(.leAdvertisingSetTerminated(status: status, advertisingHandle: set.handle, handle: 0, events: set.countedEvents))
    } else if let target = set.pdus.target {
      // Only ADV_DIRECT_IND at high duty cycle has a limit.
      let none = LinkLayer.Parameters(interval: 0, latency: 0, supervisionTimeout: 0)
      emitComplete(status, .peripheral, peer: target, none)
    }
  }
}

extension ControllerErrorCode {
  static let memoryCapacityExceeded = Self(rawValue: 0x07)
  static let advertisingTimeout = Self(rawValue: 0x3C)
  static let unknownAdvertisingIdentifier = Self(rawValue: 0x42)
  static let limitReached = Self(rawValue: 0x43)
}
