import Foundation

/// A JSON object from blectl, with lenient access for expectations.
package struct Record: @unchecked Sendable {
  private let value: [String: Any]

  package init(_ text: String) throws {
    guard let value = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] else { throw NotAnObject(text: text) }
    self.value = value
  }

  private init(_ value: [String: Any]) { self.value = value }

  package struct NotAnObject: Error { let text: String }

  package var keys: Set<String> { Set(value.keys) }
  package func isNull(_ key: String) -> Bool { value[key] is NSNull }
  package func string(_ key: String) -> String? { value[key] as? String }
  package func int(_ key: String) -> Int? { value[key] as? Int }
  package func double(_ key: String) -> Double? { value[key] as? Double }
  package func bool(_ key: String) -> Bool? { value[key] as? Bool }
  package func strings(_ key: String) -> [String] { value[key] as? [String] ?? [] }
  package func records(_ key: String) -> [Record] { (value[key] as? [[String: Any]] ?? []).map { Record($0) } }
  /// Returns an array of arrays.
  package func objects(_ key: String) -> [[Any]] { value[key] as? [[Any]] ?? [] }
  package subscript(_ key: String) -> Record? { (value[key] as? [String: Any]).map { Record($0) } }
}
