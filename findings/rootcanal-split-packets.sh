#!/bin/sh
# rootcanal 1.10.0 (PyPI) answers each HCI command over TCP about 40 ms late: it sends a packet in two segments and leaves Nagle's algorithm on.
#
# The H4 packet type goes in a segment of its own, and the kernel holds the rest back until the client has acknowledged it (RFC 896). A client that has
# nothing to send acknowledges after 40 ms on Linux. So a host that starts with 20 commands takes a second more than the controller needs. A client
# can set TCP_QUICKACK after each part of a packet; the option TCP_NODELAY helps only if rootcanal sets it.
#
# Output seen, for 20 times HCI Read BD_ADDR:
#   TCP_NODELAY: about 45 ms each, in 2 reads
#   and TCP_QUICKACK: about 2 ms each, in 2 reads
#
# Needs Linux on x86-64, libcrypto.so.3, python3 (3.10 or newer) with venv, and PyPI. Exits with 1 if the behavior differs.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check rootcanal==1.10.0
venv/bin/python - <<'PYTHON'
import re, socket, subprocess, time
import rootcanal.binaries

path = rootcanal.binaries.get_package_binary_resource_path('rootcanal')
process = subprocess.Popen([path] + [f'-{name}_port=0' for name in ('hci', 'test', 'link', 'link_ble')],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
try:
    next(line for line in process.stdout if 'Opening an HCI' in line)
    port = int(re.search(r'Listening on: (\d+)', next(line for line in process.stdout if 'Listening on' in line))[1])
    found = {}
    for title in ('TCP_NODELAY', 'and TCP_QUICKACK'):
        link = socket.create_connection(('127.0.0.1', port))
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        begin = time.monotonic()
        for _ in range(20):
            link.sendall(bytes.fromhex('01091000'))
            answer, reads = b'', 0
            while len(answer) < 13:
                answer += link.recv(100)
                reads += 1
                if 'QUICKACK' in title:
                    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
            assert answer[:7] == bytes.fromhex('040e0a01091000')
        found[title] = (time.monotonic() - begin) / 20 * 1000
        print(f'{title}: about {found[title]:.0f} ms each, in {reads} reads')
        link.close()
finally:
    process.kill()
assert found['TCP_NODELAY'] > 35 and found['and TCP_QUICKACK'] < found['TCP_NODELAY'] / 2
PYTHON
