// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE

/// The faults that a device makes on purpose now. They apply to all centrals, until a line ends them.
package struct FaultPlan: Sendable {
  private struct Access: Sendable {
    let fault: PeripheralLine.Access
    /// The number of requests that the fault still meets. Nil means all.
    var left: Int?
  }

  /// A fault that meets a request.
  struct Hit: Equatable {
    let handle: AttributeHandle
    /// The wrong treatment. Nil only disconnects.
    let access: PeripheralLine.Access?
    let disconnects: Bool
  }

  private var accesses: [AttributeHandle: Access] = [:]
  private var disconnecting: Set<AttributeHandle> = []
  /// The ATT_MTU that the device sends in answer to Exchange MTU, instead of its own. Nil sends its own.
  private(set) var mtu: UInt16?
  /// The reason with which the device refuses to pair. Nil if it does as its description says.
  private(set) var refusal: PairingFailedReason?

  package init() {}

  /// Whether requests must be compared with the faults.
  var concernsRequests: Bool { !accesses.isEmpty || !disconnecting.isEmpty }

  /// Adds a fault, which replaces an earlier one of the same kind for the same attribute.
  /// - Throws: the errors of `AttributeDatabase.resolve`.
  mutating func add(_ fault: PeripheralLine.Fault, _ database: AttributeDatabase) throws {
    switch fault {
    case .access(let selector, let access, let times): accesses[try database.resolve(selector).handle] = Access(fault: access, left: times)
    case .disconnectOnWrite(let selector): disconnecting.insert(try database.resolve(selector).handle)
    case .mtu(let mtu): self.mtu = mtu
    case .refusePairing(let reason): refusal = reason
    case .forgetBonds: break
    case .off: self = FaultPlan()
    }
  }

  /// Returns the fault that meets a request for these attributes, and counts it. Nil if none does.
  mutating func take(_ handles: [AttributeHandle], _ intent: ServerSession.Intent) -> Hit? {
    let isWrite = intent == .write || intent == .command
    for handle in handles {
      let disconnects = isWrite && disconnecting.contains(handle)
      let access = accesses[handle].flatMap { intent != .command || $0.fault.concernsCommands ? $0 : nil }
      guard access != nil || disconnects else { continue }
      if let left = access?.left { accesses[handle] = left > 1 ? Access(fault: access?.fault ?? .silent, left: left - 1) : nil }
      return Hit(handle: handle, access: access?.fault, disconnects: disconnects)
    }
    return nil
  }
}

extension AttributeDatabase {
  /// Finds the attribute that a selector matches.
  /// - Throws: GATTError.notFound or .ambiguous; `PeripheralLineError` for a handle without an attribute.
  package func resolve(_ selector: Selector) throws -> Attribute {
    guard let attribute = self[try AttributeTable(self).resolve(selector).handle] else {
      throw PeripheralLineError(
        word: selector.description, expected: "the handle of an attribute", example: attributes.last.map { "set \($0.handle) 00" } ?? "")
    }
    return attribute
  }
}
