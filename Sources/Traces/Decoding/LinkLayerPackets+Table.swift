extension DecodedPacket {
  private static let parameters =
    "interval_min:ms1.25 interval_max:ms1.25 latency:u16 timeout:ms10 preferred_periodicity:u8 reference_connection_event_count:u16 offset0:x16 "
    + "offset1:x16 offset2:x16 offset3:x16 offset4:x16 offset5:x16"
  private static let lengths = "max_rx_octets:u16 max_rx_time:us max_tx_octets:u16 max_tx_time:us"

  /// The names and formats of LL Control PDUs by opcode (Vol 6 Part B §2.4.2). `?` marks an unknown format.
  static let control = HCITable.table(
    """
    00; LL_CONNECTION_UPDATE_IND; window_size:ms1.25x8 window_offset:ms1.25 interval:ms1.25 latency:u16 timeout:ms10 instant:u16
    01; LL_CHANNEL_MAP_IND; channel_map:hex5 instant:u16
    02; LL_TERMINATE_IND; reason:status
    03; LL_ENC_REQ; random:x64 ediv:x16 skd_c:hex8 iv_c:hex4
    04; LL_ENC_RSP; skd_p:hex8 iv_p:hex4
    05; LL_START_ENC_REQ;
    06; LL_START_ENC_RSP;
    07; LL_UNKNOWN_RSP; unknown_type:x8
    08; LL_FEATURE_REQ; feature_set:x64
    09; LL_FEATURE_RSP; feature_set:x64
    0a; LL_PAUSE_ENC_REQ;
    0b; LL_PAUSE_ENC_RSP;
    0c; LL_VERSION_IND; version company subversion:u16
    0d; LL_REJECT_IND; reason:status
    0e; LL_PERIPHERAL_FEATURE_REQ; feature_set:x64
    0f; LL_CONNECTION_PARAM_REQ; \(parameters)
    10; LL_CONNECTION_PARAM_RSP; \(parameters)
    11; LL_REJECT_EXT_IND; reject_opcode:x8 reason:status
    12; LL_PING_REQ;
    13; LL_PING_RSP;
    14; LL_LENGTH_REQ; \(lengths)
    15; LL_LENGTH_RSP; \(lengths)
    16; LL_PHY_REQ; tx_phys:x8 rx_phys:x8
    17; LL_PHY_RSP; tx_phys:x8 rx_phys:x8
    18; LL_PHY_UPDATE_IND; phy_c_to_p:x8 phy_p_to_c:x8 instant:u16
    19; LL_MIN_USED_CHANNELS_IND; phys:x8 min_used_channels:u8
    1a; LL_CTE_REQ; cte_request:x8
    1b; LL_CTE_RSP;
    1c; LL_PERIODIC_SYNC_IND; ?
    1d; LL_CLOCK_ACCURACY_REQ; sleep_clock_accuracy:u8
    1e; LL_CLOCK_ACCURACY_RSP; sleep_clock_accuracy:u8
    1f; LL_CIS_REQ; ?
    20; LL_CIS_RSP; ?
    21; LL_CIS_IND; ?
    22; LL_CIS_TERMINATE_IND; cig_id:u8 cis_id:u8 reason:status
    23; LL_POWER_CONTROL_REQ; phy:x8 delta:i8 tx_power:dbm
    24; LL_POWER_CONTROL_RSP; flags:x8 delta:i8 tx_power:dbm acceptable_power_reduction:u8
    25; LL_POWER_CHANGE_IND; phy:x8 flags:x8 delta:i8 tx_power:dbm
    26; LL_SUBRATE_REQ; subrate_min:u16 subrate_max:u16 max_latency:u16 continuation_number:u16 timeout:ms10
    27; LL_SUBRATE_IND; subrate_factor:u16 subrate_base_event:u16 latency:u16 continuation_number:u16 timeout:ms10
    28; LL_CHANNEL_REPORTING_IND; enable:u8 min_spacing:u8 max_delay:u8
    29; LL_CHANNEL_STATUS_IND; channel_classification:hex10
    """)
}
