/// The forms of devices, attributes and values that the program's help lists.
extension ProgramHelp {
  static let devices = [
    ("C0:FF:EE:00:00:07", "Address, optionally with its type: /public or /random"), ("Band-7, name:Band-*", "Name, or a pattern for names"),
    ("mac:A4:C1:38:00:11:22", "MAC address inside the advertisement"), ("service:180d", "Advertised service: UUID or name"),
    ("@last, @ALIAS", "The device used last, or one that `alias` named"),
  ]

  static let attributes = [
    ("battery_level", "Name from the Bluetooth SIG"), ("2a19, 180f/2a19", "UUID, alone or after the UUID of its service"),
    ("ff01[2]", "Second characteristic with this UUID"), ("ff01@2901", "Descriptor of a characteristic"), ("0x0011", "Handle"),
  ]

  static let exits = [
    "  0 success, 1 bug in blectl, 2 not found, 3 adapter unusable, 4 timeout,",
    "  5 device refused, 6 connection lost, 7 expectation failed, 64 usage,",
    "  66 input file, 74 output, 130 Ctrl-C",
  ]

  static let examples = [
    "blectl -i sim scan -d 3", "blectl -i sim read Band-7 battery_level", "blectl -i sim -e 'read 2a00; read 2a19' Band-7",
  ]
}
