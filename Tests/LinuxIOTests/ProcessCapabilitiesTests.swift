import LinuxIO
import Testing

@Suite(.timeLimit(.minutes(1))) struct ProcessCapabilitiesTests {
  /// Capabilities are read from the format of /proc/self/status.
  @Test(
    arguments: [
      ("CapPrm:\t0000000000002000\nCapEff:\t0000000000000000\nCapBnd:\t000001ffffffffff\nNoNewPrivs:\t0\n", true, false, true, false),
      ("CapPrm:\t0000000000001000\nCapBnd:\t0000000000001000\nNoNewPrivs:\t1\n", false, true, false, true),
      // Kernels before 4.10 do not report the last one.
      ("CapPrm:\t000001ffffffffff\nCapBnd:\t000001ffffffffff\n", true, true, true, false),
    ])
  func readsWhatTheKernelTells(_ status: String, _ hasRaw: Bool, _ hasAdmin: Bool, _ mayGetRaw: Bool, _ isHeldBack: Bool) throws {
    let rights = try #require(ProcessCapabilities(status: status, executable: nil))
    #expect(rights.has(.netRaw) == hasRaw && rights.has(.netAdmin) == hasAdmin && rights.mayGet(.netRaw) == mayGetRaw)
    #expect(rights.hasNoNewPrivileges == isHeldBack && !rights.isNosuid)
  }

  /// The file system shows whether a file can have capabilities. /proc cannot.
  @Test func asksTheFileSystem() throws {
    let status = "CapPrm:\t0\nCapBnd:\t0\n"
    let (proc, own) = (
      ProcessCapabilities(status: status, executable: "/proc/self/status"), ProcessCapabilities(status: status, executable: "/usr/bin/env")
    )
    #expect(proc?.keepsCapabilities == false && own?.keepsCapabilities == true)
  }

  @Test(arguments: [nil, "", "CapPrm:\t0\n", "CapPrm:\tzz\nCapBnd:\t0\n", "CapBnd\n:::\n"]) func whatTellsNothing(_ status: String?) {
    #expect(ProcessCapabilities(status: status, executable: nil) == nil)
  }
}
