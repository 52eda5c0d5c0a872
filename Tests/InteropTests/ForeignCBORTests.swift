import Foundation
import TestSupport

/// Compares our CBOR with cbor2 from PyPI. On purpose, ours refuses what cbor2 takes: bytes after the value, and a key that occurs twice.
@Suite(.timeLimit(.minutes(15))) struct ForeignCBORTests {
  /// Writes 400 random values, one in hex a line. Half of them have indefinite lengths.
  private static let writer = """
    import io, random, cbor2
    numbers = random.Random(5)
    def value(depth):
        kind = numbers.randrange(9 if depth else 7)
        if kind == 0: return numbers.choice([0, 1, -1]) * numbers.getrandbits(numbers.choice([4, 8, 16, 32, 63]))
        if kind == 1: return numbers.randbytes(numbers.choice([0, 1, 23, 24, 300]))
        if kind == 2: return ''.join(numbers.choice('aé€𐅑') for _ in range(numbers.randrange(30)))
        if kind == 3: return numbers.choice([True, False, None])
        if kind == 4: return numbers.choice([0.0, 1.5, -4.1, 65504.0, 1e300, float('inf'), 5.960464477539063e-08, 3.4028234663852886e+38])
        if kind in (5, 6): return numbers.getrandbits(8)
        if kind == 7: return [value(depth - 1) for _ in range(numbers.choice([0, 3, 30]))]
        return {numbers.choice(['off', 'data', 'images', 'rc', 7, -7, b'k']): value(depth - 1) for _ in range(numbers.randrange(6))}
    for number in range(400):
        print(cbor2.dumps(value(3), canonical=number % 4 == 0, indefinite_containers=number % 2 == 0).hex())
    """
  /// Reads lines of two values in hex, and prints a line for those that differ.
  private static let judge = """
    import sys, cbor2
    for line in sys.stdin:
        theirs, ours = line.split()
        if cbor2.loads(bytes.fromhex(theirs)) != cbor2.loads(bytes.fromhex(ours)): print(line, end='')
    """

  @Test func everyValueIsTheSameToAnother() throws {
    let python = try #require(ProcessInfo.processInfo.environment["BLECTL_PYTHON"], "run scripts/test")
    let made = try RunningProcess.run([python, "-c", Self.writer])
    try #require(made.status == 0, "\(made.errors)")
    let lines = made.text.split(separator: "\n")
    #expect(lines.count == 400)
    let pairs = try lines.map { line in "\(line) \(Hex.encode(try CBOR(decoding: try #require(Hex.decode(String(line)))).encoded))\n" }
    let said = try RunningProcess.run([python, "-c", Self.judge], input: Array(pairs.joined().utf8))
    #expect(said.status == 0 && said.text.isEmpty, "\(said.text.prefix(1000))\(said.errors)")
  }
}
