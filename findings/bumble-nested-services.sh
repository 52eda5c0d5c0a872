#!/bin/sh
# bumble 0.0.236 (PyPI): a service that is added by way of another one that includes it lies in the middle of that one, and clients may miss it.
#
# Core Specification, Vol 3 Part G §3.1: a service definition ends before the next service declaration. Server.add_service adds an included service that
# the server does not have yet after the declaration of the including one, whose last handle is then behind it: the handles overlap. A client that
# discovers services goes on behind the last handle of the last service in a response (§4.4.1). If the including service is the last one there, the
# client never sees the included one, which is a primary service. So it depends on the ATT_MTU what a client finds.
# Who adds the included service first is not affected. Bumble's own CommonAudioServiceService is used like this.
#
# Output seen, with the services 1853 and 1846 of a pair of hearing aids:
#   1853 has the handles 3 to 8, and 1846 in it 4 to 7
#   ATT_MTU 517: 180F, 1805, 1853, 1846
#   ATT_MTU 23: 180F, 1805, 1853
#
# Needs python3 (3.10 or newer) with venv, and PyPI. Exits with 1 if the behavior differs.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check bumble==0.0.236
venv/bin/python - <<'PYTHON'
import asyncio
from bumble.controller import Controller
from bumble.device import Device, DeviceConfiguration, Peer
from bumble.gatt import Service
from bumble.hci import Address
from bumble.link import LocalLink
from bumble.profiles.cap import CommonAudioServiceService
from bumble.profiles.csip import CoordinatedSetIdentificationService, SirkType
from bumble.transport.common import AsyncPipeSink

def make(name, address, link):
    controller = Controller(name, link=link)
    return Device.from_config_with_hci(DeviceConfiguration(
        name=name, address=Address(address), gap_service_enabled=False, gatt_service_enabled=False), controller, AsyncPipeSink(controller))

async def main():
    link = LocalLink()
    server, client = make('server', 'F0:F1:F2:F3:F4:F5', link), make('client', 'F0:F1:F2:F3:F4:F6', link)
    group = CoordinatedSetIdentificationService(bytes(range(16)), SirkType.PLAINTEXT)
    server.add_services([Service('180F', []), Service('1805', []), CommonAudioServiceService(group)])
    await server.power_on()
    await client.power_on()
    found = {}
    for mtu in (517, 23):
        await server.start_advertising()
        connection = await client.connect('F0:F1:F2:F3:F4:F5')
        peer = Peer(connection)
        await peer.request_mtu(mtu)
        services = await peer.discover_services()
        if mtu == 517:
            outer, inner = services[2:]
            print(f'{outer.uuid.to_hex_str()} has the handles {outer.handle} to {outer.end_group_handle}, '
                  f'and {inner.uuid.to_hex_str()} in it {inner.handle} to {inner.end_group_handle}')
            assert outer.handle < inner.handle and inner.end_group_handle < outer.end_group_handle
        found[mtu] = [service.uuid.to_hex_str() for service in services]
        print(f'ATT_MTU {mtu}:', ', '.join(found[mtu]))
        await connection.disconnect()
    assert found == {517: ['180F', '1805', '1853', '1846'], 23: ['180F', '1805', '1853']}

asyncio.run(main())
PYTHON
