#!/bin/sh
# smpmgr 0.19.1 with smpclient 7.3.0 (PyPI) looks at the image inside a .hex file, and then uploads the text of the file.
#
# "smpmgr upgrade" inspects the file before the upload. smpclient's inspection converts a file with the suffix .hex from Intel HEX to binary, so it
# accepts the zephyr.signed.hex that lies beside the .bin of a build. The upload that follows reads the same path without the conversion: the device
# gets ":10C…" instead of an image. If it does not look at the magic number itself, smpmgr says "Upgrade complete." and exits with 0.
#
# The device is a server on UDP that stores what it gets. Output seen:
#   image.bin: exit 0, Upgrade complete., 1552 bytes that begin with 3db8f396
#   image.hex: exit 0, Upgrade complete., 4280 bytes that begin with 3a313043
#
# Needs python3 (3.11 or newer) with venv, PyPI, and port 1337 of 127.13.3.7. Exits with 1 if the behavior differs.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check smpmgr==0.19.1 smpclient==7.3.0 smp==4.2.0 cbor2==6.3.0 imgtool==2.5.0 intelhex==2.3.0
python3 -c 'print(end="".join(chr(index % 26 + 97) for index in range(1000)))' >program.bin
venv/bin/imgtool sign -H 0x200 --pad-header -S 0x10000 -v 1.2.3 --align 8 program.bin image.bin
venv/bin/python - <<'PYTHON'
import pathlib, socket, struct, subprocess, threading
import cbor2, intelhex

image = pathlib.Path('image.bin').read_bytes()
hexadecimal = intelhex.IntelHex()
hexadecimal.puts(0xC000, image)
hexadecimal.write_hex_file('image.hex')

server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(('127.13.3.7', 1337))
written = bytearray()

def serve():
    while True:
        data, client = server.recvfrom(4096)
        operation, _, _, group, sequence, command = struct.unpack('>BBHHBB', data[:8])
        request, answer = cbor2.loads(data[8:]), {}
        if (group, command) == (0, 6):
            answer = {'buf_size': 1024, 'buf_count': 1}
        elif (group, command) == (1, 1):
            if request['off'] == len(written):
                written.extend(request['data'])
            answer = {'off': len(written)}
        body = cbor2.dumps(answer)
        server.sendto(struct.pack('>BBHHBB', operation | 1, 0, len(body), group, sequence, command) + body, client)

threading.Thread(target=serve, daemon=True).start()
for name in ('image.bin', 'image.hex'):
    written.clear()
    run = subprocess.run(['venv/bin/smpmgr', '--ip', '127.13.3.7', 'upgrade', name], capture_output=True, text=True, timeout=120)
    last = run.stdout.strip().splitlines()[-1]
    print(f'{name}: exit {run.returncode}, {last}, {len(written)} bytes that begin with {written[:4].hex()}')
    assert (run.returncode, last) == (0, 'Upgrade complete.'), run.stdout + run.stderr
    assert written == pathlib.Path(name).read_bytes() and (written == image) == (name == 'image.bin')
PYTHON
