import TestSupport

@Suite(.timeLimit(.minutes(15))) struct SHA2Tests {
  /// Vectors: FIPS 180-4 examples (NIST CSRC): the empty message, "abc", and the messages of two blocks.
  @Test(arguments: [
    (SHA2.sha256, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    (.sha256, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      .sha256, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (
      .sha384, "abc",
      "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7"
    ),
    (
      .sha512, "abc",
      "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
    ),
    (
      .sha512,
      "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
      "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa17299aeadb6889018501d289e4900f7e4331b99dec4b5433ac7d329eeb6dd26545e96e55b874be909"
    ),
  ]) func vectors(_ function: SHA2, _ message: String, _ hash: String) {
    #expect(Hex.encode(function.hash(Array(message.utf8))) == hash)
    #expect(function.length * 2 == hash.utf8.count)
    // A slice is hashed from its own start.
    #expect(Hex.encode(function.hash((Array("xx".utf8) + Array(message.utf8))[2...])) == hash)
  }
}
