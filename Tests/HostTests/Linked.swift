import TestSupport

/// A host on a scripted controller, with a link to the lock.
@LoopActor
func linked(_ controller: ScriptedController = ScriptedController()) async throws -> (
  HostCentral, ScriptedController, any Link
) {
  let (central, _) = try await started(controller)
  let link = try await central.connect(lock, timeout: .seconds(5))
  return (central, controller, link)
}
