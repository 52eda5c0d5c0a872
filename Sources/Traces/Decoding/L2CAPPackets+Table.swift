extension DecodedPacket {
  /// The names and formats of L2CAP signals by code (Vol 3 Part A §4).
  static let signals = HCITable.table(
    """
    01; Command Reject; reason:x16 data:rest
    06; Disconnection Request; destination_cid:x16 source_cid:x16
    07; Disconnection Response; destination_cid:x16 source_cid:x16
    12; Connection Parameter Update Request; interval_min:ms1.25 interval_max:ms1.25 latency:u16 timeout:ms10
    13; Connection Parameter Update Response; result:x16
    14; LE Credit Based Connection Request; spsm:x16 source_cid:x16 mtu:u16 mps:u16 initial_credits:u16
    15; LE Credit Based Connection Response; destination_cid:x16 mtu:u16 mps:u16 initial_credits:u16 result:x16
    16; Flow Control Credit Indication; cid:x16 credits:u16
    17; Credit Based Connection Request; spsm:x16 mtu:u16 mps:u16 initial_credits:u16 source_cids:rest
    18; Credit Based Connection Response; mtu:u16 mps:u16 initial_credits:u16 result:x16 destination_cids:rest
    19; Credit Based Reconfigure Request; mtu:u16 mps:u16 destination_cids:rest
    1a; Credit Based Reconfigure Response; result:x16
    """)

  private static let features =
    "io_capability:display_only|display_yes_no|keyboard_only|no_input_no_output|keyboard_display oob:not_present|present "
    + "authentication_requirements:x8 maximum_key_size:u8 initiator_key_distribution:x8 responder_key_distribution:x8"

  /// The names and formats of the PDUs of the Security Manager by code (Vol 3 Part H §3.3).
  static let pairing = HCITable.table(
    """
    01; Pairing Request; \(features)
    02; Pairing Response; \(features)
    03; Pairing Confirm; confirm_value:hex16
    04; Pairing Random; random_value:hex16
    05; Pairing Failed; reason:x8
    06; Encryption Information; long_term_key:hex16
    07; Central Identification; ediv:x16 random:x64
    08; Identity Information; identity_resolving_key:hex16
    09; Identity Address Information; address_type:addrtype address
    0a; Signing Information; signature_key:hex16
    0b; Security Request; authentication_requirements:x8
    0c; Pairing Public Key; public_key_x:hex32 public_key_y:hex32
    0d; Pairing DHKey Check; dhkey_check:hex16
    0e; Keypress Notification; notification_type:u8
    """)
}
