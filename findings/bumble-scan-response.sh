#!/bin/sh
# bumble 0.0.236 (PyPI): the scan responses of Bumble's virtual controller repeat the advertising data. Nobody gets the scan response data.
#
# Core Specification, Vol 6 Part B §2.3.2.2: a SCAN_RSP has the advertiser's scan response data. The controller stores what the host sets with HCI LE Set
# Scan Response Data, and then never uses it: after each ADV_IND, a scanner gets a SCAN_RSP report with the data of the ADV_IND. A program that is
# tested on the virtual link finds no name there, although the device has set it.
#
# Output seen:
#   set: advertising data 020106, scan response data 050942656c74
#   heard: ADV_IND 020106, SCAN_RSP 020106
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
from bumble import hci
from bumble.controller import Controller
from bumble.device import Device
from bumble.link import LocalLink
from bumble.transport.common import AsyncPipeSink

class LegacyController(Controller):
    def __init__(self, name, link):
        super().__init__(name, link=link)
        self.le_features &= ~hci.LeFeatureMask.LE_EXTENDED_ADVERTISING

def make(name, address, link):
    controller = LegacyController(name, link)
    return Device.with_hci(name, hci.Address(address), controller, AsyncPipeSink(controller)), controller

async def main():
    link = LocalLink()
    (server, controller), (client, _) = make('server', 'F0:F1:F2:F3:F4:F5', link), make('client', 'F0:F1:F2:F3:F4:F6', link)
    await server.power_on()
    await client.power_on()
    advertising, response = bytes.fromhex('020106'), bytes.fromhex('050942656c74')
    await server.start_advertising(advertising_data=advertising, scan_response_data=response)
    advertiser = controller.le_legacy_advertiser
    print(f'set: advertising data {advertiser.advertising_data.hex()}, scan response data {advertiser.scan_response_data.hex()}')
    assert (advertiser.advertising_data, advertiser.scan_response_data) == (advertising, response)
    heard = {}
    client.host.on('advertising_report', lambda report: heard.setdefault(hci.HCI_LE_Advertising_Report_Event.EventType(report.event_type).name, report.data))
    await client.start_scanning(active=True)
    while len(heard) < 2:
        await asyncio.sleep(0.05)
    print('heard:', ', '.join(f'{kind} {bytes(data).hex()}' for kind, data in heard.items()))
    assert {kind: bytes(data) for kind, data in heard.items()} == {'ADV_IND': advertising, 'SCAN_RSP': advertising}

asyncio.run(main())
PYTHON
