import BluetoothLESimulator
package import CommandLine

/// The search for the candidates for the word at the cursor. Uses only the given data and never waits.
package struct Completer {
  var model: CompletionModel
  /// The function that returns the words that may follow a command's name. Returns nil for an unknown command.
  let shape: (String) -> CommandShape?
  /// The function that returns the attributes of a device, by the PEER that the user typed. Returns nil if they are unknown.
  package var attributesOf: (String) -> [CompletionModel.Attribute]? = { _ in nil }
  /// The function that lists a folder (empty for the current one), with a slash after folder names. Nil if the shell completes files.
  var files: ((String) -> [String])?

  /// The candidates for the word at the cursor.
  struct Answer: Equatable {
    var entries: [CompletionModel.Entry] = []
    /// The start of the word that all candidates omit, such as `--as=` or `@`.
    var prefix = ""
    /// The extensions of the files that the shell adds to the candidates. Empty to add all files. Nil to add none.
    var files: [String]?
  }

  package func complete(_ line: String) -> LineEditor.Completion? {
    let typed = TypedWords(line)
    let answer = answer(typed)
    guard !answer.entries.isEmpty else { return nil }
    var completion = LineEditor.Completion()
    completion.replaced = typed.lastLength
    if let only = answer.entries.first, answer.entries.count == 1 {
      let text = TypedWords.quoted(answer.prefix + only.text, isWhole: !only.goesOn)
      completion.text = only.goesOn ? text : text + " "
      return completion
    }
    completion.candidates = answer.entries.map { Candidate($0.text, hint: $0.hint) }
    let common = Self.commonBeginning(answer.entries.map(\.text))
    let wanted = String(typed.last.dropFirst(answer.prefix.count)).lowercased()
    // The common start may replace the typed text only if it still finds all candidates. `name:Band-` may replace `band`.
    if !common.isEmpty, common.lowercased().contains(wanted), answer.entries.allSatisfy({ $0.isFound(by: common.lowercased()) }) {
      completion.text = TypedWords.quoted(answer.prefix + common, isWhole: false)
    } else {
      completion.replaced = 0
    }
    return completion
  }

  /// Returns the longest common prefix of the texts.
  static func commonBeginning(_ texts: [String]) -> String {
    guard var common = texts.first else { return "" }
    for text in texts { while !text.hasPrefix(common) { common.removeLast() } }
    return common
  }

  // MARK: What it is

  private func answer(_ typed: TypedWords) -> Answer {
    if typed.isShell { return typed.words.isEmpty ? Answer() : named(typed.last) }
    guard let name = typed.words.first else { return filtered(commands, by: typed.last) }
    guard let shape = shape(name) else { return Answer() }
    return answer(shape, Given(Array(typed.words.dropFirst()), to: shape), typed.last)
  }

  /// The words after a command's name, divided into options, arguments, and an option that still needs its value.
  struct Given {
    var options: [(name: String, value: String?)] = []
    var words: [String] = []
    var pending: CommandShape.Option?
    /// Whether the user typed `--`, so that only arguments follow.
    var onlyWords = false

    init(_ words: [String], to shape: CommandShape) {
      var rest = words[...]
      while let word = rest.popFirst() {
        if onlyWords || !word.hasPrefix("-") || word == "-" {
          self.words.append(word)
        } else if word == "--" {
          onlyWords = true
        } else if let sign = word.firstIndex(of: "=") {
          options.append((String(word[..<sign]), String(word[word.index(after: sign)...])))
        } else if !word.hasPrefix("--"), word.count > 2, let option = shape.option(String(word.prefix(2))), option.value != nil {
          // A letter with its value, as in `-isim`.
          options.append((String(word.prefix(2)), String(word.dropFirst(2))))
        } else {
          let option = shape.option(word)
          let value = option?.value == nil ? nil : rest.popFirst()
          options.append((word, value))
          if option?.value != nil, value == nil { pending = option }
        }
      }
    }
  }

  private var commands: [CompletionModel.Entry] { model.commands.map { CompletionModel.Entry($0.name, hint: $0.hint) } }

  func answer(_ shape: CommandShape, _ given: Given, _ last: String) -> Answer {
    if let pending = given.pending { return value(of: pending, last, shape, given) }
    if !given.onlyWords, last.hasPrefix("-") { return options(shape, given, last) }
    return positional(shape, given.words, last)
  }

  private func value(of option: CommandShape.Option, _ last: String, _ shape: CommandShape, _ given: Given) -> Answer {
    guard let value = option.value else { return Answer() }
    let peer = shape.words.first == .peer ? given.words.first : nil
    var answer = word(value, last, of: peer.flatMap { !model.isConnected || Self.isPeer($0) ? $0 : nil })
    // The value to expect or to write follows the attribute.
    if case .attribute = value {
      let sign = option.names.contains("--write") ? "=" : ""
      answer.entries = answer.entries.map { .init(text: $0.text + sign, keys: $0.keys, hint: $0.hint, isOther: $0.isOther, goesOn: true) }
    }
    return answer
  }

  private func options(_ shape: CommandShape, _ given: Given, _ last: String) -> Answer {
    if let sign = last.firstIndex(of: "="), let option = shape.option(String(last[..<sign])) {
      let prefix = String(last[...sign])
      var answer = value(of: option, String(last.dropFirst(prefix.count)), shape, given)
      answer.prefix = prefix + answer.prefix
      return answer
    }
    let names = given.options.map(\.name)
    let entries = shape.options.filter { $0.isRepeating || Set($0.names).isDisjoint(with: names) }.compactMap { option in
      option.names.last { $0.hasPrefix("--") }.map { CompletionModel.Entry($0, hint: option.hint) }
    }
    return filtered(entries, by: last)
  }

  private func positional(_ shape: CommandShape, _ given: [String], _ last: String) -> Answer {
    func answer(_ words: [CommandShape.Word]) -> Answer {
      let index = given.count
      switch index < words.count ? words[index] : shape.lastRepeats ? words.last : nil {
      case .attribute(let use)? where words.first == .peer:
        return filtered(CompletionModel.attributes(attributesOf(given[0]) ?? [], for: use), by: last)
      case .peripheral?: return peripheral(given, last)
      case .setting?: return filtered((ShellSettings.choices[given[0]] ?? []).map { .init($0) }, by: last)
      case .deviceParameter?:
        let place = words.firstIndex(of: .deviceCommand) ?? 0
        return place < given.count ? parameters(of: given[place], given[(place + 1)...], last) : Answer()
      case let kind?: return word(kind, last)
      case nil: return Answer()
      }
    }
    // PEER is optional in a session.
    guard shape.words.first == .peer, model.isConnected, shape.words.count > 1 else { return answer(shape.words) }
    let short = Array(shape.words.dropFirst())
    if let first = given.first { return answer(Self.isPeer(first) ? shape.words : short) }
    // Without typed text, the command is about the current device, even if its attributes are not known yet.
    let without = answer(short)
    if model.attributes == nil, case .attribute? = short.first, !Self.isPeer(last), !last.hasPrefix("name") { return Answer() }
    return last.isEmpty || !without.entries.isEmpty ? without : answer(shape.words)
  }

  /// Returns the names of the parameters of a device's command. After `name=`, returns the choices for the value of the parameter.
  private func parameters(of command: String, _ given: ArraySlice<String>, _ last: String) -> Answer {
    guard let parameters = model.deviceCommands.first(where: { $0.name == command })?.parameters else { return Answer() }
    guard let sign = last.firstIndex(of: "=") else {
      let names = given.map { String($0.prefix { $0 != "=" }) }
      return filtered(
        parameters.filter { !names.contains($0.name) }.map {
          .init($0.name + "=", hint: $0.hint, goesOn: true)
        }, by: last)
    }
    let choices = parameters.first { $0.name == last[..<sign] }?.choices ?? []
    let prefix = String(last[...sign])
    var answer = filtered(choices.map { .init($0) }, by: String(last.dropFirst(prefix.count)))
    answer.prefix = prefix
    return answer
  }

  /// Returns whether the word can only be a PEER, because no attribute has this form.
  private static func isPeer(_ word: String) -> Bool {
    word.hasPrefix("@") || word.contains(":") || word.utf8.count == 12 && Hex.decode(word) != nil
  }

  /// Returns the candidates for an argument or for the value of an option.
  /// - Parameter peer: The PEER that has the attributes. Nil for the current device.
  private func word(_ word: CommandShape.Word, _ last: String, of peer: String? = nil) -> Answer {
    func attributes(_ use: CommandShape.AttributeUse) -> [CompletionModel.Entry] {
      CompletionModel.attributes((peer.map { attributesOf($0) } ?? model.attributes) ?? [], for: use)
    }
    switch word {
    case .peer: return filtered(model.peers(), by: last)
    case .link: return filtered(model.peers(onlyLinks: true), by: last)
    case .address: return filtered(model.peers(onlyAddresses: true), by: last)
    case .attribute(let use): return filtered(attributes(use), by: last)
    case .adapter: return adapters(last)
    case .verification(let choices):
      if let rest = last.after("notify:") {
        var answer = filtered(attributes(.listening), by: rest)
        answer.prefix = "notify:"
        return answer
      }
      return filtered(choices.map { .init($0, goesOn: $0.hasSuffix(":")) }, by: last)
    case .choice(let texts): return filtered(texts.map { CompletionModel.Entry($0) }, by: last)
    case .command: return filtered(commands, by: last)
    case .deviceCommand:
      return filtered(model.deviceCommands.map { .init($0.name, hint: $0.hint) }, by: last)
    case .file: return named(last)
    case .files(let endings): return named(last, endings)
    case .value:
      guard let path = last.after("@") else { return Answer() }
      var answer = named(path)
      answer.prefix = "@"
      return answer
    case .free, .setting, .deviceParameter, .peripheral: return Answer()
    }
  }

  /// Returns the words of the session command `peripheral`: a file and its adapter, or a word for the served device and its choices.
  private func peripheral(_ given: [String], _ last: String) -> Answer {
    let words = PeripheralLineParser.commands + ["off"]
    guard let first = given.first else {
      var answer = named(last, ["json", "jsonc"])
      answer.entries = filtered(words.map { .init($0) }, by: last).entries + answer.entries
      return answer
    }
    if given.count == 2, given[1] == "on", !words.contains(first) { return adapters(last) }
    let choices = ["advertise": ["on", "off"], "fault": ["mtu", "disconnect", "refuse", "forget", "off"]]
    return given.count == 1 ? filtered((choices[first] ?? (words.contains(first) ? [] : ["on"])).map { .init($0) }, by: last) : Answer()
  }

  private func adapters(_ last: String) -> Answer {
    for (prefix, endings) in [("sim:", ["json", "jsonc"]), ("replay:", []), ("unix:", []), ("serial:", [])] {
      guard let path = last.after(prefix), prefix != "serial:" || path.hasPrefix("/") else { continue }
      var answer = named(path, endings)
      answer.prefix = prefix
      return answer
    }
    return filtered(model.adapters, by: last)
  }

  private func filtered(_ entries: [CompletionModel.Entry], by typed: String) -> Answer {
    let wanted = typed.lowercased()
    var seen: Set<String> = []
    let matching = entries.filter { $0.isFound(by: wanted) && !(typed.isEmpty && $0.isOther) && seen.insert($0.text).inserted }
    let short = matching.filter { !$0.isLastResort }
    return Answer(entries: short.isEmpty ? matching : short)
  }

  /// Returns the files whose path starts with `path`. Prefers files with one of the extensions `endings`. Omits hidden files unless the
  /// user typed a period.
  func named(_ path: String, _ endings: [String] = []) -> Answer {
    guard let files else { return Answer(files: endings) }
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    let begin = path.dropFirst(folder.count)
    let all = files(folder).filter { $0.hasPrefix(begin) && (begin.hasPrefix(".") || !$0.hasPrefix(".")) }.sorted()
    let wanted = all.filter { name in name.hasSuffix("/") || endings.contains { name.hasSuffix(".\($0)") } }
    let names = endings.isEmpty || wanted.isEmpty ? all : wanted
    return Answer(entries: names.map { .init(folder + $0, goesOn: $0.hasSuffix("/")) })
  }
}

/// The words before the cursor in a line of a session.
struct TypedWords: Equatable {
  /// The complete words, without quotes, of the last command in the line.
  let words: [String]
  /// The word at the cursor without quotes. Empty if the cursor follows a space.
  let last: String
  /// The length of the last word in the line, including its quotes, in bytes.
  let lastLength: Int
  /// Whether the line is a command for the system's shell.
  let isShell: Bool

  init(_ line: String) {
    var reading = ShellWordReading()
    for character in line { reading.take(character) }
    (words, last, lastLength) = (reading.words, reading.word, reading.length)
    isShell = line.first { !$0.isWhitespace } == "!"
  }

  /// Quotes a word as the session's lines require.
  /// - Parameter isWhole: Whether the word is complete. If false, an opening quote stays open.
  static func quoted(_ word: String, isWhole: Bool = true) -> String {
    let whole = ShellWords.quote(word)
    if isWhole { return whole }
    return word.isEmpty || whole == word ? word : String(whole.dropLast())
  }
}
