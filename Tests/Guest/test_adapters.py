"""The accessory's adapter: who may have it, what becomes of it, what an idle accessory costs."""
import pytest

from machine import scenario

# 200 starts take their time on an emulated processor.
MANY_SECONDS = 800


def test_each_refusal_has_its_sentence():
    scenario("adapters", "refusals")


@pytest.mark.long
@pytest.mark.parametrize("function", [
    "without_bluetooth", "choice", "take_over", "capabilities", "removal",
    "removal_while_connected", "leaked_descriptors", "idle"])
def test_the_adapter(function):
    scenario("adapters", function)


@pytest.mark.long
def test_200_starts_leave_nothing_behind():
    scenario("adapters", "many_starts", seconds=MANY_SECONDS)
