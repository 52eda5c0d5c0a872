// SPDX-License-Identifier: Apache-2.0
/// Robust caching (Vol 3 Part G §2.5.2.1): a client that announced it learns from Database Out Of Sync that its handles may be wrong.
extension ServerSession {
  /// Whether the client knows the attributes of the database.
  package enum Awareness: Sendable {
    case aware
    /// The database has changed since the client knew it.
    case unaware
    /// The client has read the Database Hash, or got Database Out Of Sync. Its next request makes it aware.
    case informed
  }

  /// Whether the server ignores commands of the client, and sends it no values except Service Changed.
  func isHeldBack(_ database: AttributeDatabase) -> Bool { awareness != .aware && announcesRobustCaching(database) }

  /// Whether the client has set the bit Robust Caching of its Client Supported Features (§7.2).
  private func announcesRobustCaching(_ database: AttributeDatabase) -> Bool {
    let attribute = database.attributes.first { $0.holdsClientFeatures }
    return attribute.map { (value(of: $0).first ?? 0) & 1 != 0 } ?? false
  }

  /// Takes note of a request, which may make the client aware. Call it before `answer`.
  /// - Returns: the Error Response that the client gets in place of an answer, or nil.
  mutating func outOfSync(_ request: Request, _ database: AttributeDatabase) -> Response? {
    guard awareness == .unaware else {
      awareness = .aware
      return nil
    }
    let isRefused = announcesRobustCaching(database) && Self.reliesOnHandles(request)
    if isRefused || Self.readsHash(request, database) { awareness = .informed }
    return isRefused ? .error(request: request.opcode, handle: request.handle, code: .databaseOutOfSync) : nil
  }

  private static func reliesOnHandles(_ request: Request) -> Bool {
    switch request {
    case .read, .readBlob, .readMultiple, .readMultipleVariable, .write, .prepareWrite: true
    case .readByType(let range, let type):
      type != .include && type != .characteristic && (range.start.rawValue != 1 || range.end.rawValue != 0xFFFF)
    case .exchangeMTU, .findInformation, .findByTypeValue, .readByGroupType, .executeWrite: false
    }
  }

  private static func readsHash(_ request: Request, _ database: AttributeDatabase) -> Bool {
    switch request {
    case .read(let handle): database[handle]?.type == .databaseHash
    case .readByType(_, let type): type == .databaseHash
    default: false
    }
  }
}

extension AttributeDatabase.Attribute {
  /// Whether the attribute is the value of Client Supported Features, which each client has separately.
  package var holdsClientFeatures: Bool { if case .value = role { type == .clientSupportedFeatures } else { false } }
}
