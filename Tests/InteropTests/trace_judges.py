#!/usr/bin/env python3
"""Compares what blectl says of a trace with what tshark and btmon say of it, packet by packet and field by field.

trace_judges.py BLECTL TRACE: prints each difference as a line, and at last `N packets, M fields of tshark, K of btmon`. Each differing packet
is shown with what everybody says.
"""
import base64
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import zlib

# What tshark calls a field: the names that it has here. Numbers are compared as numbers, octets and addresses as hex.
FIELDS = {
    'bthci_cmd.opcode': ['opcode'], 'bthci_cmd.connection_handle': ['handle'], 'bthci_cmd.reason': ['reason'],
    'bthci_cmd.le_scan_interval': ['scan_interval'], 'bthci_cmd.le_scan_window': ['scan_window'], 'bthci_cmd.le_scan_type': ['scan_type'],
    'bthci_cmd.le_own_address_type': ['own_address_type'], 'bthci_cmd.le_peer_address_type': ['peer_address_type'],
    'bthci_cmd.le_con_interval_min': ['interval_min'], 'bthci_cmd.le_con_interval_max': ['interval_max'], 'bthci_cmd.le_con_latency': ['latency'],
    'bthci_cmd.le_supv_timeout': ['supervision_timeout'], 'bthci_cmd.le_min_ce_length': ['min_ce_length'],
    'bthci_cmd.le_max_ce_length': ['max_ce_length'], 'bthci_cmd.le_tx_octets': ['tx_octets'], 'bthci_cmd.le_tx_time': ['tx_time'],
    'bthci_cmd.le_suggested_max_tx_octets': ['suggested_max_tx_octets'], 'bthci_cmd.le_suggested_max_tx_time': ['suggested_max_tx_time'],
    'bthci_cmd.bd_addr': ['peer_address', 'random_address', 'address'], 'bthci_cmd.le_init_phys': ['initiating_phys'],
    'bthci_cmd.le_initiator_filter_policy': ['filter_policy'], 'bthci_cmd.le_scan_filter_policy': ['filter_policy'],
    'bthci_cmd.le_scan_enable': ['enable'], 'bthci_cmd.le_advts_enable': ['enable'],
    'bthci_cmd.le_advts_interval_min': ['interval_min', 'primary_interval_min'],
    'bthci_cmd.le_advts_interval_max': ['interval_max', 'primary_interval_max'],
    'bthci_cmd.tx_phys': ['tx_phys'], 'bthci_cmd.rx_phys': ['rx_phys'], 'bthci_cmd.device_name': ['local_name'],
    'bthci_evt.num_command_packets': ['credits'], 'bthci_evt.opcode': ['command'], 'bthci_evt.status': ['status'],
    'bthci_evt.connection_handle': ['handle'], 'bthci_evt.reason': ['reason'], 'bthci_evt.bd_addr': ['address', 'peer_address'],
    'bthci_evt.rssi': ['rssi'], 'bthci_evt.le_num_reports': ['num_reports'], 'bthci_evt.num_handles': ['num_handles'],
    'bthci_evt.num_compl_packets': ['completed'], 'bthci_evt.le_con_interval': ['interval'], 'bthci_evt.le_con_latency': ['latency'],
    'bthci_evt.le_supv_timeout': ['supervision_timeout'], 'bthci_evt.le_acl_data_pkt_len': ['le_acl_length'],
    'bthci_evt.le_total_num_acl_data_pkts': ['le_acl_count'], 'bthci_evt.le_peer_address_type': ['peer_address_type', 'address_type'],
    'bthci_evt.le_ext_advts_event_type': ['event_type'], 'bthci_evt.advertising_sid': ['sid'], 'bthci_evt.primary_phy': ['primary_phy'],
    'bthci_evt.secondary_phy': ['secondary_phy'], 'bthci_evt.hci_vers_nr': ['hci_version', 'hci_subversion'], 'bthci_evt.max_tx_octets': ['max_tx_octets'],
    'bthci_evt.max_rx_time': ['max_rx_time'], 'bthci_evt.le_white_list_size': ['size'],
    'bthci_acl.chandle': ['connection_handle', 'handle'],
    'btatt.starting_handle': ['start_handle'], 'btatt.ending_handle': ['end_handle'], 'btatt.group_end_handle': ['end_handle'],
    'btatt.req_opcode_in_error': ['request'], 'btatt.error_code': ['error'], 'btatt.client_rx_mtu': ['client_rx_mtu'],
    'btatt.server_rx_mtu': ['server_rx_mtu'], 'btatt.offset': ['offset'], 'btatt.characteristic_properties': ['properties'],
    'btatt.value': ['value'], 'btatt.handle': ['handle', 'value_handle', 'start_handle'], 'btsmp.reason': ['reason'],
    'btl2cap.cmd_ident': ['identifier'], 'btl2cap.min_interval': ['interval_min'], 'btl2cap.max_interval': ['interval_max'],
    'btcommon.eir_ad.entry.type': ['structures'],
}
# What btmon calls a line: the same.
LINES = {
    'Status': ['status'], 'Reason': ['reason'], 'Handle': ['handle', 'start_handle'], 'Own address type': ['own_address_type'],
    'Peer address type': ['peer_address_type'], 'Peer address': ['peer_address'], 'Scan interval': ['scan_interval'],
    'Scan window': ['scan_window'], 'Interval': ['scan_interval'], 'Window': ['scan_window'],
    'Min connection interval': ['interval_min'], 'Max connection interval': ['interval_max'], 'Connection interval': ['interval'],
    'Connection latency': ['latency'], 'Supervision timeout': ['supervision_timeout'], 'Address type': ['address_type'], 'Address': ['address', 'random_address'],
    'RSSI': ['rssi'], 'TX octets': ['tx_octets', 'suggested_max_tx_octets'], 'TX time': ['tx_time', 'suggested_max_tx_time'],
    'Max TX octets': ['max_tx_octets', 'supported_max_tx_octets'], 'Max RX time': ['max_rx_time', 'supported_max_rx_time'],
    'Client RX MTU': ['client_rx_mtu'], 'Server RX MTU': ['server_rx_mtu'], 'Error': ['error'], 'Num handles': ['num_handles'],
    'Num reports': ['num_reports'], 'Entry type': [], 'Handle range': ['start_handle', 'handle', 'end_handle'], 'Role': ['role'], 'SID': ['sid'],
    'Primary PHY': ['primary_phy'], 'Secondary PHY': ['secondary_phy'], 'Value': ['value'], 'Data': ['data'], 'Count': ['completed'],
}
NAMES = {'public': 0, 'random': 1, 'public_identity': 2, 'random_identity': 3, 'passive': 0, 'active': 1, 'central': 0, 'peripheral': 1,
         'none': 0, '1m': 1, '2m': 2, 'coded': 3, 'adv_ind': 0, 'adv_direct_ind': 1, 'adv_scan_ind': 2, 'adv_nonconn_ind': 3, 'scan_rsp': 4}

# Preloaded into btmon 5.66, which asks the machine's adapter for its address even when it reads a file, and dies of the first ATT PDU where there
# is none. What HCIGETDEVINFO tells of it is that it is up: its flags stand behind two octets of index, eight of name and six of address.
ADAPTER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/socket.h>
int socket(int domain, int type, int protocol) {
  int (*real)(int, int, int) = (int (*)(int, int, int))dlsym(RTLD_NEXT, "socket");
  return domain == AF_BLUETOOTH ? real(AF_UNIX, SOCK_DGRAM, 0) : real(domain, type, protocol);
}
int ioctl(int descriptor, unsigned long request, void *value) {
  int (*real)(int, unsigned long, void *) = (int (*)(int, unsigned long, void *))dlsym(RTLD_NEXT, "ioctl");
  if (request != 0x800448d3UL) return real(descriptor, request, value);
  ((unsigned char *)value)[16] |= 1;
  return 0;
}
"""


def number(value):
    """A field as it is compared: an int, or lower-case hex without separators."""
    if value is None:
        return 127  # HCI's signal strength that is not available
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, (int, float)):
        return int(value)
    text = value.strip().lower()
    if text in NAMES:
        return NAMES[text]
    if text in ('true', 'false'):
        return int(text == 'true')
    if re.fullmatch(r'0x[0-9a-f]+', text):
        return int(text, 16)
    if re.fullmatch(r'-?\d+', text):
        return int(text)
    return text.replace(':', '').replace(' ', '')


def octets(value):
    return re.sub(r'[^0-9a-f]', '', str(value).lower())


def collected(fields, names):
    """All values of these names, in order, however deep; of AD structures their types."""
    found = []
    for key, value in fields.items():
        if key == 'structures' and key in names:
            found += [item['type'] for item in value]
        elif isinstance(value, list):
            for item in value:
                if isinstance(item, dict):
                    found += collected(item, names)
        elif key in names and not isinstance(value, dict):
            found.append(value)
    return found


def ours(blectl, trace):
    out = subprocess.run([blectl, 'decode', 'trace', trace, '--json'], stdout=subprocess.PIPE, check=True).stdout
    return [record for record in map(json.loads, out.splitlines()) if record['event'] == 'packet']


def tshark(trace):
    names = sorted(FIELDS) + ['bthci_evt.code', 'bthci_evt.le_meta_subevent', 'btatt.opcode', 'btl2cap.cid', '_ws.malformed', 'frame.time_epoch']
    command = ['tshark', '-r', trace, '-T', 'fields', '-E', 'separator=/t', '-E', 'occurrence=a', '-E', 'aggregator=;']
    for name in names:
        command += ['-e', name]
    out = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout.decode()
    return [{name: cell.split(';') for name, cell in zip(names, line.split('\t')) if cell} for line in out.splitlines()]


def btmon(trace):
    """[(direction, head, [lines])] of the packets."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(['clang', '-shared', '-fPIC', '-x', 'c', '-o', folder + '/adapter.so', '-'], input=ADAPTER.encode(), check=True)
        out = subprocess.run(['btmon', '-r', trace], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
                             env={**os.environ, 'LD_PRELOAD': folder + '/adapter.so'}).stdout.decode(errors='replace')
    packets = []
    for line in out.splitlines():
        if re.match(r'[<>] (HCI|ACL|SCO|ISO) ', line):
            packets.append((line[0], line[2:], []))
        elif re.match(r'[@=*]', line):
            packets.append(('', '', []))
        elif packets:
            packets[-1][2].append(line)
    return [packet for packet in packets if packet[0]]


def unpacked(trace, folder):
    """The path of a btsnoop file with the packets of an Android bug report, which tshark cannot read. Any other trace as it is."""
    with open(trace, 'rb') as file:
        section = re.search(rb'--- BEGIN:BTSNOOP_LOG_SUMMARY[^\n]*\n(.*?)--- END', file.read(), re.S)
    if not section:
        return trace
    data = base64.b64decode(section.group(1))
    version, last = struct.unpack_from('<BQ', data)
    log, head, packets, time = zlib.decompress(data[9:]), struct.Struct('<HIB' if version == 1 else '<HHIB'), [], 0
    while log:
        kept, *whole, pause, kind = head.unpack_from(log)
        time += pause
        packets.append((kept, (whole or [kept])[0], time, kind, log[head.size:head.size + kept - 1]))
        log = log[head.size + kept - 1:]
    path = os.path.join(folder, 'log.btsnoop')
    with open(path, 'wb') as file:
        file.write(b'btsnoop\0' + struct.pack('>II', 1, 1002))
        for kept, whole, at, kind, octets in packets:
            is_received, indicator = kind & 0xF0 == 0x10, {0x10: 4, 0x20: 1}.get(kind, 2)
            file.write(struct.pack('>IIIIqB', whole, kept, is_received, 0, last - time + at + 0xDCDDB30F2F8000, indicator) + octets)
    return path


def judge(trace, blectl):
    with tempfile.TemporaryDirectory() as folder:
        return compare(ours(blectl, trace), unpacked(trace, folder))


def compare(packets, trace):
    sharks = tshark(trace)
    with open(trace, 'rb') as file:
        monitors = btmon(trace) if file.read(8) == b'btsnoop\0' else [None] * len(packets)
    sharks = [shark for shark in sharks if 'bthci_cmd.opcode' in shark or 'bthci_evt.code' in shark or 'bthci_acl.chandle' in shark]
    differences, counts = [], [0, 0]
    if not len(packets) == len(sharks) == len(monitors):
        differences.append(f'{len(packets)} packets, of tshark {len(sharks)}, of btmon {len(monitors)}')
    for packet, shark, monitor in zip(packets, sharks, monitors):
        def differ(who, what, theirs, mine):
            differences.append(f"{who}: packet {packet['number']} {packet['name']}: {what} is {theirs}, here {mine}")
        counts[0] += against_tshark(packet, shark, lambda *facts: differ('tshark', *facts))
        if monitor:
            counts[1] += against_btmon(packet, monitor, lambda *facts: differ('btmon', *facts))
    return differences, f'{len(packets)} packets, {counts[0]} fields of tshark, {counts[1]} of btmon'


def against_tshark(packet, shark, differ):
    count, fields = 0, dict(packet['fields'])
    if 'connection_handle' in packet:
        fields['connection_handle'] = packet['connection_handle']
    raw = bytes.fromhex(packet['raw'])
    if packet['layer'] == 'hci' and raw[0] == 4:
        count += 1
        if number(shark['bthci_evt.code'][0]) != raw[1]:
            differ('the event code', shark['bthci_evt.code'], raw[1])
    if 'btatt.opcode' in shark:
        count += 1
        if packet['layer'] != 'att' or number(shark['btatt.opcode'][0]) != raw[0]:
            differ('the ATT opcode', shark['btatt.opcode'], packet['layer'] + ' ' + packet['raw'])
    # A part of a value is none to tshark, which reads it as a whole one.
    if '_ws.malformed' in shark and 'error' not in packet and not packet['name'].startswith('Prepare Write '):
        differ('the packet', 'malformed', 'not')
    seconds = float(shark['frame.time_epoch'][0])
    count += 1
    if packet['time'][17:23] != f'{int(seconds * 1000 + 1e-4) % 60000 / 1000:06.3f}':
        differ('the time', shark['frame.time_epoch'], packet['time'])
    for name, keys in FIELDS.items():
        if name not in shark:
            continue
        if name == 'bthci_acl.chandle':
            keys = keys[:1] if 'connection_handle' in packet else keys
        theirs, mine = [number(value) for value in shark[name]], [number(value) for value in collected(fields, keys)]
        if name in ('btatt.value', 'bthci_cmd.device_name'):
            theirs, mine = [octets(value) for value in shark[name]], [octets(value) for value in collected(fields, keys)]
        count += len(theirs)
        if theirs != mine:
            differ(name, shark[name], mine)
    return count


def against_btmon(packet, monitor, differ):
    direction, head, lines = monitor
    count, fields = 1, packet['fields']
    if direction != ('<' if packet['direction'] == 'sent' else '>'):
        differ('the direction', direction, packet['direction'])
    opcode = re.search(r'\(0x([0-9a-f]+)\|0x([0-9a-f]+)\)', head)
    if opcode and head.startswith('HCI Command'):
        count += 1
        theirs = int(opcode.group(1), 16) << 10 | int(opcode.group(2), 16)
        if theirs != fields.get('opcode'):
            differ('the opcode', theirs, fields.get('opcode'))
    for line in lines:
        att = re.match(r'\s+ATT: .* \(0x([0-9a-f]{2})\) len (\d+)', line)
        if att:
            count += 1
            if packet['layer'] != 'att' or packet['raw'][:2] != att.group(1) or len(packet['raw']) != 2 * int(att.group(2)) + 2:
                differ('the ATT PDU', line.strip(), packet['raw'])
        field = re.match(r'\s+([A-Z][A-Za-z ]*): (.+)', line)
        if not field or field.group(1) not in LINES or not LINES[field.group(1)]:
            continue
        names, text = LINES[field.group(1)], field.group(2)
        mine = [number(value) for value in collected(fields, names)]
        # In parentheses is the number, but for addresses and attributes.
        code = re.search(r'\((0x[0-9a-f]+)\)', text)
        address = re.match(r'([0-9A-F]{2}(:[0-9A-F]{2}){5})', text)
        first = re.match(r'0x[0-9a-f]+(-0x[0-9a-f]+)?|-?\d+|[0-9a-f]+', text)
        if address:
            theirs = [number(address.group(1))]
        elif field.group(1) == 'Handle range':
            theirs = [int(part, 16) for part in text.split('-')]
        elif field.group(1) in ('Value', 'Data'):
            # Of AD structures and of declarations btmon shows a part.
            theirs = [octets(text.split()[0])]
            mine = theirs if theirs[0] in packet['raw'] else [packet['raw']]
        elif code and field.group(1) not in ('RSSI', 'Handle'):
            theirs = [int(code.group(1), 16)]
        elif first:
            theirs = [number(first.group(0))]
        else:
            continue
        # It has forgotten what was asked.
        if field.group(1) == 'Handle' and theirs == [0]:
            continue
        count += 1
        if not all(value in mine for value in theirs):
            differ(field.group(1), text, mine)
    return count


if __name__ == '__main__':
    found, said = judge(sys.argv[2], sys.argv[1])
    for difference in found:
        print(difference)
    print(said)
