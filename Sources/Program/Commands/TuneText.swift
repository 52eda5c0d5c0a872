import BluetoothLE
import Presentation
import Terminal

/// The output of the command `tune`.
@LoopActor
enum TuneText {
  /// Formats the settings of a trial, such as `command, 244 bytes, 4 in flight, 6 ms pause`.
  static func name(_ trial: TransferTrial) -> String {
    var parts = [trial.mode.rawValue, Quantity.bytes(trial.segment)]
    if let window = trial.window { parts.append("\(window) in flight") }
    switch trial.gap {
    case nil: parts.append("automatic pause")
    case .zero?: break
    case let gap?: parts.append("\(gap.millisecondsText) ms pause")
    }
    return parts.joined(separator: ", ")
  }

  /// The options of `send-file` with the settings of a trial.
  static func options(_ trial: TransferTrial) -> [String] {
    ["--mode", trial.mode.rawValue, "--chunk", "\(trial.segment)"] + (trial.window.map { ["--window", "\($0)"] } ?? [])
      + (trial.gap.map { $0 > .zero ? ["--gap", $0.millisecondsText] : [] } ?? [])
  }

  static func table(_ results: [TransferTrial.Result], width: Int?) -> [String] {
    var table = Table(["mode", "bytes", "in flight", "pause", "kB/s", "lost"])
    for result in results {
      let trial = result.trial
      let isCommand = trial.mode == .command
      let found = result.gap.map { $0 > .zero ? "auto: \((($0.inMilliseconds * 10).rounded() / 10).plainText) ms" : "auto: none" }
      table.add([
        trial.mode.rawValue, "\(trial.segment)", isCommand ? trial.window.map { "\($0)" } ?? "auto" : "1",
        isCommand ? found ?? trial.gap.map { "\($0.millisecondsText) ms" } ?? "auto" : "-",
        Quantity.rate(result.arrived, in: result.seconds).split(separator: " ").first.map(String.init) ?? "",
        result.lost == 0 ? "none" : "\(result.lost) (\(percent(result)) %)",
      ])
    }
    return table.lines(width: width)
  }

  private static func percent(_ result: TransferTrial.Result) -> String {
    ((1000 * Double(result.lost) / Double(max(1, result.sent))).rounded() / 10).plainText
  }

  static func record(_ result: TransferTrial.Result, _ event: String, _ connection: Connection, _ output: Output) async throws {
    try await output.record {
      $0.string("event", event)
      $0.string("mode", result.trial.mode.rawValue)
      $0.integer("chunk", result.trial.segment)
      $0.integer("window", result.trial.window)
      $0.number("gap_ms", (result.gap ?? result.trial.gap)?.inMilliseconds)
      $0.bool("is_gap_found", result.trial.gap == nil)
      $0.integer("bytes", result.sent)
      $0.integer("lost", result.lost)
      $0.number("seconds", (result.seconds * 1000).rounded() / 1000)
      $0.number("bytes_per_second", result.rate.rounded())
      $0.members(connection.identity)
    }
  }
}
