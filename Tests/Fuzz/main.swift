import Foundation

/// Fuzz TARGET RUNS [SEED]: gives a parser so many mutated inputs. Ends with 1 when one of them took a second; what traps says so by itself. The
/// input that runs is in the file fuzz-TARGET.bin of the working folder while it runs, when it took long or when asked for by FUZZ_KEEP.
let targets: [FuzzTarget] = [.script, .expression, .predicate]
let arguments = CommandLine.arguments
guard arguments.count >= 3, let target = targets.first(where: { $0.name == arguments[1] }), let runs = Int(arguments[2]), runs > 0 else {
  print("usage: Fuzz TARGET RUNS [SEED]; targets: \(targets.map(\.name).joined(separator: " "))")
  exit(64)
}
let seed = arguments.count > 3 ? UInt64(arguments[3]) ?? 1 : 1
var mutator = Mutator(seeds: target.seeds.isEmpty ? [[]] : target.seeds, words: target.words, seed: seed)
let keeps = ProcessInfo.processInfo.environment["FUZZ_KEEP"] != nil
let start = DispatchTime.now().uptimeNanoseconds
var worst: UInt64 = 0
for _ in 0..<runs {
  let input = mutator.next()
  if keeps { try? Data(input).write(to: URL(fileURLWithPath: "fuzz-\(target.name).bin")) }
  let begin = DispatchTime.now().uptimeNanoseconds
  target.run(input)
  let took = DispatchTime.now().uptimeNanoseconds - begin
  worst = max(worst, took)
  if took > 1_000_000_000 {
    try? Data(input).write(to: URL(fileURLWithPath: "fuzz-\(target.name).bin"))
    print("\(target.name): an input took \(took / 1_000_000) ms; it is in fuzz-\(target.name).bin")
    exit(1)
  }
}
let seconds = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
print("\(target.name): \(runs) inputs of seed \(seed), none trapped; the slowest took \(worst / 1000) us; \(Int(seconds)) s")
