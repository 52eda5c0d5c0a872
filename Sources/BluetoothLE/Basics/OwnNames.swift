// SPDX-License-Identifier: Apache-2.0

/// The user's own names for UUIDs and companies. `AssignedNumbers` prefers these names to the names of the Bluetooth SIG.
package struct OwnNames: Equatable, Sendable {
  package let uuids: [UUID: String]
  package let companies: [UInt16: String]

  package init(uuids: [UUID: String], companies: [UInt16: String]) { (self.uuids, self.companies) = (uuids, companies) }

  private enum State: Sendable {
    /// No look-up has needed the user's names so far. The first look-up will call this function, which loads the names.
    case notAsked(@Sendable () -> OwnNames?)
    case known(OwnNames?)
  }

  private static let state = Guarded(State.known(nil))

  /// Sets the source of the names. The first look-up calls `source` once, on any thread. `source` must not look up names itself.
  package static func come(from source: @escaping @Sendable () -> OwnNames?) { state.withLock { $0 = .notAsked(source) } }

  package static var current: OwnNames? {
    state.withLock { state in
      switch state {
      case .known(let names): return names
      case .notAsked(let source):
        let names = source()
        state = .known(names)
        return names
      }
    }
  }

  /// Finds a UUID by the user's own name. Ignores case and separators, unless the name has only separators. Nil for an unknown name.
  func uuid(named text: String) -> UUID? { Self.key(in: uuids, named: text) }

  func company(named text: String) -> UInt16? { Self.key(in: companies, named: text) }

  /// Returns the identifiers of the companies whose own names start with the words of `text`, in ascending order.
  func companies(named text: String) -> [UInt16] {
    let wanted = AssignedNumbers.snake(text) + "_"
    return wanted == "_" ? [] : companies.filter { AssignedNumbers.snake($0.value).hasPrefix(wanted) }.keys.sorted()
  }

  private static func key<Key>(in names: [Key: String], named text: String) -> Key? {
    let wanted = AssignedNumbers.snake(text)
    return names.first { $0.value == text || (!wanted.isEmpty && AssignedNumbers.snake($0.value) == wanted) }?.key
  }
}
