#!/bin/sh
# smpclient 7.3.0 with smp 4.2.0 (PyPI) leaves the hash of the file out when a device starts an upload again.
#
# Zephyr's documentation of the image management group: a server may answer "off" 0 in the middle of an upload, e.g. after a restart of the device.
# The client then repeats every field of its first request, the optional ones included. "sha" is one of them: by it the server checks what it has
# written after the last byte ("match"), and knows the file when an upload goes on later. smpclient repeats len, image and upgrade, but not sha. The
# upload then ends well without the check that the caller has asked for.
#
# The device is a transport in the same process; in the second upload it forgets its state once. Output seen (the keys of each request for offset 0):
#   without a restart: data image len off sha upgrade -> last answer {'off': 2000, 'match': True}
#   with a restart: data image len off sha upgrade; data image len off upgrade -> last answer {'off': 2000}
#
# Needs python3 (3.10 or newer) with venv, and PyPI. Exits with 1 if the behavior differs.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check smpclient==7.3.0 smp==4.2.0 cbor2==6.3.0
"$folder/venv/bin/python" - <<'PYTHON'
import asyncio, hashlib, struct
import cbor2
from smpclient import SMPClient
from smpclient.transport import SMPTransport

class Device(SMPTransport):
    """A server that keeps the state of an upload in memory, and restarts after two requests if told to."""
    mtu = 498
    def __init__(self, restarts):
        self.restarts, self.requests, self.written, self.hash = restarts, [], b'', None
    async def send_and_receive(self, data):
        operation, _, length, group, sequence, command = struct.unpack('>BBHHBB', data[:8])
        assert (operation & 7, length, group, command) == (2, len(data) - 8, 1, 1)
        request = cbor2.loads(data[8:])
        self.requests.append(request)
        if self.restarts and len(self.requests) == 3:
            self.written, self.hash = b'', None
        elif request['off'] == len(self.written):
            self.hash = request.get('sha') if request['off'] == 0 else self.hash
            self.written += request['data']
        answer = {'off': len(self.written)}
        if len(self.written) == 2000 and self.hash:
            answer['match'] = hashlib.sha256(self.written).digest() == self.hash
        self.answer = answer
        body = cbor2.dumps(answer)
        return struct.pack('>BBHHBB', operation | 1, 0, len(body), 1, sequence, 1) + body

async def upload(restarts):
    image, device = bytes(index * 7 & 255 for index in range(2000)), Device(restarts)
    async for _ in SMPClient(device, 'device').upload(image):
        pass
    assert device.written == image
    firsts = [' '.join(sorted(request)) for request in device.requests if request['off'] == 0]
    print('with a restart:' if restarts else 'without a restart:', '; '.join(firsts), '-> last answer', device.answer)
    return firsts, device.answer

full = 'data image len off sha upgrade'
assert asyncio.run(upload(False)) == ([full], {'off': 2000, 'match': True})
assert asyncio.run(upload(True)) == ([full, 'data image len off upgrade'], {'off': 2000})
PYTHON
