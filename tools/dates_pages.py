"""Writes docs/validation/data/real-dates.md: what real_dates.py found about recordings of several dates.

SPDX-License-Identifier: BSD-3-Clause
"""

import math
import statistics

import data_page

PAGE = "validation/predictions.md"
STEADY = ("Alps", "Daint")  # one kind of node, more than two dates
DAY_S = 86400.0
DISTANCES = (("under an hour", 3600.0), ("hours", DAY_S), ("days", 7 * DAY_S), ("weeks", math.inf))
HEAD = ["compared", "inside", "agree", "differ by over 1 % of the time", "factor between slowdowns, median", "95 %", "widest", "bounds hold"]


def percent(count, of):
    return f"{100 * count / of:.0f} %" if of else "-"


def quantile(values, share):
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]


def times(ratio):
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"


def cells(pairs):
    """Those of HEAD. Estimates on both sides are compared; bounds of i are counted apart."""
    found, bounds = [pair for pair in pairs if pair.is_estimate], [pair for pair in pairs if pair.first["is_bound"]]
    factors = [math.exp(abs(math.log(pair.ratio))) for pair in found if pair.ratio]
    apart = [times(value) for value in (statistics.median(factors), quantile(factors, 0.95), max(factors))] if factors else ["-"] * 3
    held = sum(pair.second["value"] >= pair.first["low"] for pair in bounds)
    return [len(found), percent(sum(pair.is_inside for pair in found), len(found)), percent(sum(pair.agrees for pair in found), len(found)),
            percent(sum(pair.matters for pair in found), len(found)), *apart, f"{held} of {len(bounds)}" if bounds else "-"]


def by_machine(machines):
    rows = []
    for machine, pairs in machines.items():
        dates = len({pair.i.path for pair in pairs})
        rows.append([machine, dates, *cells(pairs)])
        if dates > 2:
            rows.append([f"{machine}, later from earlier", dates, *cells([pair for pair in pairs if pair.i.when < pair.j.when])])
    return data_page.table(["machine", "dates", *HEAD], rows)


def distance_of(pair):
    return next(name for name, limit_s in DISTANCES if pair.seconds < limit_s)


def by_distance(machines, files):
    """Of the machines with several dates of one kind of node, behind runs of one file of any machine."""
    rows = [["runs of one file, one node", *cells([pair for pair in files if pair.is_one_node])],
            ["runs of one file, two nodes", *cells([pair for pair in files if not pair.is_one_node])]]
    for machine, pairs in machines.items():
        if machine in STEADY:
            rows.append([f"{machine}: other dates, one node", *cells([pair for pair in pairs if pair.is_one_node])])
        if machine in STEADY or len({pair.i.path for pair in pairs}) > 2:
            for name, _ in DISTANCES:
                rows.append([f"{machine}: {name}", *cells([pair for pair in pairs if distance_of(pair) == name])])
    return data_page.table(["i and j", *HEAD], [row for row in rows if row[1] or row[-1] != "-"])


def by_program(pairs):
    rows = []
    for program in dict.fromkeys(pair.program for pair in pairs):
        rows.append([program.pattern.split(":", maxsplit=1)[0], program.work, f"{program.ranks:,}", *cells([pair for pair in pairs if pair.program == program])])
    return data_page.table(["program", "work", "ranks", *HEAD], rows)


def label(recording):
    return recording.when.strftime("%m-%d %H:%M")


def matrix(pairs):
    """Row i, column j: jobs inside and agreeing of those compared, and the mean factor of the slowdown of j by that of i."""
    recordings = list(dict.fromkeys(pair.i for pair in pairs))
    rows = []
    for i in recordings:
        row = [label(i)]
        for j in recordings:
            found = [pair for pair in pairs if pair.i == i and pair.j == j and pair.is_estimate]
            logs = [math.log(pair.ratio) for pair in found if pair.ratio]
            row.append(f"{sum(pair.is_inside for pair in found)}, {sum(pair.agrees for pair in found)} of {len(found)}; "
                       f"x{times(math.exp(statistics.fmean(logs))) if logs else '-'}" if found else "-")
        rows.append(row)
    return data_page.table(["i \\ j", *map(label, recordings)], rows)


def width(rows):
    """Upper by lower end, median."""
    ratios = [row.high / row.low if row.low > 0 else math.inf for row in rows]
    middle = statistics.median(ratios)
    return times(middle) if math.isfinite(middle) else "no lower end"


def hit(rows):
    return f"{percent(sum(row.is_inside for row in rows), len(rows))} ({width(rows)})" if rows else "-"


WAYS = ("range", "hull", "further value", "folder")


def of_ways(rows, ways=WAYS):
    return [hit([row for row in rows if row.way == way]) for way in ways]


def several(pooled):
    """How often several recordings cover one that was left out, and how wide their intervals are."""
    rows = []
    for machine in dict.fromkeys(row.machine for row in pooled):
        for k in sorted({row.k for row in pooled if row.machine == machine}):
            group = [row for row in pooled if (row.machine, row.k) == (machine, k)]
            rows.append([machine, k, *of_ways(group), *of_ways([row for row in group if row.is_later])])
    return data_page.table(["machine", "recordings", *WAYS, *(f"later: {way}" for way in WAYS)], rows)


SPREADS = (("under an hour", 0.0, 3600.0), ("under a week", 3600.0, 7 * DAY_S), ("a week to a month", 7 * DAY_S, 30 * DAY_S),
           ("over a month", 30 * DAY_S, math.inf))


def spread(pooled):
    """The same for three and for five recordings, by how far these lie apart."""
    rows = []
    for machine in dict.fromkeys(row.machine for row in pooled):
        for k in (3, 5):
            for name, low_s, high_s in SPREADS:
                group = [row for row in pooled if row.machine == machine and row.k == k and low_s <= row.span_s < high_s]
                if group:
                    rows.append([machine, k, name, *of_ways(group)])
    return data_page.table(["machine", "recordings", "spread over", *WAYS], rows)


def listed(recordings):
    rows = []
    for recording, shown in recordings:
        limit = f"{recording.limit_ns / 1000:.2g} us" if recording.limit_ns else "-"
        caveats = ", ".join(caveat["kind"] for caveat in shown["caveats"] if caveat["is_known"]) or "-"
        rows.append([recording.machine, recording.when.strftime("%Y-%m-%d %H:%M"), recording.node, recording.kernel or "-", limit,
                     f"{shown['watched_ns'] / 1e9 / len(shown['cpus']):.0f} s", len(shown["cpus"]), f"{shown['rate_hz']:.0f}",
                     f"{100 * shown['share']:.3f} %", f"{shown['max_ns'] / 1000:.0f} us", caveats])
    return data_page.table(["machine", "date", "node", "kernel", "not seen below", "length", "CPUs", "detours per second", "share", "longest", "cautions"], rows)


def write(folder, found, repeat, network):
    """The page."""
    steady = [pair for machine, pairs in found["pairs"].items() if machine in STEADY for pair in pairs]
    text = [f"Each job repeats its collective {repeat} times on `{network}`, with one rank per recorded CPU. *Inside*: the mean slowdown from "
            "recording j lies in the 95 % interval from recording i; with equal errors 83 % would be inside if noise stayed as it was. *Agree*: both means "
            "differ by no more than both intervals allow; 95 % if noise stayed as it was. Only estimates are compared. A bound of i holds if the mean "
            "from j is not below it. Tables of dates i and j have in row i, column j: jobs inside, and jobs that agree, of those compared; x: slowdown of j by that "
            "of i, geometric mean. `tools/real_dates.py` has all definitions.",
            "Dates of one machine come mostly from different nodes, so node, kernel and resolution of the clock may differ too.",
            "## By machine", by_machine(found["pairs"]), "## By distance in time", by_distance(found["pairs"], found["files"])]
    if steady:
        text += [f"## By program, {' and '.join(STEADY)}", by_program(steady)]
    text += ["## At equal resolution\nDetours shorter than the coarsest threshold of the machine are left out of all its recordings.", by_machine(found["equal"])]
    for machine, pairs in found["pairs"].items():
        text += [f"## Dates i and j: {machine}", matrix(pairs)]
    if found["pooled"]:
        text += ["## Several recordings\nHow often k recordings cover the mean from one that was left out, and (in brackets) the median of upper by lower "
                 "end. Later: the one left out came after all others. Over all choices the range covers (k - 1)/(k + 1) by mere counting, whatever the machine: "
                 "only its later column says something about time.", several(found["pooled"]),
                 "By how far the recordings lie apart:", spread(found["pooled"])]
    text += ["## The recordings", listed(found["recordings"])]
    data_page.write(folder, "real-dates", "Real machines: recordings of several dates", "real_dates.py", PAGE, "\n\n".join(text))
