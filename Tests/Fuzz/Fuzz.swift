import Foundation

/// Fuzz TARGET RUNS [SEED]: gives a parser so many mutated inputs. Ends with 1 when one of them took a second, and leaves it in fuzz-TARGET.bin
/// of the working folder; what traps says so by itself, and is in that file when FUZZ_KEEP is set.
@main enum Fuzz {
  private static let targets: [FuzzTarget] = [.script, .expression, .predicate, .recording, .trace, .device, .packets]

  static func main() {
    let arguments = CommandLine.arguments
    guard arguments.count >= 3, let target = targets.first(where: { $0.name == arguments[1] }), let runs = Int(arguments[2]), runs > 0
    else {
      print("usage: Fuzz TARGET RUNS [SEED]; targets: \(targets.map(\.name).joined(separator: " "))")
      exit(64)
    }
    let seed = arguments.count > 3 ? UInt64(arguments[3]) ?? 1 : 1
    let keeps = ProcessInfo.processInfo.environment["FUZZ_KEEP"] != nil
    var mutator = Mutator(seeds: target.seeds.isEmpty ? [[]] : target.seeds, words: target.words, seed: seed)
    let start = now
    var worst = 0
    for _ in 0..<runs {
      let input = mutator.next()
      if keeps { keep(input, target) }
      let begin = now
      target.run(input)
      let took = now - begin
      worst = max(worst, took)
      guard took > 1_000_000 else { continue }
      keep(input, target)
      print("\(target.name): an input took \(took / 1000) ms; it is in fuzz-\(target.name).bin")
      exit(1)
    }
    let seconds = (now - start) / 1_000_000
    print("\(target.name): \(runs) inputs of seed \(seed), none trapped; the slowest took \(worst) us; \(seconds) s")
  }

  /// Processor time in microseconds: what else runs on the machine is nobody's fault.
  private static var now: Int { clock() }

  private static func keep(_ input: [UInt8], _ target: FuzzTarget) {
    try? Data(input).write(to: URL(fileURLWithPath: "fuzz-\(target.name).bin"))
  }
}
