/// HCI events (Vol 4 Part E §7.7). A line has the code in hex, the name and the format of the parameters. `?` marks an unknown format.
/// The table omits Command Complete, Command Status and the LE Meta event, which `DecodedPacket` decodes in code.
enum HCIEventTable {
  static let events = """
    01; Inquiry Complete; status
    02; Inquiry Result; ?
    03; Connection Complete; status handle address link_type:sco|acl|esco encryption_enabled:bool
    04; Connection Request; address class_of_device:x24 link_type:sco|acl|esco
    05; Disconnection Complete; status handle reason:status
    06; Authentication Complete; status handle
    07; Remote Name Request Complete; status address remote_name:text248
    08; Encryption Change; status handle encryption_enabled:u8
    09; Change Connection Link Key Complete; status handle
    0a; Link Key Type Changed; status handle key_flag:u8
    0b; Read Remote Supported Features Complete; status handle lmp_features:x64
    0c; Read Remote Version Information Complete; status handle version company subversion:u16
    0d; QoS Setup Complete; ?
    10; Hardware Error; hardware_code:u8
    11; Flush Occurred; handle
    12; Role Change; status address new_role:role
    13; Number Of Completed Packets; num_handles:u8 each:num_handles handle completed:u16
    14; Mode Change; status handle current_mode:u8 interval:ms0.625
    15; Return Link Keys; ?
    16; PIN Code Request; address
    17; Link Key Request; address
    18; Link Key Notification; address link_key:hex16 key_type:u8
    19; Loopback Command; ?
    1a; Data Buffer Overflow; link_type:u8
    1b; Max Slots Change; handle max_slots:u8
    1c; Read Clock Offset Complete; status handle clock_offset:x16
    1d; Connection Packet Type Changed; status handle packet_type:x16
    1e; QoS Violation; handle
    20; Page Scan Repetition Mode Change; address page_scan_repetition_mode:u8
    21; Flow Specification Complete; ?
    22; Inquiry Result with RSSI; ?
    23; Read Remote Extended Features Complete; status handle page:u8 maximum_page:u8 extended_lmp_features:x64
    2c; Synchronous Connection Complete; ?
    2d; Synchronous Connection Changed; ?
    2e; Sniff Subrating; ?
    2f; Extended Inquiry Result; ?
    30; Encryption Key Refresh Complete; status handle
    31; IO Capability Request; address
    32; IO Capability Response; address io_capability:u8 oob_data_present:u8 authentication_requirements:x8
    33; User Confirmation Request; address numeric_value:u32
    34; User Passkey Request; address
    35; Remote OOB Data Request; address
    36; Simple Pairing Complete; status address
    38; Link Supervision Timeout Changed; handle supervision_timeout:ms0.625
    39; Enhanced Flush Complete; handle
    3b; User Passkey Notification; address passkey:u32
    3c; Keypress Notification; address notification_type:u8
    3d; Remote Host Supported Features Notification; address host_supported_features:x64
    48; Number Of Completed Data Blocks; ?
    57; Authenticated Payload Timeout Expired; handle
    58; SAM Status Change; ?
    59; Encryption Change [v2]; status handle encryption_enabled:u8 key_size:u8
    ff; Vendor Specific; ?
    """

  /// The subevents of the LE Meta event (Vol 4 Part E §7.7.65), in the same form as `events`.
  static let subevents = """
    01; LE Connection Complete; status handle role:role peer_address_type:addrtype peer_address:addr interval:ms1.25 latency:u16 supervision_timeout:ms10 central_clock_accuracy:u8
    02; LE Advertising Report; num_reports:u8 each:num_reports event_type:adv_ind|adv_direct_ind|adv_scan_ind|adv_nonconn_ind|scan_rsp address_type:addrtype address data:ad rssi:dbm
    03; LE Connection Update Complete; status handle interval:ms1.25 latency:u16 supervision_timeout:ms10
    04; LE Read Remote Features Complete; status handle le_features:x64
    05; LE Long Term Key Request; handle random:x64 ediv:x16
    06; LE Remote Connection Parameter Request; handle interval_min:ms1.25 interval_max:ms1.25 latency:u16 supervision_timeout:ms10
    07; LE Data Length Change; handle max_tx_octets:u16 max_tx_time:us max_rx_octets:u16 max_rx_time:us
    08; LE Read Local P-256 Public Key Complete; status p256_public_key:hex64
    09; LE Generate DHKey Complete; status dh_key:hex32
    0a; LE Enhanced Connection Complete; status handle role:role peer_address_type:addrtype peer_address:addr local_resolvable_private_address:addr peer_resolvable_private_address:addr interval:ms1.25 latency:u16 supervision_timeout:ms10 central_clock_accuracy:u8
    0b; LE Directed Advertising Report; num_reports:u8 each:num_reports event_type:u8 address_type:addrtype address direct_address_type:addrtype direct_address:addr rssi:dbm
    0c; LE PHY Update Complete; status handle tx_phy:phy rx_phy:phy
    0d; LE Extended Advertising Report; num_reports:u8 each:num_reports event_type:evttype address_type:addrtype address primary_phy:phy secondary_phy:phy sid:u8 tx_power:dbm rssi:dbm periodic_interval:ms1.25 direct_address_type:addrtype direct_address:addr data:ad
    0e; LE Periodic Advertising Sync Established; status sync_handle:u16 sid:u8 advertiser_address_type:addrtype advertiser_address:addr advertiser_phy:phy periodic_interval:ms1.25 advertiser_clock_accuracy:u8
    0f; LE Periodic Advertising Report; sync_handle:u16 tx_power:dbm rssi:dbm cte_type:cte data_status:datastatus data:ad
    10; LE Periodic Advertising Sync Lost; sync_handle:u16
    11; LE Scan Timeout;
    12; LE Advertising Set Terminated; status advertising_handle:u8 handle num_completed_events:u8
    13; LE Scan Request Received; advertising_handle:u8 scanner_address_type:addrtype scanner_address:addr
    14; LE Channel Selection Algorithm; handle channel_selection_algorithm:u8
    15; LE Connectionless IQ Report; ?
    16; LE Connection IQ Report; ?
    17; LE CTE Request Failed; status handle
    18; LE Periodic Advertising Sync Transfer Received; status handle service_data:x16 sync_handle:u16 sid:u8 advertiser_address_type:addrtype advertiser_address:addr advertiser_phy:phy periodic_interval:ms1.25 advertiser_clock_accuracy:u8
    19; LE CIS Established; ?
    1a; LE CIS Request; ?
    1b; LE Create BIG Complete; ?
    1c; LE Terminate BIG Complete; big_handle:u8 reason:status
    1d; LE BIG Sync Established; ?
    1e; LE BIG Sync Lost; big_handle:u8 reason:status
    1f; LE Request Peer SCA Complete; status handle peer_clock_accuracy:u8
    20; LE Path Loss Threshold; handle current_path_loss:u8 zone_entered:u8
    21; LE Transmit Power Reporting; status handle reason:local_transmit_power_changed|remote_transmit_power_changed|read_remote_transmit_power_level_completed phy:phy tx_power:dbm tx_power_flag:x8 delta:db
    22; LE BIGInfo Advertising Report; ?
    23; LE Subrate Change; status handle subrate_factor:u16 latency:u16 continuation_number:u16 supervision_timeout:ms10
    24; LE Periodic Advertising Sync Established [v2]; status sync_handle:u16 sid:u8 advertiser_address_type:addrtype advertiser_address:addr advertiser_phy:phy periodic_interval:ms1.25 advertiser_clock_accuracy:u8 num_subevents:u8 subevent_interval:ms1.25x8 response_slot_delay:ms1.25x8 response_slot_spacing:ms0.125x8 later
    25; LE Periodic Advertising Report [v2]; sync_handle:u16 tx_power:dbm rssi:dbm cte_type:cte periodic_event_counter:u16 subevent:u8 data_status:datastatus data:ad later
    26; LE Periodic Advertising Sync Transfer Received [v2]; status handle service_data:x16 sync_handle:u16 sid:u8 advertiser_address_type:addrtype advertiser_address:addr advertiser_phy:phy periodic_interval:ms1.25 advertiser_clock_accuracy:u8 num_subevents:u8 subevent_interval:ms1.25x8 response_slot_delay:ms1.25x8 response_slot_spacing:ms0.125x8 later
    27; LE Periodic Advertising Subevent Data Request; advertising_handle:u8 subevent_start:u8 subevent_data_count:u8 later
    28; LE Periodic Advertising Response Report; advertising_handle:u8 subevent:u8 subevent_transmitted:yes|no num_responses:u8 each:num_responses tx_power:dbm rssi:dbm cte_type:cte response_slot:u8 data_status:datastatus data:counted
    29; LE Enhanced Connection Complete [v2]; status handle role:role peer_address_type:addrtype peer_address:addr local_resolvable_private_address:addr peer_resolvable_private_address:addr interval:ms1.25 latency:u16 supervision_timeout:ms10 central_clock_accuracy:u8 advertising_handle:u8 sync_handle:u16
    2a; LE CIS Established [v2]; ?
    2b; LE Read All Remote Features Complete; status handle max_remote_page:u8 max_valid_page:u8 le_features:rest
    2c; LE CS Read Remote Supported Capabilities Complete; ?
    2d; LE CS Read Remote FAE Table Complete; ?
    2e; LE CS Security Enable Complete; status handle
    2f; LE CS Config Complete; ?
    30; LE CS Procedure Enable Complete; ?
    31; LE CS Subevent Result; ?
    32; LE CS Subevent Result Continue; ?
    33; LE CS Test End Complete; status
    34; LE Monitored Advertisers Report; address_type:addrtype address condition:rssi_low|rssi_high later
    35; LE Frame Space Update Complete; status handle initiator:local_host|local_controller|peer frame_space:us phys:x8 spacing_types:x16 later
    36; LE UTP Receive; ?
    37; LE Connection Rate Change; status handle interval:ms0.125 subrate_factor:u16 latency:u16 continuation_number:u16 supervision_timeout:ms10 later
    38; LE CS Read Remote Supported Capabilities Complete [v2]; ?
    """
}
