"""Two Bumble centrals at once on one accessory, through the air."""
import asyncio
import contextlib

from bumble.hci import Phy

from central import Central
from emulator import profile, running

NAME = "Shared"
LISTENING = r"air: listening on (127\.0\.0\.1:\d+)"
LONG, WRITTEN, FIRST, SECOND, FAST = (
    f"7C3E100{number}-52B1-4F0A-8E6D-91A2B3C4D5E6" for number in range(1, 6))
TEXT = b"A value that is longer than one answer at the default MTU."
# How many reads or notifications of both are shared: as many on a slow machine.
SHARED = 100
SHARE_MIN = 0.4


@contextlib.asynccontextmanager
async def two_centrals(address):
    """Two connected centrals that know the accessory, at MTU 23 and 247."""
    name = f"tcp-client:{address}"
    async with Central.on(name, "C4:C3:C2:C1:C0:01") as small, \
            Central.on(name, "C4:C3:C2:C1:C0:02") as large:
        for central, mtu in ((small, 23), (large, 247)):
            found = await central.find(NAME)
            assert await central.connect(found.address, mtu) == mtu
        for central in (small, large):
            await central.discover()
        yield small, large


def run(scenario):
    """Runs a scenario of two centrals on an accessory; returns what the program said."""
    async def whole(address):
        async with two_centrals(address) as (small, large):
            await scenario(small, large)

    with running("--profile", profile("two-centrals"), "--controller", "virtual",
                 "--air", "127.0.0.1:0", "--seed", "1") as emulator:
        address = emulator.wait_for(LISTENING).group(1)
        asyncio.run(asyncio.wait_for(whole(address), 90))
        return emulator.output()


def listen(central, uuids):
    """Collects all notifications of these characteristics that reach this central."""
    received = {uuid: [] for uuid in uuids}
    for uuid in uuids:
        central.characteristic(uuid).on(
            "update", lambda value, uuid=uuid: received[uuid].append(bytes(value)))
    return received


def is_steady(values):
    """Whether each value is the one before it plus one."""
    numbers = [int.from_bytes(value, "little") for value in values]
    return all(later == earlier + 1 for earlier, later in zip(numbers, numbers[1:]))


async def subscriptions(small, large):
    """Each gets what it subscribed to, whole and in order, and nothing of the other."""
    heard = [listen(central, (FIRST, SECOND)) for central in (small, large)]
    await small.characteristic(FIRST).subscribe()
    await large.characteristic(SECOND).subscribe()
    await asyncio.sleep(2.5)
    assert [len(heard[0][SECOND]), len(heard[1][FIRST])] == [0, 0], "cross-talk"
    for values in (heard[0][FIRST], heard[1][SECOND]):
        assert len(values) >= 8 and is_steady(values)
    # One that unsubscribes does not unsubscribe the other.
    await large.characteristic(FIRST).subscribe()
    await small.characteristic(FIRST).unsubscribe()
    await asyncio.sleep(0.3)
    before = [len(one[FIRST]) for one in heard]
    await asyncio.sleep(1)
    assert len(heard[0][FIRST]) == before[0] and len(heard[1][FIRST]) >= before[1] + 3


async def values(small, large):
    """Both read and write the same values, each at its own MTU."""
    assert [await central.read(LONG) for central in (small, large)] == [TEXT, TEXT]
    await small.write(WRITTEN, b"Small")
    assert await large.read(WRITTEN) == b"Small"
    await large.write(WRITTEN, b"Large")
    assert await small.read(WRITTEN) == b"Large"
    # Long reads of both at once: the answers are not mixed up.
    pairs = await asyncio.gather(*(repeat(central, 20) for central in (small, large)))
    assert set(pairs[0] + pairs[1]) == {TEXT}


async def repeat(central, count):
    """The long value, so often."""
    return [await central.read(LONG) for _ in range(count)]


async def reads_under_load(small, large):
    """Both read as fast as they can."""
    counts = [0, 0]

    async def count(which, central):
        while sum(counts) < SHARED:
            await central.read(WRITTEN)
            counts[which] += 1

    await asyncio.gather(count(0, small), count(1, large))
    check_shares(counts)


async def notifications_under_load(small, large):
    """Both follow a value that moves faster than the air carries it, and one reads meanwhile."""
    heard = [listen(central, (FAST,))[FAST] for central in (small, large)]
    for central in (small, large):
        await central.characteristic(FAST).subscribe()
    before = [len(one) for one in heard]

    def counts():
        return [len(one) - start for one, start in zip(heard, before)]

    while sum(counts()) < SHARED:
        await large.read(LONG)
    check_shares(counts())
    for central in (small, large):
        await central.characteristic(FAST).unsubscribe()


def check_shares(counts):
    """Neither of two has less than its share."""
    assert min(counts) >= SHARE_MIN * sum(counts), f"shares: {counts}"


def test_different_mtus_and_subscriptions_do_not_mix():
    said = run(subscriptions)
    assert "C4:C3:C2:C1:C0:01 subscribed" in said and "C4:C3:C2:C1:C0:02 subscribed" in said


def test_values_are_shared_and_answers_are_not():
    run(values)


def test_under_load_both_get_their_share_of_the_reads():
    run(reads_under_load)


def test_under_load_both_get_their_share_of_the_notifications():
    run(notifications_under_load)


def test_another_phy_of_one_link_is_told_and_leaves_the_other_link_alone():
    async def change(small, large):
        await large.connection.set_phy([Phy.LE_2M], [Phy.LE_2M])
        assert [await central.read(LONG) for central in (small, large)] == [TEXT, TEXT]
        phys = [await central.connection.get_phy() for central in (small, large)]
        assert [one.tx_phy for one in phys] == [Phy.LE_1M, Phy.LE_2M]

    said = run(change)
    assert "C4:C3:C2:C1:C0:02 on LE 2M" in said and "C4:C3:C2:C1:C0:01 on" not in said


def test_one_that_leaves_makes_room_for_the_next_and_takes_only_its_own_along():
    async def leave(small, large):
        heard = listen(large, (SECOND,))[SECOND]
        await large.characteristic(SECOND).subscribe()
        await small.disconnect()
        found = await small.find(NAME)
        await small.connect(found.address, 23)
        await small.discover()
        again = listen(small, (FIRST, SECOND))
        await asyncio.sleep(1)
        assert len(heard) >= 3 and is_steady(heard)
        assert again == {FIRST: [], SECOND: []}, "a new connection has no subscriptions"

    run(leave)
