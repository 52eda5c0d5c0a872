/// The defaults for the options of a session's commands, which the user changes with `set`.
package struct ShellSettings: Equatable {
  /// The default of `--as`. Nil for the automatic format.
  var format: ValueFormat?
  /// The default of `--timeout` in seconds, more than 0 and up to 86400. Nil for the default of each command.
  package var timeout: Double?
  /// Whether the session restores lost connections.
  package var reconnect = false
  /// Whether commands pair if the device demands it.
  package var pair = false
  /// The default of `--level`. Nil for the default of each device.
  package var level: SecurityLevel?

  package init() {}

  package static let names = ["format", "timeout", "reconnect", "pair", "level"]
  /// The permitted words of each setting, by the setting's name. `timeout` also accepts a time.
  package static let choices = [
    "format": ValueFormat.names, "timeout": ["default"], "reconnect": ["on", "off"], "pair": ["on", "off"],
    "level": ["2", "3", "4", "default"],
  ]

  /// Changes the setting `name` to a value that the user typed.
  /// - Throws: `Failure(.usage)` for an unknown setting or an invalid value.
  package mutating func set(_ name: String, to value: String) throws {
    switch name {
    case "format":
      guard let format = try? ValueFormat(value) else {
        throw Failure(.usage, UsageText.unknownFormat(value))
      }
      self.format = format == .auto ? nil : format
    case "timeout":
      if value == "default" {
        timeout = nil
        return
      }
      guard let seconds = try? TimeText.seconds(value), seconds > 0, seconds <= 86_400 else {
        throw Failure(
          .usage, "Invalid timeout \(DisplayText.quote(value)). Use seconds, more than 0 and up to 86400, a time such as 500ms, or default."
        )
      }
      timeout = seconds
    case "level":
      level = Int(value).flatMap { 2...4 ~= $0 ? SecurityLevel(rawValue: $0) : nil }
      if level == nil, value != "default" {
        throw Failure(.usage, "Invalid level \(DisplayText.quote(value)). Use 2, 3, 4 or default.")
      }
    case "reconnect", "pair":
      guard value == "on" || value == "off" else { throw Failure(.usage, "Invalid \(name) \(DisplayText.quote(value)). Use on or off.") }
      if name == "pair" { pair = value == "on" } else { reconnect = value == "on" }
    default:
      let meant = SpellingSuggestion.nearest(to: name, among: Self.names).map { " Did you mean \($0)?" } ?? ""
      throw Failure(.usage, "Unknown setting \(DisplayText.quote(name)).\(meant) The settings are \(Self.names.joined(separator: ", ")).")
    }
  }

  /// The names and values of all settings, in the form that `set` accepts.
  package var values: [(name: String, value: String)] {
    [
      ("format", format?.name ?? "auto"), ("timeout", timeout.map { "\($0)" } ?? "default"), ("reconnect", reconnect ? "on" : "off"),
      ("pair", pair ? "on" : "off"), ("level", level.map { "\($0.rawValue)" } ?? "default"),
    ]
  }
}
