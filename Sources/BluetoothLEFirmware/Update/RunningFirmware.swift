// SPDX-License-Identifier: Apache-2.0
package import BluetoothLE

/// The version of the firmware that a device runs.
package enum RunningFirmware {
  /// Asks for the version of the running image with MCUmgr, otherwise reads the Firmware Revision String (2A26).
  /// - Returns: Nil if the device reports no version.
  /// - Throws: ManagementError; the errors of the link.
  @LoopActor
  package static func version(_ client: Client) async throws -> String? {
    let table = try await client.discover()
    if ManagementClient.isServer(table) {
      let list = try await ManagementClient.use(client) { try await $0.images() }
      return list.images.first { $0.image == 0 && $0.isActive }?.version
    }
    return try await client.firmwareRevision()
  }

  /// Returns whether two texts name the same version, as `1.2.3+4` and `1.2.3.4` do.
  package static func isSame(_ one: String, _ other: String) -> Bool {
    (ImageVersion(one)?.description ?? one) == (ImageVersion(other)?.description ?? other)
  }
}
