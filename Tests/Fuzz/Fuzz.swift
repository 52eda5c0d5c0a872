import BluetoothLE
import CLibFuzzer
import Foundation

/// Runs libFuzzer with one target: TARGET FOLDER [OPTION|INPUT]... FOLDER keeps the corpus and the failing inputs.
/// With INPUTs only these run. Without arguments, lists the targets.
@main enum Fuzz {
  /// The variable that names the target. libFuzzer restarts itself to merge, with only its own arguments.
  private static let variable = "FUZZ_TARGET"

  static func main() throws {
    EventLoop.shared.useVirtualTime()
    let arguments = CommandLine.arguments
    if let name = ProcessInfo.processInfo.environment[variable] {
      unsafe chosen = FuzzTarget.all.first { $0.name == name }
      exit(drive(arguments))
    }
    guard arguments.count >= 3, let target = FuzzTarget.all.first(where: { $0.name == arguments[1] }) else {
      print(FuzzTarget.all.map(\.name).joined(separator: "\n"))
      exit(arguments.count == 1 ? 0 : 64)
    }
    let prepared = try prepare(target, URL(fileURLWithPath: arguments[2]))
    let options = Array(arguments.dropFirst(3))
    unsafe setenv(variable, target.name, 1)
    unsafe chosen = target
    exit(drive([arguments[0]] + (options.allSatisfy { $0.hasPrefix("-") } ? prepared : []) + options))
  }

  private nonisolated(unsafe) static var chosen: FuzzTarget?

  /// Writes the initial inputs to files. - Returns: The arguments that name them.
  private static func prepare(_ target: FuzzTarget, _ folder: URL) throws -> [String] {
    let corpus = folder.appendingPathComponent("corpus"), words = folder.appendingPathComponent("words")
    try FileManager.default.createDirectory(at: corpus, withIntermediateDirectories: true)
    try Data(target.dictionary.utf8).write(to: words)
    let beginnings = try [("seeds", target.seeds), ("kept", target.kept)].map { name, inputs in
      let folder = folder.appendingPathComponent(name)
      try? FileManager.default.removeItem(at: folder)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      for (number, input) in inputs.enumerated() { try Data(input).write(to: folder.appendingPathComponent("\(number)")) }
      return folder.path
    }
    return (target.words.isEmpty ? [] : ["-dict=\(words.path)"]) + ["-artifact_prefix=\(folder.path)/", corpus.path] + beginnings
  }

  private static func drive(_ arguments: [String]) -> Int32 {
    var count = Int32(arguments.count)
    // Both live as long as the process.
    let copies = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: arguments.count + 1)
    for (index, argument) in arguments.enumerated() { unsafe copies[index] = strdup(argument) }
    unsafe copies[arguments.count] = nil
    var list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe copies
    return unsafe LLVMFuzzerRunDriver(&count, &list) { bytes, length in
      let (target, input) = unsafe (Fuzz.chosen, Array(UnsafeBufferPointer(start: bytes, count: length)))
      try? EventLoop.shared.run { await target?.run(input) }
      return 0
    }
  }
}

/// Ends the process if a promise does not hold. libFuzzer then keeps the input.
func expect(_ holds: Bool, _ what: @autoclosure () -> String) {
  if holds { return }
  FileHandle.standardError.write(Data("broken: \(what())\n".utf8))
  abort()
}
