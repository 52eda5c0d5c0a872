// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE
import BluetoothLEText

/// A bootloader with Nordic Secure DFU, on one link.
@LoopActor
package final class DFUTarget {
  package nonisolated static let service = UUID(0xFE59)

  /// Whether the last object was executed, so that the device may restart before its answer arrives.
  private(set) var isFinishing = false
  /// Whether a transfer began with bytes that the device already had.
  private(set) var isResumed = false
  /// The number of packets for each of which the device sends a receipt. None below one.
  private var receipts: Int
  /// Whether the packets of an object follow its `create` immediately, and the device confirms them by itself. False after a loss.
  private var overlaps: Bool
  /// Whether the device was told to send a receipt after the packets of an object of the maximum size.
  private var confirmsObjects = false
  /// A receipt that arrived before the answer to `create`.
  private var receipt: DFUObjectState?
  private let client: Client
  private let control, packets: AttributeHandle
  private let answers: Subscription

  /// Returns whether the device runs a bootloader. An application that can start one has the same service.
  package nonisolated static func isTarget(_ table: AttributeTable) -> Bool {
    characteristic(1, table) != nil && characteristic(2, table) != nil
  }

  private nonisolated static func characteristic(_ number: UInt64, _ table: AttributeTable) -> Characteristic? {
    table.services.first { $0.uuid == service }?.characteristics.first { $0.uuid == .dfu(0x8EC9_0000 + number) }
  }

  /// Subscribes to the control point.
  /// - Parameter receipts: The number of packets for each of which the device sends a receipt. Nil for those of an object. None below one.
  init(_ client: Client, receipts: Int? = nil) async throws {
    let table = try await client.discover()
    guard let control = Self.characteristic(1, table), let packet = Self.characteristic(2, table) else { throw DFUError.noTarget }
    if client.requestedMTU == nil { try await client.exchangeMTU() }
    (self.client, self.control, packets) = (client, control.valueHandle, packet.valueHandle)
    (self.receipts, overlaps) = (min(receipts ?? 0, 0xFFFF), receipts == nil)
    answers = try await client.subscribe(control, kind: .notification)
  }

  func close() async { await answers.close() }

  /// Sends a request and waits for its answer: 60 s for `create`, which may erase, and for `execute`, which may verify. Otherwise 10 s.
  @discardableResult
  private func request(_ operation: DFUOperation, _ values: [UInt8] = []) async throws -> DFUObjectState {
    try await client.writeRequest([operation.rawValue] + values, to: control)
    let limit = Duration.seconds(operation == .create || operation == .execute ? 60 : 10)
    if let state = try await answer(to: operation, within: limit) { return state }
    throw DFUError.noAnswer(operation, after: limit)
  }

  /// Waits for the answer to a `create` that was sent before packets. Keeps a receipt for them, because the device may erase first.
  private func created(_ request: Bearer.OpenRequest) async throws {
    if case .error(_, _, let code) = try await client.bearer.answer(to: request) {
      throw GATTError.errorResponse(code, to: .write(control, value: []), on: nil)
    }
    let limit = Duration.seconds(60)
    guard try await answer(to: .create, within: limit, keepsReceipt: true) != nil else { throw DFUError.noAnswer(.create, after: limit) }
  }

  /// Waits for an answer, and drops others, such as late receipts. Returns nil after the limit.
  private func answer(
    to operation: DFUOperation, within limit: Duration, keepsReceipt: Bool = false
  ) async throws -> DFUObjectState? {
    let deadline = EventLoop.shared.now.advanced(by: limit)
    while let event = try await answers.next(until: deadline) {
      if let state = try DFUObjectState(answer: event.value, to: operation) { return state }
      if keepsReceipt { receipt = try DFUObjectState(answer: event.value, to: .crc) ?? receipt }
    }
    return nil
  }

  private func little(_ number: Int, _ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }

  /// Transfers an init packet or an image, object by object.
  ///
  /// The bound for objects of S bytes is S / ((⌈⌈S / p⌉ / e⌉ + 3) × i) bytes per second, with packets of p bytes, e packets in a connection
  /// event, and the interval i. `create` is in the same event as the first packets, and the device sends a receipt after the last packet by
  /// itself. The receipt, `execute` and its answer take an event each, because a device answers in the next event, and the central ends an
  /// event that has no more data. They cannot overlap more: `execute` makes wrong bytes permanent, and a bootloader that is still writing its
  /// flash may put `execute` off, so that a `create` would discard the object. After a loss, each request waits for the answer before it.
  /// - Parameters:
  ///   - resumes: Whether to continue with the bytes that the device has.
  ///   - onProgress: Receives the offsets after the last byte sent and after the last executed object, first where the transfer begins.
  func transfer(
    _ bytes: [UInt8], as type: DFUObjectType, resumes: Bool, _ onProgress: @LoopActor (Int, Int) throws -> Void = { _, _ in }
  ) async throws {
    // Init packets need no receipts. An earlier transfer may have left them on.
    if type == .command { try await request(.setPRN, [0, 0]) }
    let state = try await request(.select, [type.rawValue])
    guard type == .data || bytes.count <= state.maximum else { throw DFUError.initPacketTooLarge(bytes.count, limit: state.maximum) }
    var (plan, crc) = (DFUObjectPlan(bytes, state, resumes: resumes), CRC32())
    isResumed = isResumed || plan.offset > 0
    try onProgress(plan.offset, plan.object.lowerBound)
    crc.add(bytes[..<plan.object.lowerBound])
    while true {
      let mayBeExecuted = plan.isComplete && !plan.isLast
      if plan.isComplete { crc.add(bytes[plan.object]) } else { try await fill(plan, type, bytes, &crc, onProgress) }
      isFinishing = type == .data && plan.isLast
      do { try await request(.execute) } catch DFUError.refused(_, .notPermitted, _) where mayBeExecuted {}
      try onProgress(plan.object.upperBound, plan.object.upperBound)
      if plan.isLast { return }
      plan.advance()
    }
  }

  /// Sends an object as fast as the link accepts it, in packets of whole words, because bootloaders write them to flash. Tries up to three
  /// times until the device has the right CRC, the last time with a receipt for each packet. `crc` advances over the object.
  private func fill(
    _ plan: DFUObjectPlan, _ type: DFUObjectType, _ bytes: [UInt8], _ crc: inout CRC32, _ onProgress: @LoopActor (Int, Int) throws -> Void
  ) async throws {
    let (head, start, end, size) = (crc, plan.object.lowerBound, plan.object.upperBound, (client.mtu - 3) / 4 * 4)
    let packetsOfObject = (plan.maximum - 1) / size + 1
    attempts: for attempt in 1...3 {
      let first = attempt == 1 ? plan.offset : start
      (crc, receipt) = (head, nil)
      crc.add(bytes[start..<first])
      if attempt > 1 {
        overlaps = false
        try onProgress(start, start)
      }
      let isNew = attempt > 1 || !plan.isCreated
      let isAhead = overlaps && isNew && type == .data && packetsOfObject <= 0xFFFF
      if isAhead != confirmsObjects {
        try await request(.setPRN, little(isAhead ? packetsOfObject : 0, 2))
        confirmsObjects = isAhead
      }
      var open: Bearer.OpenRequest?
      let create = [type.rawValue] + little(end - start, 4)
      if isAhead {
        open = try client.bearer.begin(.write(control, value: [DFUOperation.create.rawValue] + create))
      } else if isNew {
        try await request(.create, create)
      }
      if attempt == 3, type == .data { receipts = 1 }
      // Bootloaders of nRF5 SDK 12 count packets from `create`, those of SDK 15 from this request. An object from before has no receipts.
      let group = isNew && type == .data ? receipts : 0
      if group > 0 { try await request(.setPRN, little(group, 2)) }
      for offset in stride(from: first, to: end, by: size) {
        let packet = bytes[offset..<min(offset + size, end)]
        try await client.writeCommand(packet, to: packets)
        crc.add(packet)
        try onProgress(packet.endIndex, start)
        guard group > 0, ((offset - first) / size + 1).isMultiple(of: group) else { continue }
        var state = try await answer(to: .crc, within: .seconds(1))
        if state == nil { state = try await request(.crc) }
        guard state?.offset == packet.endIndex, state?.crc == crc.value else { continue attempts }
      }
      if let open { try await created(open) }
      var state = receipt
      if isAhead, end - start == plan.maximum {
        if state == nil { state = try await answer(to: .crc, within: .seconds(1)) }
        overlaps = state != nil
      }
      if state == nil { state = try await request(.crc) }
      if state?.offset == end, state?.crc == crc.value { return }
    }
    throw DFUError.crcMismatch(type, at: start, tries: 3)
  }
}
