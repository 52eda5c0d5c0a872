#!/usr/bin/env python3
"""Foreign MCUmgr clients that update a device over Bumble's host, with a controller of somebody else. Prints a JSON object.

update_clients.py smpclient TRANSPORT ADDRESS IMAGE   smpclient: upload, test, reset, confirm; the states of the images, and the seconds of upload
update_clients.py toolkit TRANSPORT ADDRESS IMAGE     mcumgr-toolkit's whole update, over UDP: this process passes the datagrams on; its steps
"""
import asyncio
import contextlib
import json
import socket
import sys
import time

from smpclient import SMPClient
from smpclient.generics import success
from smpclient.requests.image_management import ImageStatesRead, ImageStatesWrite
from smpclient.requests.os_management import ResetWrite
from smpclient.transport import SMPTransportDisconnected
from smpclient.transport.bumble import SMPBumbleTransport

LIMIT = 600
# A process of its own, because the toolkit holds Python's lock while it waits.
TOOLKIT = """
import json, mcumgr_toolkit, sys
steps, client = [], mcumgr_toolkit.MCUmgrClient.udp('127.0.0.1', int(sys.argv[1]), 60_000)
client.use_auto_frame_size()
client.firmware_update(open(sys.argv[2], 'rb').read(), progress=lambda step, _: step in steps or steps.append(step))
print(json.dumps({'steps': steps}))
"""

async def smpclient(hci, address, path):
    states = []

    async def ask(request):
        answer = await client.request(request)
        if not success(answer):
            sys.exit(f'{request}: {answer}')
        states.extend(' '.join([image.version] + [flag for flag in ('active', 'confirmed', 'pending') if getattr(image, flag)])
                      for image in getattr(answer, 'images', []))
        return answer

    transport = SMPBumbleTransport(hci=hci)
    client = SMPClient(transport, address, timeout_s=LIMIT)
    await client.connect()
    start = time.monotonic()
    with open(path, 'rb') as file:
        offsets = [offset async for offset in client.upload(file.read())]
    seconds = time.monotonic() - start
    new = (await ask(ImageStatesRead())).images[1].hash
    await ask(ImageStatesWrite(hash=new))
    await ask(ResetWrite())
    await transport._disconnected_event.wait()
    # To disconnect after a lost link costs the transport the 30 s of an ATT transaction. So the second link has a controller of its own.
    client = SMPClient(SMPBumbleTransport(hci=hci), address, timeout_s=LIMIT)
    await client.connect()
    await ask(ImageStatesWrite(hash=new, confirm=True))
    print(json.dumps({'requests': len(offsets), 'seconds': seconds, 'states': states}))


async def toolkit(hci, address, path):
    udp, loop = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), asyncio.get_running_loop()
    udp.bind(('127.0.0.1', 0))
    udp.setblocking(False)

    async def pass_on():
        bluetooth = None
        while True:
            message, sender = await loop.sock_recvfrom(udp, 1 << 16)
            if bluetooth is None or bluetooth._disconnected_event.is_set():
                bluetooth = SMPBumbleTransport(hci=hci)
                await bluetooth.connect(address, LIMIT)
            with contextlib.suppress(SMPTransportDisconnected):  # The toolkit sends its request again.
                await loop.sock_sendto(udp, await bluetooth.send_and_receive(message), sender)

    passing = asyncio.create_task(pass_on())
    process = await asyncio.create_subprocess_exec(sys.executable, '-c', TOOLKIT, str(udp.getsockname()[1]), path)
    await asyncio.wait([passing, exit := asyncio.create_task(process.wait())], return_when=asyncio.FIRST_COMPLETED)
    sys.exit(await exit if exit.done() else passing.exception())


asyncio.run({'smpclient': smpclient, 'toolkit': toolkit}[sys.argv[1]](*sys.argv[2:]))
