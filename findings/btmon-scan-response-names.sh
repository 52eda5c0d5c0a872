#!/bin/sh
# btmon 5.66 (BlueZ, Debian's bluez 5.66-1+deb12u2) swaps the names of the two legacy scan responses in LE Extended Advertising Reports.
#
# Core Specification, Vol 4 Part E §7.7.65.13: the event type 0b0011011 (0x1B) is SCAN_RSP to an ADV_IND, and 0b0011010 (0x1A) is SCAN_RSP to an
# ADV_SCAN_IND. The bits say so, too: bit 0 is "connectable", and only an ADV_IND is. btmon prints the names the other way round, so that
# whoever reads "ADV_IND" looks for a connectable device that does not exist.
#
# Output seen:
#   Legacy PDU Type: SCAN_RSP to an ADV_SCAN_IND (0x001b)
#   Legacy PDU Type: SCAN_RSP to an ADV_IND (0x001a)
#
# Needs Debian 12 with libglib2.0-0 and python3. Exits with 1 if the behavior differs.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get -o APT::Sandbox::User=root download bluez=5.66-1+deb12u2 >/dev/null
dpkg-deb -x bluez_*.deb root
btmon=root/usr/bin/btmon
[ "$($btmon --version)" = 5.66 ]
python3 - trace <<'PYTHON'
import struct, sys
with open(sys.argv[1], 'wb') as file:
    file.write(b'btsnoop\0' + struct.pack('>II', 1, 1002))
    for kind in (0x1B, 0x1A):
        report = struct.pack('<H', kind) + bytes.fromhex('01 010000eeffc0 01 00 ff 7f ba 0000 00 000000000000 00')
        packet = bytes.fromhex('043e1a0d01') + report
        file.write(struct.pack('>IIIIQ', len(packet), len(packet), 3, 0, 0x00E03AB44A676000) + packet)
PYTHON
said=$($btmon -r trace | grep 'Legacy PDU Type' | sed 's/^ *//')
echo "$said"
[ "$said" = 'Legacy PDU Type: SCAN_RSP to an ADV_SCAN_IND (0x001b)
Legacy PDU Type: SCAN_RSP to an ADV_IND (0x001a)' ]
