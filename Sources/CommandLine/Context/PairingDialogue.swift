package import EventLoop
import LinuxIO
import Presentation
package import SMP
package import Terminal
import Text

/// The answers to the questions of a pairing that the command line gives.
package struct PairingAnswers: Sendable {
  /// The passkey to enter, or to display where our device displays one.
  package var passkey: SixDigits?
  /// Whether the numbers on both devices are the same.
  package var confirms: Bool?

  package init() {}
}

/// The user of our device, who answers the questions of a pairing on the command line or on the terminal.
@LoopActor
package final class PairingDialogue: PairingUser {
  private let output: Output
  private let answers: PairingAnswers
  private let asks: Bool
  /// The question that nobody could answer. Nil without one.
  private var unanswered: Failure?
  /// Whether a question on the terminal waits for its answer.
  private var isAsking = false

  /// - Parameter asks: Whether to ask on the terminal.
  package init(_ output: Output, _ answers: PairingAnswers, asks: Bool) { (self.output, self.answers, self.asks) = (output, answers, asks) }

  /// Whether a user can answer on the terminal.
  package static func canAsk(_ output: Output) -> Bool { StandardInput.isTerminal && output.canAnimateErr }

  package func passkey() async -> SixDigits? {
    if let passkey = answers.passkey { return passkey }
    guard asks else {
      unanswered = Failure(.usage, "The device displays a passkey. Give it on the command line: --passkey N")
      return nil
    }
    isAsking = true
    defer { isAsking = false }
    return try? await KeyQuestion.ask(output, limit: SecurityManager.timeout) { typed, left in
      "Passkey that the device displays: \(typed)\(String(repeating: "_", count: max(0, 6 - typed.count)))  (\(left) s left)"
    } answer: { typed, key in
      if key.isASCII, key.isNumber, typed.count < 6 { typed.append(key) }
      return key == "\r" || key == "\n" ? SixDigits(typed) : nil
    }
  }

  package func show(_ passkey: SixDigits) {
    guard !output.style.json, output.canAnimateErr else { return output.note("Enter this passkey on the device: \(passkey)") }
    output.message((["Enter this passkey on the device:", ""] + LargeDigits.lines("\(passkey)")).joined(separator: "\n  ") + "\n")
  }

  package func isSame(_ number: SixDigits) async -> Bool {
    if let confirms = answers.confirms { return confirms }
    guard asks else {
      unanswered = Failure(
        .usage, "The device displays a number to compare with \(number). Answer on the command line: --confirm yes or no")
      return false
    }
    output.message((["The number on this side:", ""] + LargeDigits.lines("\(number)")).joined(separator: "\n  ") + "\n")
    isAsking = true
    defer { isAsking = false }
    let answer = try? await KeyQuestion.ask(output, limit: SecurityManager.timeout) { _, left in
      "Does the device display \(number)? y or n  (\(left) s left)"
    } answer: { _, key -> Bool? in
      switch key {
      case "y", "Y": true
      case "n", "N": false
      default: nil
      }
    }
    return answer ?? false
  }

  package func explained(_ failure: PairingFailure) -> any Error {
    if failure == .timedOut, isAsking {
      return Failure(.timeout, "Cannot pair: nobody answered in \(SecurityManager.timeout.secondsText) s.")
    }
    return unanswered ?? failure
  }
}

/// Digits of three lines, in the form of a seven-segment display.
enum LargeDigits {
  /// The three rows of each digit, with three characters each.
  private static let segments: [Character: String] = [
    "0": " _ | ||_|", "1": "     |  |", "2": " _  _||_ ", "3": " _  _| _|", "4": "   |_|  |", "5": " _ |_  _|", "6": " _ |_ |_|",
    "7": " _   |  |",
    "8": " _ |_||_|", "9": " _ |_| _|",
  ]

  static func lines(_ digits: String) -> [String] {
    (0..<3).map { row in
      digits.map { digit in String(Array(segments[digit] ?? "").dropFirst(row * 3).prefix(3)) }.joined(separator: " ")
    }
  }
}
