import Terminal
import Text

/// What can stand at the cursor. Asks nobody but what it is given, so that it answers at once.
struct Completer {
  let model: CompletionModel
  /// What is behind a command's name; nil for a name that is none.
  let shape: (String) -> CommandShape?
  /// What another device has than that of the prompt; nil where that is not known.
  var attributesOf: (String) -> [CompletionModel.Attribute]? = { _ in nil }
  /// The names in a folder (empty: this one), folders with a slash behind them.
  let files: (String) -> [String]

  /// What can follow, and where it begins.
  struct Answer: Equatable {
    var entries: [CompletionModel.Entry] = []
    /// Stands before each of them in the same word: `--as=`, `@`.
    var prefix = ""
  }

  func complete(_ line: String) -> LineEditor.Completion? {
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
    // `band` may stand for `name:Band-`, but `2` not for what two names have in common: all must be found by it as well.
    if !common.isEmpty, common.lowercased().contains(wanted), answer.entries.allSatisfy({ $0.isFound(by: common.lowercased()) }) {
      completion.text = TypedWords.quoted(answer.prefix + common, isWhole: false)
    } else {
      completion.replaced = 0
    }
    return completion
  }

  /// What is longer in none of them, and the same in all.
  private static func commonBeginning(_ texts: [String]) -> String {
    guard var common = texts.first else { return "" }
    for text in texts {
      while !text.hasPrefix(common) { common.removeLast() }
    }
    return common
  }

  // MARK: What it is

  private func answer(_ typed: TypedWords) -> Answer {
    if typed.isShell { return typed.words.isEmpty ? Answer() : named(typed.last, in: typed.last) }
    guard let name = typed.words.first else { return filtered(commands, by: typed.last) }
    guard let shape = shape(name) else { return Answer() }
    return answer(shape, Array(typed.words.dropFirst()), typed.last)
  }

  private var commands: [CompletionModel.Entry] {
    model.commands.map { CompletionModel.Entry(text: $0.name, keys: [$0.name], hint: $0.hint) }
  }

  private func answer(_ shape: CommandShape, _ words: [String], _ last: String) -> Answer {
    var given: [String] = []
    var named: [String] = []
    var rest = words[...]
    var onlyWords = false
    var pending: CommandShape.Option?
    while let word = rest.popFirst() {
      if onlyWords || !word.hasPrefix("-") || word == "-" {
        named.append(word)
      } else if word == "--" {
        onlyWords = true
      } else {
        let name = String(word.prefix { $0 != "=" })
        given.append(name)
        if let option = shape.option(name), option.value != nil, !word.contains("="), rest.popFirst() == nil { pending = option }
      }
    }
    if let pending, let value = pending.value {
      var answer = self.word(value, last)
      // What is expected or written stands behind the attribute.
      if case .attribute = value {
        let sign = pending.names.contains("--write") ? "=" : ""
        answer.entries = answer.entries.map { .init(text: $0.text + sign, keys: $0.keys, hint: $0.hint, isOther: $0.isOther, goesOn: true) }
      }
      return answer
    }
    if !onlyWords, last.hasPrefix("-") { return options(shape, given, last) }
    return positional(shape, named, last)
  }

  private func options(_ shape: CommandShape, _ given: [String], _ last: String) -> Answer {
    if let sign = last.firstIndex(of: "="), let value = shape.option(String(last[..<sign]))?.value {
      let prefix = String(last[...sign])
      var answer = word(value, String(last.dropFirst(prefix.count)))
      answer.prefix = prefix + answer.prefix
      return answer
    }
    let entries = shape.options.filter { $0.isRepeating || Set($0.names).isDisjoint(with: given) }.compactMap { option in
      option.names.last { $0.hasPrefix("--") }.map { CompletionModel.Entry(text: $0, keys: [$0], hint: option.hint) }
    }
    return filtered(entries, by: last)
  }

  private func positional(_ shape: CommandShape, _ given: [String], _ last: String) -> Answer {
    func answer(_ words: [CommandShape.Word]) -> Answer {
      let index = given.count
      switch index < words.count ? words[index] : shape.lastRepeats ? words.last : nil {
      case .attribute(let use)? where words.first == .peer:
        return filtered(CompletionModel.attributes(attributesOf(given[0]) ?? [], for: use), by: last)
      case .setting?: return filtered((ShellSettings.choices[given[0]] ?? []).map { .init(text: $0, keys: [$0], hint: "") }, by: last)
      case .deviceParameter?:
        let place = words.firstIndex(of: .deviceCommand) ?? 0
        return place < given.count ? parameters(of: given[place], given[(place + 1)...], last) : Answer()
      case let kind?: return word(kind, last)
      case nil: return Answer()
      }
    }
    // PEER may be there or not.
    guard shape.words.first == .peer, model.isConnected, shape.words.count > 1 else { return answer(shape.words) }
    let short = Array(shape.words.dropFirst())
    if let first = given.first { return answer(Self.isPeer(first) ? shape.words : short) }
    // Whoever has typed nothing means the device of the prompt, also when its attributes have yet to be found.
    let without = answer(short)
    if model.attributes == nil, case .attribute? = short.first, !Self.isPeer(last), !last.hasPrefix("name") { return Answer() }
    return last.isEmpty || !without.entries.isEmpty ? without : answer(shape.words)
  }

  /// Of a device's command: their names, and behind the sign what they may be.
  private func parameters(of command: String, _ given: ArraySlice<String>, _ last: String) -> Answer {
    guard let parameters = model.deviceCommands.first(where: { $0.name == command })?.parameters else { return Answer() }
    guard let sign = last.firstIndex(of: "=") else {
      let names = given.map { String($0.prefix { $0 != "=" }) }
      return filtered(
        parameters.filter { !names.contains($0.name) }.map {
          .init(text: $0.name + "=", keys: [$0.name.lowercased() + "="], hint: $0.hint, goesOn: true)
        }, by: last)
    }
    let choices = parameters.first { $0.name == last[..<sign] }?.choices ?? []
    let prefix = String(last[...sign])
    var answer = filtered(
      choices.map { .init(text: $0, keys: [$0.lowercased()], hint: "") }, by: String(last.dropFirst(prefix.count)))
    answer.prefix = prefix
    return answer
  }

  /// No attribute looks so.
  private static func isPeer(_ word: String) -> Bool {
    word.hasPrefix("@") || word.contains(":") || word.utf8.count == 12 && Hex.decode(word) != nil
  }

  private func word(_ word: CommandShape.Word, _ last: String) -> Answer {
    switch word {
    case .peer: return filtered(model.peers(), by: last)
    case .link: return filtered(model.peers(onlyLinks: true), by: last)
    case .attribute(let use): return filtered(CompletionModel.attributes(model.attributes ?? [], for: use), by: last)
    case .choice(let texts): return filtered(texts.map { CompletionModel.Entry(text: $0, keys: [$0.lowercased()], hint: "") }, by: last)
    case .command: return filtered(commands, by: last)
    case .deviceCommand:
      return filtered(model.deviceCommands.map { .init(text: $0.name, keys: [$0.name.lowercased()], hint: $0.hint) }, by: last)
    case .file: return named(last, in: last)
    case .value:
      guard last.hasPrefix("@") else { return Answer() }
      var answer = named(String(last.dropFirst()), in: String(last.dropFirst()))
      answer.prefix = "@"
      return answer
    case .free, .setting, .deviceParameter: return Answer()
    }
  }

  private func filtered(_ entries: [CompletionModel.Entry], by typed: String) -> Answer {
    let wanted = typed.lowercased()
    var seen: Set<String> = []
    let matching = entries.filter { $0.isFound(by: wanted) && !(typed.isEmpty && $0.isOther) && seen.insert($0.text).inserted }
    return Answer(entries: matching)
  }

  /// Files whose path begins so. Those that are hidden only when that is asked for.
  private func named(_ path: String, in typed: String) -> Answer {
    let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    let begin = path.dropFirst(folder.count)
    let names = files(folder).filter { $0.hasPrefix(begin) && (begin.hasPrefix(".") || !$0.hasPrefix(".")) }.sorted()
    return Answer(entries: names.map { .init(text: folder + $0, keys: [(folder + $0).lowercased()], hint: "", goesOn: $0.hasSuffix("/")) })
  }
}
