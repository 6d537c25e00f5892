"""The activity rule of the profile format, computed from the trace alone.

Idle at first; active from the first value above `active-above`; idle again when all values of
the last `hold` were below `idle-below`. A value holds until the next row, the last one to the end.
"""
import csv
import re
from pathlib import Path

UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600, "d": 86400}


def quantity(text):
    """The number of `10 s`, `152.5 ms` or `0.12 g`; times in seconds."""
    number, unit = re.fullmatch(r"([-+.\d]+)\s*([A-Za-z]+)", text).groups()
    return float(number) * UNITS.get(unit, 1)


def trace(path, column):
    """The (time, value) rows of a trace."""
    with open(path, newline="", encoding="utf-8") as file:
        return [(float(row["time"]), float(row[column])) for row in csv.DictReader(file)]


def changes(rows, active_above, idle_below, hold, end):
    """(time, is active) of each change up to `end`, the start included."""
    result, active = [(0.0, False)], False
    quiet_since = 0.0   # since when every value was below idle_below; None while one is not
    for index, (time, value) in enumerate(rows):
        until = rows[index + 1][0] if index + 1 < len(rows) else end
        if value >= idle_below:
            quiet_since = None
        elif quiet_since is None:
            quiet_since = time
        if value > active_above and not active:
            active = True
            result.append((time, True))
        if active and quiet_since is not None and quiet_since + hold < until:
            active = False
            result.append((quiet_since + hold, False))
    return [change for change in result if change[0] < end]


def intervals(profile, folder, end):
    """(time, interval in seconds) that a profile with the two-level policy must advertise with."""
    rule, policy = profile["activity"], profile["advertising"][0]["interval"]
    source = rule["source"]
    rows = trace(Path(folder) / source["csv"], source["column"])
    levels = {True: quantity(policy["active"]), False: quantity(policy["idle"])}
    return [(time, levels[active]) for time, active in changes(
        rows, quantity(rule["active-above"]), quantity(rule["idle-below"]),
        quantity(rule["hold"]), end)]
