"""Prints the closing line of the peer tests from pytest's JUnit report: N passed, N failed, …"""
import sys
from xml.etree import ElementTree


def main(report):
    """Adds up the test suites of `report`; a missing report counts as one failure."""
    try:
        suites = list(ElementTree.parse(report).iter("testsuite"))
    except (OSError, ElementTree.ParseError):
        print("0 passed, 1 failed, 0 skipped")
        return
    tests, failures, errors, skipped = (
        sum(int(suite.get(name, 0)) for suite in suites)
        for name in ("tests", "failures", "errors", "skipped"))
    failed = failures + errors
    print(f"{tests - failed - skipped} passed, {failed} failed, {skipped} skipped")


if __name__ == "__main__":
    main(sys.argv[1])
