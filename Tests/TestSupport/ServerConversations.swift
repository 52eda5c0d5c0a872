package import BluetoothLE
import Foundation

/// The conversations with GATT servers in another project's vectors, see `Vectors`.
package struct ServerConversations: Decodable {
  package struct Case: Decodable {
    package let id: String
    package let database: String
    package let pdus: [Step]
    package let server_action: String?
  }
  package struct Step: Decodable {
    package let dir: String
    package let hex: String
  }
  let count: Int
  package let databases: [String: DescribedDatabase]
  package let cases: [Case]

  package static func all() throws -> Self {
    let file = try JSONDecoder().decode(Self.self, from: try Vectors.data("gatt_ts_server.json"))
    try #require(file.cases.count == file.count && file.count == 94)
    return file
  }

  /// Their server keeps configurations in application code, as plain values.
  /// If the case expects a notification or an indication, our own configuration must send it.
  package func database(of entry: Case) throws -> AttributeDatabase {
    try #require(databases[entry.database]).database(hasConfigurations: entry.server_action != nil)
  }
}

/// A database description in the vector files.
package struct DescribedDatabase: Decodable {
  struct Service: Decodable {
    let start: String
    let end: String
  }
  struct Attribute: Decodable {
    let handle: String
    let type: String
    let value: String
    let perm: String
    let chrc_props: Int?
  }
  let services: [Service]
  let attributes: [Attribute]

  /// - Parameter hasConfigurations: Whether 2902 descriptors act as such, or are plain values as in the cases' own server.
  package func database(hasConfigurations: Bool) throws -> AttributeDatabase {
    func number(_ text: String) -> AttributeHandle { AttributeHandle(rawValue: UInt16(text.dropFirst(2), radix: 16) ?? 0) }
    var list: [AttributeDatabase.Attribute] = []
    var value: (handle: AttributeHandle, properties: Properties)?
    for entry in attributes {
      var permissions: AttributeDatabase.Permissions = []
      if entry.perm.contains("r") { permissions.insert(.read) }
      if entry.perm.contains("w") { permissions.formUnion([.write, .writeWithoutResponse]) }
      if entry.perm.contains("e") { permissions.formUnion([.readEncrypted, .writeEncrypted]) }
      var role = AttributeDatabase.Role.plain
      let handle = number(entry.handle)
      if entry.type == "2800" || entry.type == "2801" {
        guard let service = services.first(where: { $0.start == entry.handle }) else { throw Missing() }
        role = .service(endHandle: number(service.end))
      } else if entry.type == "2803" {
        value = (
          AttributeHandle(rawValue: UInt16(bytes(entry.value)[1]) | UInt16(bytes(entry.value)[2]) << 8),
          Properties(rawValue: bytes(entry.value)[0])
        )
      } else if hasConfigurations, let value, handle == value.handle {
        role = .value(value.properties, configuration: handle.next)
      } else if hasConfigurations, entry.type == "2902", let value {
        let bits = (value.properties.contains(.notify) ? 1 : 0) as UInt16 | (value.properties.contains(.indicate) ? 2 : 0)
        role = .configuration(ofValue: value.handle, allowed: bits)
      }
      list.append(
        AttributeDatabase.Attribute(
          handle: handle, type: UUID(entry.type) ?? UUID(0xDEAD), permissions: permissions, value: bytes(entry.value), role: role))
    }
    return try AttributeDatabase(attributes: list)
  }

  private func bytes(_ hex: String) -> [UInt8] { Hex.decode(hex) ?? [] }

  private struct Missing: Error {}
}
