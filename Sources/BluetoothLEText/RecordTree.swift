// SPDX-License-Identifier: Apache-2.0
/// A JSON record under construction, as a tree of values.
struct RecordTree: Sendable {
  private struct Container: Sendable {
    /// The key of this object or array in its parent. An array as parent ignores the key.
    let key: String
    let isArray: Bool
    /// The members of an object or the elements of an array. The keys of elements have no meaning.
    var entries: [(key: String, value: JSONTree)] = []

    var kind: JSONTree.Kind { isArray ? .array(entries.map(\.value)) : .object(entries) }
  }

  /// The key of the next member of an object.
  var key = ""
  /// The open objects and arrays, from the outermost to the innermost.
  private var containers = [Container(key: "", isArray: false)]

  mutating func openObject() { containers.append(Container(key: key, isArray: false)) }

  mutating func openArray() { containers.append(Container(key: key, isArray: true)) }

  /// Ends the innermost object or array, and adds it to its parent.
  mutating func close() {
    guard containers.count > 1, let container = containers.popLast() else { return }
    key = container.key
    add(container.kind)
  }

  /// Adds a value to the innermost open object or array, under `key`.
  mutating func add(_ kind: JSONTree.Kind) { containers[containers.count - 1].entries.append((key, JSONTree(kind: kind, line: 0))) }

  /// Adds the members of an object to the innermost open object.
  mutating func add(_ object: JSONTree) {
    guard case .object(let members) = object.kind else { return }
    containers[containers.count - 1].entries += members
  }

  /// The whole record as an object.
  var value: JSONTree { JSONTree(kind: containers[0].kind, line: 0) }
}
