"""Runs one scenario inside the virtual machine: run.py MODULE FUNCTION ARGUMENT …"""
import importlib
import sys
import traceback

import lab


def main(module, function, *arguments):
    """Runs it; the exit code is 0 if it did not fail."""
    try:
        getattr(importlib.import_module(module), function)(*arguments)
    except BaseException:
        traceback.print_exc()
        print(lab.run("dmesg", check=False), file=(lab.LOGS / "dmesg.log").open("w"))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
