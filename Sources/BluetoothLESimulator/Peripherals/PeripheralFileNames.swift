// SPDX-License-Identifier: Apache-2.0
import BluetoothLE
import BluetoothLEDeviceFiles
import BluetoothLEText

/// The names that entries of a peripheral may refer to.
struct PeripheralNames {
  var characteristics = CharacteristicTable()
  var variables: [String: Variable] = [:]
  var timers: [String: Int] = [:]
  /// Whether the peripheral has a `firmware` entry, which `busy_ms` needs.
  var hasFirmware = false
  /// The device file whose commands the peripheral answers. Nil for a peripheral file.
  var device: DeviceDescription?
  /// The command to which the reaction in progress responds. Nil outside of `answers`.
  var command: DeviceCommand?

  struct Variable {
    let index: Int
    /// Whether the variable holds a number. Otherwise it holds bytes.
    let isNumber: Bool
  }

  func variable(_ entry: FileEntry) throws(FileEntryError) -> Variable {
    guard let variable = variables[try entry.string()] else { throw entry.missing("variable", of: Array(variables.keys)) }
    return variable
  }

  func timer(_ entry: FileEntry) throws(FileEntryError) -> Int {
    guard let timer = timers[try entry.string()] else { throw entry.missing("timer", of: Array(timers.keys)) }
    return timer
  }
}

extension FileEntry {
  fileprivate func missing(_ noun: String, of names: [String]) -> FileEntryError {
    guard !names.isEmpty else { return error("The peripheral has no \(noun)s.") }
    let shown = names.sorted().map { DisplayText.clip(DisplayText.escape($0), to: 30) }
    return error("Unknown \(noun). Use \(shown.prefix(20).joined(separator: ", ")).")
  }
}

/// The characteristics of a peripheral, by UUID and by handle.
struct CharacteristicTable {
  struct Row {
    let handle: AttributeHandle
    let service: UUID
    let properties: Properties
    let permissions: AttributeDatabase.Permissions
    /// Whether the characteristic has a Client Characteristic Configuration.
    let isSubscribable: Bool
    let isSink: Bool
  }
  private var rows: [UUID: [Row]] = [:]
  private(set) var byHandle: [AttributeHandle: Row] = [:]

  mutating func add(_ handle: AttributeHandle, service: UUID, _ database: AttributeDatabase, isSink: Bool) {
    guard let attribute = database[handle], case .value(let properties, let configuration) = attribute.role else { return }
    let row = Row(
      handle: handle, service: service, properties: properties, permissions: attribute.permissions, isSubscribable: configuration != nil,
      isSink: isSink)
    rows[attribute.type, default: []].append(row)
    byHandle[handle] = row
  }

  /// Finds a characteristic by UUID (`ffe2`), or by service and UUID (`ffe0/ffe2`).
  func find(_ entry: FileEntry) throws(FileEntryError) -> Row { try find(try entry.string(), for: entry) }

  /// Finds a characteristic by UUID, or by service and UUID. Errors name the place of `entry` in the file.
  func find(_ text: String, for entry: FileEntry) throws(FileEntryError) -> Row {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { UUID($0) }
    guard (1...2).contains(parts.count), case let uuid?? = parts.last, case let service? = parts.first else {
      throw entry.error("Invalid characteristic \(DisplayText.quote(text)). Use a UUID (ffe2) or SERVICE/UUID (ffe0/ffe2).")
    }
    let found = (rows[uuid] ?? []).filter { parts.count == 1 || $0.service == service }
    guard let row = found.first else {
      throw entry.error("The services of this peripheral have no characteristic \(DisplayText.quote(text)).")
    }
    guard found.count == 1 else {
      throw entry.error("\(found.count) characteristics match \(DisplayText.quote(text)). Include the service: ffe0/ffe2")
    }
    return row
  }
}
