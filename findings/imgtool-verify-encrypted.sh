#!/bin/sh
# imgtool 2.5.0 (PyPI): "imgtool verify" calls each encrypted image invalid, also one that "imgtool sign" has just made.
#
# MCUboot's document about encrypted images: hash and signature are those of the plain data; only the payload is encrypted. "verify" hashes the file
# as it is, so the hash cannot match: it says and returns what it says and returns for a damaged file. It has no option for the key of the
# encryption, and does not mention the flag in the header. A script that verifies images before an update refuses each encrypted one.
#
# Output seen, for the same program, signed with the same key:
#   plain: exit 0, Image was correctly validated
#   encrypted, --clear: exit 0, Image was correctly validated
#   encrypted: exit 1, Image has an invalid hash
#   damaged: exit 1, Image has an invalid hash
#   The hash in the encrypted image is that of its header and the plain payload.
#
# Needs python3 (3.10 or newer) with venv, and PyPI. Exits with 1 if the behavior differs.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check imgtool==2.5.0
venv/bin/python - <<'PYTHON'
import hashlib, pathlib, struct, subprocess

def imgtool(*arguments):
    run = subprocess.run(['venv/bin/imgtool', *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return run.returncode, run.stdout.strip()

def sign_and_verify(title, file, *arguments):
    options = ['-H', '0x200', '--pad-header', '-S', '0x10000', '-v', '1.2.3', '--align', '8', *arguments]
    code, said = imgtool('sign', '-k', 'sign.pem', *options, 'in.bin', file)
    assert code == 0, said
    return verify(title, file)

def verify(title, file):
    code, said = imgtool('verify', '-k', 'sign.pem', file)
    print(f'{title}: exit {code}, {said.splitlines()[0]}')
    return code, said.splitlines()[0]

plain = bytes((index * 7 + 3) & 255 for index in range(1008))
pathlib.Path('in.bin').write_bytes(plain)
for name in ('sign', 'encrypt'):
    assert imgtool('keygen', '-t', 'ecdsa-p256', '-k', f'{name}.pem')[0] == 0
code, public = imgtool('getpub', '-k', 'encrypt.pem', '-e', 'pem')
pathlib.Path('public.pem').write_text(public + '\n')
valid = (0, 'Image was correctly validated')
assert sign_and_verify('plain', 'plain.bin') == valid
assert sign_and_verify('encrypted, --clear', 'clear.bin', '-E', 'public.pem', '--clear') == valid
invalid = (1, 'Image has an invalid hash')
assert sign_and_verify('encrypted', 'encrypted.bin', '-E', 'public.pem') == invalid
file = bytearray(pathlib.Path('plain.bin').read_bytes())
file[0x300] ^= 1
pathlib.Path('damaged.bin').write_bytes(file)
assert verify('damaged', 'damaged.bin') == invalid

file = pathlib.Path('encrypted.bin').read_bytes()
size, flags = struct.unpack('<II', file[12:20])
assert (size, flags) == (1008, 4) and file[0x200:0x200 + size] != plain
magic, _, kind, length = struct.unpack('<HHHH', file[0x200 + size:0x208 + size])
assert (magic, kind, length) == (0x6907, 0x10, 32)
assert file[0x208 + size:0x228 + size] == hashlib.sha256(file[:0x200] + plain).digest()
print('The hash in the encrypted image is that of its header and the plain payload.')
PYTHON
