// Written by scripts/update hci from Sources/BluetoothLE/HCI/Commands/Commands.txt.

/// HCI commands (Vol 4 Part E §7): opcode, name, format of the parameters, format of the return parameters after the status. `?`: not known here.
enum HCICommandTable {
  static let text = """
    0000; No Operation; ;
    0401; Inquiry; lap:hex3 inquiry_length:u8 num_responses:u8;
    0402; Inquiry Cancel; ;
    0403; Periodic Inquiry Mode; ?; ?
    0404; Exit Periodic Inquiry Mode; ?; ?
    0405; Create Connection; address packet_type:x16 page_scan_repetition_mode:u8 reserved:u8 clock_offset:x16 allow_role_switch:bool;
    0406; Disconnect; handle reason:status;
    0408; Create Connection Cancel; address; address
    0409; Accept Connection Request; address role:u8;
    040a; Reject Connection Request; address reason:status;
    040b; Link Key Request Reply; address link_key:hex16; address
    040c; Link Key Request Negative Reply; address; address
    040d; PIN Code Request Reply; ?; ?
    040e; PIN Code Request Negative Reply; address; address
    040f; Change Connection Packet Type; handle packet_type:x16;
    0411; Authentication Requested; handle;
    0413; Set Connection Encryption; handle encryption_enable:bool;
    0415; Change Connection Link Key; ?; ?
    0417; Link Key Selection; ?; ?
    0419; Remote Name Request; address page_scan_repetition_mode:u8 reserved:u8 clock_offset:x16;
    041a; Remote Name Request Cancel; address; address
    041b; Read Remote Supported Features; handle;
    041c; Read Remote Extended Features; handle page:u8;
    041d; Read Remote Version Information; handle;
    041f; Read Clock Offset; handle;
    0420; Read LMP Handle; ?; ?
    0428; Setup Synchronous Connection; ?; ?
    0429; Accept Synchronous Connection Request; ?; ?
    042a; Reject Synchronous Connection Request; ?; ?
    042b; IO Capability Request Reply; address io_capability:u8 oob_data_present:u8 authentication_requirements:x8; address
    042c; User Confirmation Request Reply; address; address
    042d; User Confirmation Request Negative Reply; address; address
    042e; User Passkey Request Reply; address numeric_value:u32; address
    042f; User Passkey Request Negative Reply; address; address
    0430; Remote OOB Data Request Reply; ?; ?
    0433; Remote OOB Data Request Negative Reply; ?; ?
    0434; IO Capability Request Negative Reply; address reason:status; address
    043d; Enhanced Setup Synchronous Connection; ?; ?
    043e; Enhanced Accept Synchronous Connection Request; ?; ?
    043f; Truncated Page; ?; ?
    0440; Truncated Page Cancel; ?; ?
    0441; Set Connectionless Peripheral Broadcast; ?; ?
    0442; Set Connectionless Peripheral Broadcast Receive; ?; ?
    0443; Start Synchronization Train; ?; ?
    0444; Receive Synchronization Train; ?; ?
    0445; Remote OOB Extended Data Request Reply; ?; ?
    0801; Hold Mode; ?; ?
    0803; Sniff Mode; ?; ?
    0804; Exit Sniff Mode; ?; ?
    0807; QoS Setup; ?; ?
    0809; Role Discovery; handle; handle current_role:role
    080b; Switch Role; address role:role;
    080c; Read Link Policy Settings; handle; handle link_policy_settings:x16
    080d; Write Link Policy Settings; handle link_policy_settings:x16; handle
    080e; Read Default Link Policy Settings; ; default_link_policy_settings:x16
    080f; Write Default Link Policy Settings; default_link_policy_settings:x16;
    0810; Flow Specification; ?; ?
    0811; Sniff Subrating; ?; ?
    0c01; Set Event Mask; event_mask:x64;
    0c03; Reset; ;
    0c05; Set Event Filter; ?; ?
    0c08; Flush; ?; ?
    0c09; Read PIN Type; ?; ?
    0c0a; Write PIN Type; ?; ?
    0c0d; Read Stored Link Key; address read_all:u8; max_num_keys:u16 num_keys_read:u16
    0c11; Write Stored Link Key; ?; ?
    0c12; Delete Stored Link Key; address delete_all:u8; num_keys_deleted:u16
    0c13; Write Local Name; local_name:text248;
    0c14; Read Local Name; ; local_name:text248
    0c15; Read Connection Accept Timeout; ; timeout:ms0.625
    0c16; Write Connection Accept Timeout; timeout:ms0.625;
    0c17; Read Page Timeout; ; timeout:ms0.625
    0c18; Write Page Timeout; timeout:ms0.625;
    0c19; Read Scan Enable; ; scan_enable:u8
    0c1a; Write Scan Enable; scan_enable:u8;
    0c1b; Read Page Scan Activity; ; interval:ms0.625 window:ms0.625
    0c1c; Write Page Scan Activity; interval:ms0.625 window:ms0.625;
    0c1d; Read Inquiry Scan Activity; ; interval:ms0.625 window:ms0.625
    0c1e; Write Inquiry Scan Activity; interval:ms0.625 window:ms0.625;
    0c1f; Read Authentication Enable; ; authentication_enable:u8
    0c20; Write Authentication Enable; authentication_enable:u8;
    0c23; Read Class of Device; ; class_of_device:x24
    0c24; Write Class of Device; class_of_device:x24;
    0c25; Read Voice Setting; ; voice_setting:x16
    0c26; Write Voice Setting; voice_setting:x16;
    0c27; Read Automatic Flush Timeout; ?; ?
    0c28; Write Automatic Flush Timeout; ?; ?
    0c29; Read Num Broadcast Retransmissions; ?; ?
    0c2a; Write Num Broadcast Retransmissions; ?; ?
    0c2b; Read Hold Mode Activity; ?; ?
    0c2c; Write Hold Mode Activity; ?; ?
    0c2d; Read Transmit Power Level; handle type:current|maximum; handle transmit_power_level:dbm
    0c2e; Read Synchronous Flow Control Enable; ?; ?
    0c2f; Write Synchronous Flow Control Enable; ?; ?
    0c31; Set Controller To Host Flow Control; flow_control_enable:u8;
    0c33; Host Buffer Size; acl_length:u16 synchronous_length:u8 acl_count:u16 synchronous_count:u16;
    0c35; Host Number of Completed Packets; num_handles:u8 each:num_handles handle completed:u16;
    0c36; Read Link Supervision Timeout; ?; ?
    0c37; Write Link Supervision Timeout; ?; ?
    0c38; Read Number of Supported IAC; ; num_supported_iac:u8
    0c39; Read Current IAC LAP; ; num_current_iac:u8 each:num_current_iac lap:hex3
    0c3a; Write Current IAC LAP; num_current_iac:u8 each:num_current_iac lap:hex3;
    0c3f; Set AFH Host Channel Classification; ?; ?
    0c42; Read Inquiry Scan Type; ; scan_type:u8
    0c43; Write Inquiry Scan Type; scan_type:u8;
    0c44; Read Inquiry Mode; ; inquiry_mode:u8
    0c45; Write Inquiry Mode; inquiry_mode:u8;
    0c46; Read Page Scan Type; ; page_scan_type:u8
    0c47; Write Page Scan Type; page_scan_type:u8;
    0c48; Read AFH Channel Assessment Mode; ?; ?
    0c49; Write AFH Channel Assessment Mode; ?; ?
    0c51; Read Extended Inquiry Response; ; fec_required:u8 extended_inquiry_response:rest
    0c52; Write Extended Inquiry Response; fec_required:u8 extended_inquiry_response:rest;
    0c53; Refresh Encryption Key; ?; ?
    0c55; Read Simple Pairing Mode; ; simple_pairing_mode:u8
    0c56; Write Simple Pairing Mode; simple_pairing_mode:u8;
    0c57; Read Local OOB Data; ?; ?
    0c58; Read Inquiry Response Transmit Power Level; ; tx_power:dbm
    0c59; Write Inquiry Transmit Power Level; tx_power:dbm;
    0c5a; Read Default Erroneous Data Reporting; ; erroneous_data_reporting:u8
    0c5b; Write Default Erroneous Data Reporting; erroneous_data_reporting:u8;
    0c5f; Enhanced Flush; ?; ?
    0c60; Send Keypress Notification; ?; ?
    0c63; Set Event Mask Page 2; event_mask_page_2:x64;
    0c66; Read Flow Control Mode; ; flow_control_mode:u8
    0c67; Write Flow Control Mode; flow_control_mode:u8;
    0c68; Read Enhanced Transmit Power Level; ?; ?
    0c6c; Read LE Host Support; ; le_supported_host:bool simultaneous_le_host:u8
    0c6d; Write LE Host Support; le_supported_host:bool simultaneous_le_host:u8;
    0c6e; Set MWS Channel Parameters; ?; ?
    0c6f; Set External Frame Configuration; ?; ?
    0c70; Set MWS Signaling; ?; ?
    0c71; Set MWS Transport Layer; ?; ?
    0c72; Set MWS Scan Frequency Table; ?; ?
    0c73; Set MWS Pattern Configuration; ?; ?
    0c74; Set Reserved LT_ADDR; ?; ?
    0c75; Delete Reserved LT_ADDR; ?; ?
    0c76; Set Connectionless Peripheral Broadcast Data; ?; ?
    0c77; Read Synchronization Train Parameters; ?; ?
    0c78; Write Synchronization Train Parameters; ?; ?
    0c79; Read Secure Connections Host Support; ; secure_connections_host_support:u8
    0c7a; Write Secure Connections Host Support; secure_connections_host_support:u8;
    0c7b; Read Authenticated Payload Timeout; handle; handle timeout:ms10
    0c7c; Write Authenticated Payload Timeout; handle timeout:ms10; handle
    0c7d; Read Local OOB Extended Data; ?; ?
    0c7e; Read Extended Page Timeout; ?; ?
    0c7f; Write Extended Page Timeout; ?; ?
    0c80; Read Extended Inquiry Length; ?; ?
    0c81; Write Extended Inquiry Length; ?; ?
    0c82; Set Ecosystem Base Interval; ?; ?
    0c83; Configure Data Path; ?; ?
    0c84; Set Min Encryption Key Size; ?; ?
    1001; Read Local Version Information; ; hci_version:version hci_subversion:u16 lmp_version:version company lmp_subversion:u16
    1002; Read Local Supported Commands; ; supported_commands:hex64
    1003; Read Local Supported Features; ; lmp_features:x64
    1004; Read Local Extended Features; page:u8; page:u8 maximum_page:u8 extended_lmp_features:x64
    1005; Read Buffer Size; ; acl_length:u16 synchronous_length:u8 acl_count:u16 synchronous_count:u16
    1009; Read BD_ADDR; ; address
    100a; Read Data Block Size; ; max_acl_length:u16 data_block_length:u16 num_data_blocks:u16
    100b; Read Local Supported Codecs; ; ?
    100c; Read Local Simple Pairing Options; ; simple_pairing_options:x8 maximum_encryption_key_size:u8
    100d; Read Local Supported Codecs [v2]; ; ?
    100e; Read Local Supported Codec Capabilities; ?; ?
    100f; Read Local Supported Controller Delay; ?; ?
    1401; Read Failed Contact Counter; ?; ?
    1402; Reset Failed Contact Counter; ?; ?
    1403; Read Link Quality; ?; ?
    1405; Read RSSI; handle; handle rssi:dbm
    1406; Read AFH Channel Map; ?; ?
    1407; Read Clock; handle which_clock:u8; handle clock:u32 accuracy:u16
    1408; Read Encryption Key Size; handle; handle key_size:u8
    140c; Get MWS Transport Layer Configuration; ?; ?
    140d; Set Triggered Clock Capture; ?; ?
    1801; Read Loopback Mode; ; loopback_mode:u8
    1802; Write Loopback Mode; loopback_mode:u8;
    1803; Enable Device Under Test Mode; ?; ?
    1804; Write Simple Pairing Debug Mode; ?; ?
    180a; Write Secure Connections Test Mode; ?; ?
    2001; LE Set Event Mask; le_event_mask:x64;
    2002; LE Read Buffer Size; ; le_acl_length:u16 le_acl_count:u8
    2003; LE Read Local Supported Features; ; le_features:x64
    2005; LE Set Random Address; random_address:addr;
    2006; LE Set Advertising Parameters; interval_min:ms0.625 interval_max:ms0.625 advertising_type:adv_ind|adv_direct_ind_high|adv_scan_ind|adv_nonconn_ind|adv_direct_ind_low own_address_type:ownaddrtype peer_address_type:addrtype peer_address:addr channel_map:x8 filter_policy:u8;
    2007; LE Read Advertising Physical Channel TX Power; ; tx_power:dbm
    2008; LE Set Advertising Data; advertising_data:ad31;
    2009; LE Set Scan Response Data; scan_response_data:ad31;
    200a; LE Set Advertising Enable; enable:bool;
    200b; LE Set Scan Parameters; scan_type:passive|active scan_interval:ms0.625 scan_window:ms0.625 own_address_type:ownaddrtype filter_policy:u8;
    200c; LE Set Scan Enable; enable:bool filter_duplicates:bool;
    200d; LE Create Connection; scan_interval:ms0.625 scan_window:ms0.625 filter_policy:u8 peer_address_type:addrtype peer_address:addr own_address_type:ownaddrtype interval_min:ms1.25 interval_max:ms1.25 latency:u16 supervision_timeout:ms10 min_ce_length:ms0.625 max_ce_length:ms0.625;
    200e; LE Create Connection Cancel; ;
    200f; LE Read Filter Accept List Size; ; size:u8
    2010; LE Clear Filter Accept List; ;
    2011; LE Add Device To Filter Accept List; address_type:addrtype address;
    2012; LE Remove Device From Filter Accept List; address_type:addrtype address;
    2013; LE Connection Update; handle interval_min:ms1.25 interval_max:ms1.25 latency:u16 supervision_timeout:ms10 min_ce_length:ms0.625 max_ce_length:ms0.625;
    2014; LE Set Host Channel Classification; channel_map:hex5;
    2015; LE Read Channel Map; handle; handle channel_map:hex5
    2016; LE Read Remote Features; handle;
    2017; LE Encrypt; key:hex16 plaintext:hex16; encrypted:hex16
    2018; LE Rand; ; random:x64
    2019; LE Enable Encryption; handle random:x64 ediv:x16 long_term_key:hex16;
    201a; LE Long Term Key Request Reply; handle long_term_key:hex16; handle
    201b; LE Long Term Key Request Negative Reply; handle; handle
    201c; LE Read Supported States; ; le_states:x64
    201d; LE Receiver Test; rx_channel:u8;
    201e; LE Transmitter Test; tx_channel:u8 length:u8 payload:u8;
    201f; LE Test End; ; num_packets:u16
    2020; LE Remote Connection Parameter Request Reply; handle interval_min:ms1.25 interval_max:ms1.25 latency:u16 supervision_timeout:ms10 min_ce_length:ms0.625 max_ce_length:ms0.625; handle
    2021; LE Remote Connection Parameter Request Negative Reply; handle reason:status; handle
    2022; LE Set Data Length; handle tx_octets:u16 tx_time:us; handle
    2023; LE Read Suggested Default Data Length; ; suggested_max_tx_octets:u16 suggested_max_tx_time:us
    2024; LE Write Suggested Default Data Length; suggested_max_tx_octets:u16 suggested_max_tx_time:us;
    2025; LE Read Local P-256 Public Key; ;
    2026; LE Generate DHKey; remote_p256_public_key:hex64;
    2027; LE Add Device To Resolving List; peer_identity_address_type:addrtype peer_identity_address:addr peer_irk:hex16 local_irk:hex16;
    2028; LE Remove Device From Resolving List; peer_identity_address_type:addrtype peer_identity_address:addr;
    2029; LE Clear Resolving List; ;
    202a; LE Read Resolving List Size; ; size:u8
    202b; LE Read Peer Resolvable Address; peer_identity_address_type:addrtype peer_identity_address:addr; peer_resolvable_address:addr
    202c; LE Read Local Resolvable Address; peer_identity_address_type:addrtype peer_identity_address:addr; local_resolvable_address:addr
    202d; LE Set Address Resolution Enable; enable:bool;
    202e; LE Set Resolvable Private Address Timeout; timeout_s:u16;
    202f; LE Read Maximum Data Length; ; supported_max_tx_octets:u16 supported_max_tx_time:us supported_max_rx_octets:u16 supported_max_rx_time:us
    2030; LE Read PHY; handle; handle tx_phy:phy rx_phy:phy
    2031; LE Set Default PHY; all_phys:x8 tx_phys:x8 rx_phys:x8;
    2032; LE Set PHY; handle all_phys:x8 tx_phys:x8 rx_phys:x8 phy_options:x16;
    2033; LE Receiver Test [v2]; ?; ?
    2034; LE Transmitter Test [v2]; ?; ?
    2035; LE Set Advertising Set Random Address; advertising_handle:u8 random_address:addr;
    2036; LE Set Extended Advertising Parameters; advertising_handle:u8 event_properties:x16 primary_interval_min:ms0.625x24 primary_interval_max:ms0.625x24 primary_channel_map:x8 own_address_type:ownaddrtype peer_address_type:addrtype peer_address:addr filter_policy:u8 tx_power:dbm primary_phy:phy secondary_max_skip:u8 secondary_phy:phy sid:u8 scan_request_notification_enable:bool; selected_tx_power:dbm
    2037; LE Set Extended Advertising Data; advertising_handle:u8 operation:intermediate_fragment|first_fragment|last_fragment|complete|unchanged fragment_preference:u8 advertising_data:ad;
    2038; LE Set Extended Scan Response Data; advertising_handle:u8 operation:intermediate_fragment|first_fragment|last_fragment|complete|unchanged fragment_preference:u8 scan_response_data:ad;
    2039; LE Set Extended Advertising Enable; enable:bool num_sets:u8 each:num_sets advertising_handle:u8 duration:ms10 max_extended_advertising_events:u8;
    203a; LE Read Maximum Advertising Data Length; ; max_advertising_data_length:u16
    203b; LE Read Number of Supported Advertising Sets; ; num_supported_advertising_sets:u8
    203c; LE Remove Advertising Set; advertising_handle:u8;
    203d; LE Clear Advertising Sets; ;
    203e; LE Set Periodic Advertising Parameters; advertising_handle:u8 interval_min:ms1.25 interval_max:ms1.25 properties:x16;
    203f; LE Set Periodic Advertising Data; advertising_handle:u8 operation:intermediate_fragment|first_fragment|last_fragment|complete|unchanged advertising_data:ad;
    2040; LE Set Periodic Advertising Enable; enable:u8 advertising_handle:u8;
    2041; LE Set Extended Scan Parameters; own_address_type:ownaddrtype filter_policy:u8 scanning_phys:x8 bits:scanning_phys scan_type:passive|active scan_interval:ms0.625 scan_window:ms0.625;
    2042; LE Set Extended Scan Enable; enable:bool filter_duplicates:off|on|each_period duration:ms10 period:u16;
    2043; LE Extended Create Connection; filter_policy:u8 own_address_type:ownaddrtype peer_address_type:addrtype peer_address:addr initiating_phys:x8 bits:initiating_phys scan_interval:ms0.625 scan_window:ms0.625 interval_min:ms1.25 interval_max:ms1.25 latency:u16 supervision_timeout:ms10 min_ce_length:ms0.625 max_ce_length:ms0.625;
    2044; LE Periodic Advertising Create Sync; options:x8 sid:u8 advertiser_address_type:addrtype advertiser_address:addr skip:u16 sync_timeout:ms10 sync_cte_type:x8;
    2045; LE Periodic Advertising Create Sync Cancel; ;
    2046; LE Periodic Advertising Terminate Sync; sync_handle:u16;
    2047; LE Add Device To Periodic Advertiser List; ?; ?
    2048; LE Remove Device From Periodic Advertiser List; ?; ?
    2049; LE Clear Periodic Advertiser List; ;
    204a; LE Read Periodic Advertiser List Size; ; size:u8
    204b; LE Read Transmit Power; ; min_tx_power:dbm max_tx_power:dbm
    204c; LE Read RF Path Compensation; ; tx_path_compensation:db0.1 rx_path_compensation:db0.1
    204d; LE Write RF Path Compensation; ?; ?
    204e; LE Set Privacy Mode; peer_identity_address_type:addrtype peer_identity_address:addr privacy_mode:network|device;
    204f; LE Receiver Test [v3]; ?; ?
    2050; LE Transmitter Test [v3]; ?; ?
    2051; LE Set Connectionless CTE Transmit Parameters; ?; ?
    2052; LE Set Connectionless CTE Transmit Enable; ?; ?
    2053; LE Set Connectionless IQ Sampling Enable; ?; ?
    2054; LE Set Connection CTE Receive Parameters; ?; ?
    2055; LE Set Connection CTE Transmit Parameters; ?; ?
    2056; LE Connection CTE Request Enable; ?; ?
    2057; LE Connection CTE Response Enable; ?; ?
    2058; LE Read Antenna Information; ; supported_switching_sampling_rates:x8 num_antennae:u8 max_switching_pattern_length:u8 max_cte_length:u8
    2059; LE Set Periodic Advertising Receive Enable; ?; ?
    205a; LE Periodic Advertising Sync Transfer; ?; ?
    205b; LE Periodic Advertising Set Info Transfer; ?; ?
    205c; LE Set Periodic Advertising Sync Transfer Parameters; ?; ?
    205d; LE Set Default Periodic Advertising Sync Transfer Parameters; mode:u8 skip:u16 sync_timeout:ms10 cte_type:x8;
    205e; LE Generate DHKey [v2]; ?; ?
    205f; LE Modify Sleep Clock Accuracy; ?; ?
    2060; LE Read Buffer Size [v2]; ; le_acl_length:u16 le_acl_count:u8 iso_length:u16 iso_count:u8
    2061; LE Read ISO TX Sync; ?; ?
    2062; LE Set CIG Parameters; ?; ?
    2063; LE Set CIG Parameters Test; ?; ?
    2064; LE Create CIS; ?; ?
    2065; LE Remove CIG; ?; ?
    2066; LE Accept CIS Request; ?; ?
    2067; LE Reject CIS Request; ?; ?
    2068; LE Create BIG; ?; ?
    2069; LE Create BIG Test; ?; ?
    206a; LE Terminate BIG; ?; ?
    206b; LE BIG Create Sync; ?; ?
    206c; LE BIG Terminate Sync; ?; ?
    206d; LE Request Peer SCA; ?; ?
    206e; LE Setup ISO Data Path; ?; ?
    206f; LE Remove ISO Data Path; ?; ?
    2070; LE ISO Transmit Test; ?; ?
    2071; LE ISO Receive Test; ?; ?
    2072; LE ISO Read Test Counters; ?; ?
    2073; LE ISO Test End; ?; ?
    2074; LE Set Host Feature; bit_number:u8 bit_value:bool;
    2075; LE Read ISO Link Quality; ?; ?
    2076; LE Enhanced Read Transmit Power Level; ?; ?
    2077; LE Read Remote Transmit Power Level; ?; ?
    2078; LE Set Path Loss Reporting Parameters; ?; ?
    2079; LE Set Path Loss Reporting Enable; ?; ?
    207a; LE Set Transmit Power Reporting Enable; ?; ?
    207b; LE Transmitter Test [v4]; ?; ?
    207c; LE Set Data Related Address Changes; ?; ?
    207d; LE Set Default Subrate; subrate_min:u16 subrate_max:u16 max_latency:u16 continuation_number:u16 supervision_timeout:ms10;
    207e; LE Subrate Request; handle subrate_min:u16 subrate_max:u16 max_latency:u16 continuation_number:u16 supervision_timeout:ms10;
    207f; LE Set Extended Advertising Parameters [v2]; ?; ?
    2080; LE Set Decision Data; ?; ?
    2081; LE Set Decision Instructions; ?; ?
    2082; LE Set Periodic Advertising Subevent Data; ?; ?
    2083; LE Set Periodic Advertising Response Data; ?; ?
    2084; LE Set Periodic Sync Subevent; ?; ?
    2085; LE Extended Create Connection [v2]; advertising_handle:u8 subevent:u8 filter_policy:u8 own_address_type:ownaddrtype peer_address_type:addrtype peer_address:addr initiating_phys:x8 bits:initiating_phys scan_interval:ms0.625 scan_window:ms0.625 interval_min:ms1.25 interval_max:ms1.25 latency:u16 supervision_timeout:ms10 min_ce_length:ms0.625 max_ce_length:ms0.625;
    2086; LE Set Periodic Advertising Parameters [v2]; ?; ?
    2087; LE Read All Local Supported Features; ?; ?
    2088; LE Read All Remote Features; ?; ?
    2089; LE CS Read Local Supported Capabilities; ?; ?
    208a; LE CS Read Remote Supported Capabilities; ?; ?
    208b; LE CS Write Cached Remote Supported Capabilities; ?; ?
    208c; LE CS Security Enable; ?; ?
    208d; LE CS Set Default Settings; ?; ?
    208e; LE CS Read Remote FAE Table; ?; ?
    208f; LE CS Write Cached Remote FAE Table; ?; ?
    2090; LE CS Create Config; ?; ?
    2091; LE CS Remove Config; ?; ?
    2092; LE CS Set Channel Classification; ?; ?
    2093; LE CS Set Procedure Parameters; ?; ?
    2094; LE CS Procedure Enable; ?; ?
    2095; LE CS Test; ?; ?
    2096; LE CS Test End; ?; ?
    2097; LE Set Host Feature [v2]; ?; ?
    2098; LE Add Device To Monitored Advertisers List; ?; ?
    2099; LE Remove Device From Monitored Advertisers List; ?; ?
    209a; LE Clear Monitored Advertisers List; ?; ?
    209b; LE Read Monitored Advertisers List Size; ?; ?
    209c; LE Enable Monitoring Advertisers; ?; ?
    209d; LE Frame Space Update; ?; ?
    209e; LE Set Resolvable Private Address Timeout [v2]; ?; ?
    209f; LE Enable UTP OTA Mode; ?; ?
    20a0; LE UTP Send; ?; ?
    20a1; LE Connection Rate Request; ?; ?
    20a2; LE Set Default Rate Parameters; ?; ?
    20a3; LE Read Minimum Supported Connection Interval; ?; ?
    20a5; LE CS Read Local Supported Capabilities [v2]; ?; ?
    20a6; LE CS Write Cached Remote Supported Capabilities [v2]; ?; ?
    """
}
