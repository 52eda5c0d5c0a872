#!/usr/bin/env python3
"""An MCUmgr server whose messages PyPI's smp reads and writes. Requests are lines of hex on standard input, answers are JSON records.

Ends if smp reads a request differently than it was written. Made by hand is only what smp refuses: the answer to the query of MCUboot's mode,
which has no "bootloader", and the refusal of slot info, a command that smp does not know. `erase` of slot 100 + N is refused with the error N
of the image group, and of slot 200 + N with the general error N.
"""
import json
import struct
import sys

import cbor2
from smp import image_management as image, os_management as system
from smp.header import OP

# The operations and commands of answers for which smp has none, or that of a read request.
New = type('New', (image.ImageStatesWriteResponse,), {'_OP': OP.WRITE_RSP})
Refusal = type('Refusal', (image.ImageManagementErrorV2,), {'_OP': OP.WRITE_RSP, '_COMMAND_ID': 5})
OldRefusal = type('OldRefusal', (image.ImageManagementErrorV1,), {'_OP': OP.WRITE_RSP, '_COMMAND_ID': 5})
stored, pending = bytearray(), False


def states(kind=image.ImageStatesReadResponse):
    slots = [image.ImageState(slot=0, version='1.0.0', hash=b'\x11' * 32, bootable=True, confirmed=True, active=True)]
    if stored:
        slots.append(image.ImageState(slot=1, version='2.0.0.7', hash=bytes(stored[-32:]), bootable=True, pending=pending))
    return kind, {'images': slots}


def upload(request):
    stored[request.off:] = request.data
    return image.ImageUploadWriteResponse, {'off': len(stored)}


def mark(request):
    global pending
    pending = not request.confirm
    return states(New)


def erase(request):
    form, code = divmod(request.slot or 0, 100)
    return [(image.ImageEraseResponse, {}), (Refusal, {'err': {'group': 1, 'rc': code}}), (OldRefusal, {'rc': code, 'rsn': 'no'})][form]


# By write or read, group and command: the class of a request, and the class and the values of its answer. Without a class, smp refuses it.
SERVER = {
    (2, 0, 0): (system.EchoWriteRequest, lambda request: (system.EchoWriteResponse, {'r': request.d})),
    (2, 0, 5): (system.ResetWriteRequest, lambda _: (system.ResetWriteResponse, {})),
    (0, 0, 6): (system.MCUMgrParametersReadRequest, lambda _: (system.MCUMgrParametersReadResponse, {'buf_size': 1024, 'buf_count': 4})),
    (0, 0, 7): (system.OSApplicationInfoReadRequest, lambda _: (system.OSApplicationInfoReadResponse, {'output': 'Zephyr'})),
    (0, 0, 8): (system.BootloaderInformationReadRequest, lambda request: (None, {'mode': 9, 'no-downgrade': True}) if request.query else
                (system.BootloaderInformationReadResponse, {'bootloader': 'MCUboot'})),
    (0, 1, 0): (image.ImageStatesReadRequest, lambda _: states()),
    (2, 1, 0): (image.ImageStatesWriteRequest, mark),
    (2, 1, 1): (image.ImageUploadWriteRequest, upload),
    (2, 1, 5): (image.ImageEraseRequest, erase),
    (0, 1, 6): (None, lambda _: (None, {'rc': 8})),
}

for line in sys.stdin:
    data = bytes.fromhex(line)
    operation, _, _, group, sequence, command = struct.unpack('>BBHHBB', data[:8])
    kind, answer = SERVER[operation & 7, group, command]
    if kind:
        # smp makes the same bytes of the same values, but for the order of the keys.
        again = kind(sequence=sequence, **cbor2.loads(data[8:])).BYTES
        if again[:8] != data[:8] or cbor2.loads(again[8:]) != cbor2.loads(data[8:]):
            sys.exit(f'{data.hex()} is {again.hex()} to smp')
    reply, values = answer(kind.loads(data) if kind else None)
    body = cbor2.dumps(values) if reply is None else b''
    message = reply(sequence=sequence, **values).BYTES if reply else struct.pack('>BBHHBB', 9, 0, len(body), group, sequence, command) + body
    print(json.dumps({'request': kind.__name__ if kind else 'slot info', 'answer': message.hex()}), flush=True)
