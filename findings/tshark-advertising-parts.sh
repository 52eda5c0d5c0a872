#!/bin/sh
# tshark 4.0.17 (Debian's tshark 4.0.17-0+deb12u3) calls each part of a long extended advertisement malformed.
#
# Core Specification, Vol 4 Part E §7.7.65.13: a controller may deliver advertising data that is longer than an event in several reports. All but
# the last have the data status "incomplete, more data to come". The data of one report can then end inside an AD structure, and the next report
# continues it. tshark shows the data status, but reads each part as if it were whole: an AD structure that goes on in the next report is
# a "Malformed Packet", and the continuation is read as if an AD structure began there.
#
# Output seen, for a name that two valid reports carry:
#   Event Type: 0x0021, Connectable, Data Status: Incomplete, more to come
#   [Malformed Packet: BT Common]
#   Event Type: 0x0001, Connectable, Data Status: Complete
#   [Malformed Packet: BT Common]
#
# Needs Debian 12 with python3, as root. Exits with 1 if the behavior differs.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
mkdir -p cache/partial root
apt-get -o APT::Sandbox::User=root -o Dir::Cache::archives="$folder/cache" install --reinstall --download-only -y --no-install-recommends \
  tshark=4.0.17-0+deb12u3 libwireshark16=4.0.17-0+deb12u3 libwiretap13=4.0.17-0+deb12u3 libwsutil14=4.0.17-0+deb12u3 \
  libwireshark-data=4.0.17-0+deb12u3 wireshark-common=4.0.17-0+deb12u3 >/dev/null
for package in cache/*.deb; do dpkg-deb -x "$package" root; done
python3 - trace <<'PYTHON'
import struct, sys
name = bytes([29, 9]) + b'A name that two events carry'
with open(sys.argv[1], 'wb') as file:
    file.write(b'btsnoop\0' + struct.pack('>II', 1, 1002))
    for status, data in ((1, name[:16]), (0, name[16:])):
        report = struct.pack('<H', status << 5 | 1) + bytes.fromhex('01 010000eeffc0 01 00 03 7f ba 0000 00 000000000000') + bytes([len(data)]) + data
        packet = bytes([4, 0x3E, len(report) + 2, 0x0D, 1]) + report
        file.write(struct.pack('>IIIIQ', len(packet), len(packet), 3, 0, 0x00E03AB44A676000) + packet)
PYTHON
tshark() { LD_LIBRARY_PATH=$folder/root/usr/lib/x86_64-linux-gnu WIRESHARK_DATA_DIR=$folder/root/usr/share/wireshark HOME=$folder root/usr/bin/tshark "$@"; }
tshark --version | head -1 | grep -q 4.0.17
said=$(tshark -r trace -V 2>/dev/null | grep -E '^ *Event Type: |^\[Malformed' | sed 's/^ *//')
echo "$said"
[ "$said" = 'Event Type: 0x0021, Connectable, Data Status: Incomplete, more to come
[Malformed Packet: BT Common]
Event Type: 0x0001, Connectable, Data Status: Complete
[Malformed Packet: BT Common]' ]
