// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE

extension Connection {
  /// Returns the descriptions whose match criteria fit this device. Ignores unknown facts, but requires at least one known fact.
  /// - Throws: The errors of `Client.discover`.
  package func fitting(_ devices: [DeviceDescription]) async throws -> [DeviceDescription] {
    let devices = devices.filter { !$0.match.isEmpty }
    guard !devices.isEmpty else { return [] }
    var known = name?.raw
    if known == nil, devices.contains(where: { !$0.match.names.isEmpty }) { known = try await deviceName() }
    let services = Set(try await client.discover().services.map(\.uuid))
    let data = payloads.flatMap { Advertisement($0).manufacturerData }
    return devices.filter { device in
      let match = device.match
      var facts: [Bool] = []
      if !match.services.isEmpty { facts.append(services.isSuperset(of: match.services)) }
      if let known, !match.names.isEmpty { facts.append(match.names.contains { Glob.matches($0, known) }) }
      if !payloads.isEmpty {
        facts += match.manufacturerData.map { wanted in data.contains { $0.company == wanted.company && wanted.matches($0.data) } }
      }
      return !facts.isEmpty && facts.allSatisfy(\.self)
    }
  }

  /// Reads the Device Name characteristic. Returns nil if the read fails or the name is not UTF-8.
  private func deviceName() async throws -> String? {
    do {
      return try await client.read(uuid: UUID(0x2A00)).first.flatMap {
        String(validating: DisplayText.withoutTrailingNULs($0.value), as: UTF8.self)
      }
    } catch is GATTError where client.closed == nil { return nil }
  }
}
