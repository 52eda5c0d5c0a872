#!/bin/sh
# bumble 0.0.236 (PyPI): the include declaration of a service with a 128-bit UUID has two bytes of that UUID, which clients take for a 16-bit UUID.
#
# Core Specification, Vol 3 Part G §3.2: the declaration has the first and the last handle of the included service, and its UUID only if it is a 16-bit
# UUID. Otherwise the value has 4 bytes, and clients read the UUID from the service declaration. Bumble always writes 6 bytes. Its own client, like any
# other, then tells of a service that the device does not have.
#
# Output seen, for a service that includes 6e400001-b5a3-f393-e0a9-e50e24dc180d:
#   value of the include declaration: 01000300 0d18
#   Bumble's client: UUID-16:180D (Heart Rate), handles 1 to 3
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
from bumble import gatt
from bumble.controller import Controller
from bumble.device import Device, DeviceConfiguration, Peer
from bumble.gatt import Characteristic, Service
from bumble.hci import Address
from bumble.link import LocalLink
from bumble.transport.common import AsyncPipeSink

def make(name, address, link):
    controller = Controller(name, link=link)
    return Device.from_config_with_hci(DeviceConfiguration(
        name=name, address=Address(address), gap_service_enabled=False, gatt_service_enabled=False), controller, AsyncPipeSink(controller))

async def main():
    link = LocalLink()
    server, client = make('server', 'F0:F1:F2:F3:F4:F5', link), make('client', 'F0:F1:F2:F3:F4:F6', link)
    inner = Service('6E400001-B5A3-F393-E0A9-E50E24DC180D', [
        Characteristic('FFF1', Characteristic.Properties.READ, Characteristic.READABLE, b'inner')])
    server.add_services([inner, Service('FFF0', [], included_services=[inner])])
    await server.power_on()
    await client.power_on()
    await server.start_advertising()
    peer = Peer(await client.connect('F0:F1:F2:F3:F4:F5'))
    service = [service for service in await peer.discover_services() if service.uuid == gatt.UUID('FFF0')][0]
    value = await peer.gatt_client.read_value(service.handle + 1)
    print('value of the include declaration:', value[:4].hex(), value[4:].hex())
    [included] = await peer.gatt_client.discover_included_services(service)
    print(f"Bumble's client: {included.uuid}, handles {included.handle} to {included.end_group_handle}")
    assert value.hex() == '010003000d18' and included.uuid == gatt.GATT_HEART_RATE_SERVICE

asyncio.run(main())
PYTHON
