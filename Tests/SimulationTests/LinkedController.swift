import EventLoop
import TestSupport

@testable import Simulation

/// A virtual controller with a link to a device in its air.
@LoopActor
struct LinkedController {
  let air = Air()
  let device = TestDevice()
  let host: TestHost

  init(_ configure: (inout VirtualController.Configuration) -> Void = { _ in }) async throws {
    air.add(device)
    host = TestHost(air: air, configure)
    try await host.setUp()
  }
}
