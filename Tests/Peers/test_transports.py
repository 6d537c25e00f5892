"""The program on each transport that Bumble has too, against Bumble's virtual controllers."""
import asyncio

import pytest

from central import whole_run
from controllers import bumble_controllers
from emulator import profile, running
from expectations import expectations
from rootcanal_peer import free_ports
from test_central import bumble_peripheral, sample_expectations

PROFILE = "everything"
# Both ends of each transport: the controller's waits for the host's to come.
CONTROLLER_WAITS = {
    "unix": ("unix-server:{path}", "unix:{path}"),
    "serial": ("pty:{path}", "serial:{path},1000000"),
}
# Here the host's end waits for the controller's to come.
HOST_WAITS = {
    "tcp-server": ("tcp-client:127.0.0.1:{port}", "tcp-server:127.0.0.1:{port}"),
    "unix-server": ("unix-client:{path}", "unix-server:{path}"),
    "pty": ("serial:{path},1000000", "pty:{path}"),
}


@pytest.mark.parametrize("ends", CONTROLLER_WAITS.values(), ids=CONTROLLER_WAITS)
def test_a_whole_run_with_the_host_joining_a_controller(ends, tmp_path):
    controller, host = (end.format(path=tmp_path / "hci") for end in ends)
    with bumble_controllers(controller, count=1) as (other,):
        with running("--profile", profile(PROFILE), "--controller", host):
            asyncio.run(whole_run(other, expectations(PROFILE, parts=("data",))))


@pytest.mark.parametrize("ends", HOST_WAITS.values(), ids=HOST_WAITS)
def test_a_whole_run_with_the_controller_joining_a_host(ends, tmp_path):
    port = free_ports(1)[0]
    controller, host = (end.format(path=tmp_path / "hci", port=port) for end in ends)
    with running("--profile", profile(PROFILE), "--controller", host):
        with bumble_controllers(controller, count=1) as (other,):
            asyncio.run(whole_run(other, expectations(PROFILE, parts=("data",))))


@pytest.mark.parametrize("ends", CONTROLLER_WAITS.values(), ids=CONTROLLER_WAITS)
def test_bumbles_own_peripheral_passes_on_the_same_transport(ends, tmp_path):
    async def run(host, other):
        async with bumble_peripheral(host) as device:
            await whole_run(other, sample_expectations(device))

    controller, host = (end.format(path=tmp_path / "hci") for end in ends)
    with bumble_controllers(controller, count=1) as (other,):
        asyncio.run(run(host, other))
