// SPDX-License-Identifier: Apache-2.0
/// A form of records on standard output.
package enum RecordForm: Sendable {
  /// One JSON object per line.
  case json
  /// A table with comma-separated values (RFC 4180) and a header. The fields are its columns. `decoded` stands for those of decoded values.
  case csv([String])
  /// The line of a template. The fields are those that records of the command have.
  case template(RecordTemplate, [String])

  package var isJSON: Bool { if case .json = self { true } else { false } }
}

/// Records as rows of a table or as lines of a template.
package struct RecordRows {
  private let form: RecordForm
  /// The names of the decoded values that the records may have. A table then has a column for each of them. If they are unknown, this is
  /// nil, and the table has one column for all.
  package var valueFields: [String]?
  private var columns: [RecordField] = []
  private var isFirst = true
  /// The decoded values of the last record for which the table has no column.
  package private(set) var omitted: [String] = []

  package init(_ form: RecordForm) { self.form = form }

  /// The header of a table without rows. Nil if rows were written, and for other forms.
  package mutating func headerWithoutRows() -> String? {
    guard isFirst, case .csv(let fields) = form else { return nil }
    isFirst = false
    return Self.row(fields.filter { !RecordField.open.contains($0) } + (valueFields ?? fields.filter(RecordField.open.contains)))
  }

  /// Returns the text of a record, with a header before the first row of a table.
  /// - Throws: `UnknownRecordField` if the template has a field that neither this record nor another record of the command has.
  package mutating func text(of record: JSONTree) throws(UnknownRecordField) -> String {
    defer { isFirst = false }
    switch form {
    case .json: return ""
    case .template(let template, let fields):
      if isFirst { try check(template, fields, record) }
      return template.line(record) + "\n"
    case .csv(let fields):
      guard isFirst else {
        omitted = valueFields == nil ? [] : fields.flatMap { Self.members(record, $0) }.filter { !columns.contains(RecordField($0)) }
        return row(record)
      }
      let names = fields.flatMap { field in
        guard let valueFields, RecordField.open.contains(field) else { return [field] }
        return valueFields + Self.members(record, field).filter { !valueFields.contains($0) }
      }
      columns = names.map(RecordField.init)
      return Self.row(names) + row(record)
    }
  }

  private func check(_ template: RecordTemplate, _ fields: [String], _ record: JSONTree) throws(UnknownRecordField) {
    var known = fields
    for name in (valueFields ?? []) + RecordField.open.flatMap({ Self.members(record, $0) }) where !known.contains(name) {
      known.append(name)
    }
    for field in template.fields where !known.contains(field.root) { throw UnknownRecordField(field: field.path, known: known) }
  }

  /// Returns the names of the decoded values in a record. Returns none for a field without names.
  private static func members(_ record: JSONTree, _ field: String) -> [String] {
    guard RecordField.open.contains(field), case .object(let members)? = record[field]?.kind else { return [] }
    return members.map(\.key)
  }

  private func row(_ record: JSONTree) -> String { Self.row(columns.map { Self.safe($0, record) }) }

  /// Returns the text of a column. A spreadsheet would run text from a device that starts like a formula, so it gets an apostrophe.
  private static func safe(_ column: RecordField, _ record: JSONTree) -> String {
    guard let text = column.text(in: record, units: false), let first = text.utf8.first else { return "" }
    let isFormula = [UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "@")].contains(first)
    return isFormula && Double(text) == nil ? "'" + text : text
  }

  private static func row(_ cells: [String]) -> String {
    cells.map { cell in
      let needsQuotes = cell.utf8.contains { [0x22, 0x2C, 0x0A, 0x0D].contains($0) } || cell.first == " " || cell.last == " "
      return needsQuotes ? "\"\(cell.replacing("\"", with: "\"\""))\"" : cell
    }.joined(separator: ",") + "\n"
  }
}
