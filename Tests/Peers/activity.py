"""The rules of activity and interval policy, computed from a trace and a profile alone.

Idle at first; active from the first value above `active-above`; idle again when all values of
the last `hold` were below `idle-below`, what comes at its very end counted; asleep when idle for
`asleep-after`. A value holds until the next row, the last one to the end. A boost is in force from
power-on; an interval stays for the dwell. Times are whole microseconds.
"""
import csv
import re
from pathlib import Path

UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600, "d": 86400}


def quantity(text):
    """The number of `10 s`, `152.5 ms` or `0.12 g`; times in seconds."""
    number, unit = re.fullmatch(r"([-+.\d]+)\s*([A-Za-z]+)", text).groups()
    return float(number) * UNITS.get(unit, 1)


def microseconds(text):
    """A time of the profile; 0 for None."""
    return round(quantity(text) * 1e6) if text else 0


def trace(path, column):
    """The (time, value) rows of a trace; times in microseconds."""
    with open(path, newline="", encoding="utf-8") as file:
        return [(round(float(row["time"]) * 1e6), float(row[column]))
                for row in csv.DictReader(file)]


def states(rows, rule, end):
    """(time, state) of each change up to `end`, the start included."""
    above, below = quantity(rule["active-above"]), quantity(rule["idle-below"])
    hold, asleep_after = microseconds(rule["hold"]), microseconds(rule.get("asleep-after"))
    result, quiet_since, idle_since = [(0, "idle")], 0, 0
    for index, (time, value) in enumerate(rows):
        until = rows[index + 1][0] if index + 1 < len(rows) else end + 1
        quiet_since = None if value >= below else time if quiet_since is None else quiet_since
        if value > above and result[-1][1] != "active":
            result.append((time, "active"))
        if result[-1][1] == "active" and quiet_since is not None and quiet_since + hold < until:
            idle_since = quiet_since + hold
            result.append((idle_since, "idle"))
        if result[-1][1] == "idle" and asleep_after and idle_since + asleep_after < until:
            result.append((idle_since + asleep_after, "asleep"))
    return [change for change in result if change[0] < end]


def held(wanted, dwell):
    """What is in force where (time, interval) is wanted and each stays for `dwell`."""
    result = []
    for index, (time, interval) in enumerate(wanted):
        until = wanted[index + 1][0] if index + 1 < len(wanted) else None
        if result and result[-1][1] == interval:
            continue
        free = max(time, result[-1][0] + dwell) if result else time
        if until is None or free < until:
            result.append((free, interval))
    return result


def intervals(profile, folder, end):
    """(time in seconds, interval in seconds) of each interval that a profile with the policy
    `activity` and one trace must advertise with until `end` seconds, without connections."""
    rule, policy = profile["activity"], profile["advertising"][0]["interval"]
    source = rule["source"]
    rows = trace(Path(folder) / source["csv"], source["column"])
    wanted = [(time, quantity(policy.get(state, policy["idle"])))
              for time, state in states(rows, rule, round(end * 1e6))]
    if boost := policy.get("boost"):
        over = microseconds(boost["for"])
        before = [interval for time, interval in wanted if time <= over]
        wanted = [(0, quantity(boost["interval"])), (over, before[-1]),
                  *(change for change in wanted if change[0] > over)]
    return [(time / 1e6, interval)
            for time, interval in held(wanted, microseconds(policy.get("dwell")))]
