"""The checks of wristband.blectl where data, files or other devices are needed besides: from pytest, by way of a session for programs.

    export BLECTL_ADAPTER=sim:man/examples/wristband.json
    pytest man/examples/test_wristband.py
"""
import pytest
from open_lock import Refused, Session


@pytest.fixture
def band():
    with Session() as session:
        session.run("connect name:Band-C")
        yield session


def octets(record):
    return bytes.fromhex(record["value"])


def test_battery(band):
    level = band.run("read battery_level")[0]["decoded"]["battery_level"]["value"]
    answer = octets(band.run("write ff02 1b9901 --expect ff01=567b")[-1])
    assert answer[2] == level
    assert answer[-1] == sum(answer[:-1]) % 256


@pytest.mark.parametrize("days", [1, 3, 30])
def test_history(band, days):
    expected = " --expect ff01=567c01" * days
    records = band.run(f"write ff02 1b9902{days:02x} --expect ff01=567c00{expected} --expect ff01=567cff")
    packets = [octets(record) for record in records if record["event"] == "notification"]
    assert [packet[3] for packet in packets if packet[2] == 1] == list(range(1, days + 1))


def test_a_second_command_is_refused(band):
    band.run("write ff02 1b990205")
    with pytest.raises(Refused) as refused:
        band.run("write ff02 1b9901")
    assert refused.value.error["name"] == "procedure_already_in_progress"
