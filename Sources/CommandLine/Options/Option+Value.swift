/// Options that name their value in the help: `@Option("Stop after N values", value: "n") var count: Int?`.
extension Option {
  package init<T: ExpressibleByArgument>(
    _ help: String, value: String, name: NameSpecification = .long, parsing: SingleValueParsingStrategy = .next,
    completion: CompletionKind? = nil
  ) where Value == T? {
    self.init(name: name, parsing: parsing, help: ArgumentHelp(help, valueName: value), completion: completion)
  }

  package init<T>(
    _ help: String, value: String, name: NameSpecification = .long, parsing: SingleValueParsingStrategy = .next,
    completion: CompletionKind? = nil, transform: @Sendable @escaping (String) throws -> T
  ) where Value == T? {
    self.init(name: name, parsing: parsing, help: ArgumentHelp(help, valueName: value), completion: completion, transform: transform)
  }

  package init(
    wrappedValue: Value, _ help: String, value: String, name: NameSpecification = .long, parsing: SingleValueParsingStrategy = .next,
    completion: CompletionKind? = nil
  ) where Value: ExpressibleByArgument {
    self.init(wrappedValue: wrappedValue, name: name, parsing: parsing, help: ArgumentHelp(help, valueName: value), completion: completion)
  }

  package init(
    wrappedValue: Value, _ help: String, value: String, name: NameSpecification = .long, parsing: SingleValueParsingStrategy = .next,
    completion: CompletionKind? = nil, transform: @Sendable @escaping (String) throws -> Value
  ) {
    self.init(
      wrappedValue: wrappedValue, name: name, parsing: parsing, help: ArgumentHelp(help, valueName: value), completion: completion,
      transform: transform)
  }

  package init<T: ExpressibleByArgument>(
    wrappedValue: [T], _ help: String, value: String, name: NameSpecification = .long, parsing: ArrayParsingStrategy = .singleValue,
    completion: CompletionKind? = nil
  ) where Value == [T] {
    self.init(wrappedValue: wrappedValue, name: name, parsing: parsing, help: ArgumentHelp(help, valueName: value), completion: completion)
  }
}
