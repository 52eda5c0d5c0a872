import BluetoothLELinux

/// The answers to the questions of a pairing that the command line gives.
package struct PairingAnswers: Sendable {
  /// The passkey to enter, or to display where our device displays one.
  package var passkey: SixDigits?
  /// Whether the numbers on both devices are the same.
  package var confirms: Bool?
}

/// The user of our device, who answers the questions of a pairing on the command line or on the terminal.
@LoopActor
package final class PairingDialogue: PairingUser {
  private let output: Output
  private let answers: PairingAnswers
  private let way: Way
  /// The error for a question without an answer. Nil if the user or the command line answered all.
  private var unanswered: Failure?
  /// Whether a question waits for its answer, or waited for it when the pairing ended.
  private var isAsking = false

  /// The way to ask questions that the command line does not answer.
  enum Way {
    case never
    /// Asks on a terminal. The closure releases the terminal, which a session may use.
    case terminal(Output, release: @LoopActor () -> Void)
    /// Asks the program that controls the session, as the command with this identifier.
    case program(id: String, OpenQuestions)
  }

  init(_ output: Output, _ answers: PairingAnswers, _ way: Way) { (self.output, self.answers, self.way) = (output, answers, way) }

  /// Returns the way to ask the user of a command.
  static func way(_ context: Context) -> Way {
    if context.caller == .program, let id = context.links.commandID { return .program(id: id, context.process.questions) }
    guard StandardInput.isTerminal, context.caller != .script else { return .never }
    // Neither --quiet nor --json nor a redirection hides a question. Otherwise blectl would pair by Just Works, without protection.
    var style = Output.Style()
    (style.program, style.color) = (context.output.style.program, context.output.style.color)
    let output =
      context.output.errIsTerminal
      ? Output(style, sharing: context.output) : Output(style, out: 0, err: 0, environment: context.configuration.variable)
    return .terminal(output, release: context.process.questions.releaseTerminal ?? {})
  }

  /// Asks for a passkey. Nil at Ctrl-D.
  /// - Parameter text: The line, from the digits with a place for each missing one, and the remaining seconds.
  /// - Throws: CancellationError.
  static func typedPasskey(_ output: Output, _ text: @escaping (_ digits: String, _ secondsLeft: Int64) -> String) async throws
    -> SixDigits?
  {
    try await KeyQuestion.ask(output, limit: PairingFailure.longestSilence) { typed, left in
      text(typed + String(repeating: "_", count: max(0, 6 - typed.count)), left)
    } answer: { typed, key in
      if key.isASCII, key.isNumber, typed.count < 6 { typed.append(key) }
      return key == "\r" || key == "\n" ? SixDigits(typed) : nil
    }
  }

  package func passkey() async -> SixDigits? {
    if let passkey = answers.passkey { return passkey }
    isAsking = true
    defer { isAsking = Task.isCancelled }
    switch way {
    case .never:
      unanswered = Failure(.usage, "The device displays a passkey. Give it on the command line: --passkey N")
      return nil
    case .program(let id, let questions):
      await record { $0.string("event", "passkey_request") }
      return try? await SixDigits(questions.ask(id, "six digits") { SixDigits($0) != nil })
    case .terminal(let output, let release):
      release()
      return try? await Self.typedPasskey(output) { "Passkey that the device displays: \($0)  (\($1) s left)" }
    }
  }

  package func show(_ passkey: SixDigits) {
    switch way {
    case .program:
      EventLoop.shared.spawn { [self] in
        await record {
          $0.string("event", "passkey_display")
          $0.string("passkey", "\(passkey)")
        }
      }
    case .never: output.note("Enter this passkey on the device: \(passkey)", hidesIfQuiet: false)
    case .terminal(let output, _): Self.show("Enter this passkey on the device:", passkey, output)
    }
  }

  package func isSame(_ number: SixDigits) async -> Bool {
    if let confirms = answers.confirms { return confirms }
    isAsking = true
    defer { isAsking = Task.isCancelled }
    switch way {
    case .never:
      unanswered = Failure(
        .usage, "The device displays a number to compare with \(number). Answer on the command line: --confirm yes or no")
      return false
    case .program(let id, let questions):
      await record {
        $0.string("event", "numeric_comparison")
        $0.string("number", "\(number)")
      }
      let answer = try? await questions.ask(id, "yes or no") { $0 == "yes" || $0 == "no" }
      return answer == "yes"
    case .terminal(let output, let release):
      release()
      // A key that the user typed before the number appeared is no answer.
      StandardInput.discard()
      Self.show("The number on this side:", number, output)
      let answer = try? await KeyQuestion.ask(output, limit: PairingFailure.longestSilence) { typed, left in
        "Does the device display \(number)? y or n: \(typed)  (\(left) s left)"
      } answer: { typed, key -> Bool? in
        // A letter within a word, such as maybe, is no answer.
        let isAnswer = typed.isEmpty
        if key == "\r" || key == "\n" { typed = "" } else if key.isLetter, typed.count < 8 { typed.append(key) }
        switch key {
        case "y" where isAnswer, "Y" where isAnswer: return true
        case "n" where isAnswer, "N" where isAnswer: return false
        default: return nil
        }
      }
      return answer ?? false
    }
  }

  private static func show(_ title: String, _ digits: SixDigits, _ output: Output) {
    for line in [title, ""] + LargeDigits.lines("\(digits)").map({ "  " + $0 }) + [""] { output.message(line) }
  }

  private func record(_ build: (inout RecordWriter) -> Void) async {
    do { try await output.record(build) } catch { unanswered = Failure(error) }
  }

  package func explained(_ failure: PairingFailure) -> any Error {
    defer { isAsking = false }
    if failure == .timedOut, isAsking {
      return Failure(.timeout, "Cannot pair: you did not answer in \(PairingFailure.longestSilence.secondsText) s.")
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
