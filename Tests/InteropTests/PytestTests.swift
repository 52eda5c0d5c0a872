import Foundation
import TestSupport

/// The example that drives a device from pytest, through a session for programs.
@Suite(.timeLimit(.minutes(15))) struct PytestTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("man/examples").path

  private func pytest(_ adapter: String, _ arguments: [String] = []) throws -> ProcessResult {
    guard let python = ProcessInfo.processInfo.environment["BLECTL_PYTHON"] else { throw BumbleAir.NoPython() }
    return try RunningProcess.run(
      [python, "-m", "pytest", "-p", "no:cacheprovider", "\(Self.folder)/test_wristband.py"] + arguments,
      environment: [
        "PATH": "/usr/bin:/bin", "HOME": "/dev/null", "BLECTL": Blectl.path, "BLECTL_ADAPTER": adapter, "BLECTL_CLOCK": "virtual",
        "PYTHONDONTWRITEBYTECODE": "1",
      ])
  }

  @Test func theExamplePasses() throws {
    let result = try pytest("sim:\(Self.folder)/wristband.json")
    #expect(result.status == 0 && result.text.contains("5 passed"), "\(result.text)\(result.errors)")
  }

  @Test func theExampleFailsWithoutTheDevice() throws {
    let result = try pytest("sim", ["-k", "battery"])
    #expect(result.status == 1 && result.text.contains("Cannot find name:Band-C"), "\(result.text)\(result.errors)")
  }
}
