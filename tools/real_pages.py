"""Writes the pages and the picture about predicted and measured times on real machines (tools/real_machines.py).

SPDX-License-Identifier: BSD-3-Clause
"""

import collections
import csv
import itertools
import math
import statistics

import data_page
import real_model

PAGE = "docs/validation/real-machines.md"
TIMES = ("p50", "p90", "p99", "mean")  # what is counted; late shares are shown beside them
MODELS = {"system": "without network noise", "network": "with measured network noise", "fitted": "with network noise as 4 nodes see it"}
INSTANCES = {"DEEP-EST": ("DEEP-EST", "HPC (Metal)"), "Alps": ("Alps", "HPC (Metal)"), "Daint": ("Daint", "HPC (Metal)"), "GCP": ("GCP", "HPC"),
             "Azure HC44rs": ("Azure", "HPC"), "Oracle": ("Oracle", "HPC (Metal)")}  # as LogGOPSim's results name them


def in_view(row):
    """Was known before the model was made: shown, but not counted."""
    return row["machine"] == "DEEP-EST" and row["collective"].startswith("nwaydissemination") and row["bytes"] == 16


def inside(row, model, name):
    _, low, high = row["models"][model][name]
    return low <= row["measured"][name] <= high


def error(row, model, name):
    return math.log(row["models"][model][name][0] / row["measured"][name])


def width(row, model, name):
    _, low, high = row["models"][model][name]
    return high / low


def percent(part, whole):
    return f"{part} of {whole} ({100 * part / whole:.0f} %)" if whole else "-"


def score(rows, model, names=TIMES):
    """(inside, median width, mean absolute log error), as words of a table."""
    pairs = list(itertools.product(rows, names))
    if not pairs:
        return ["-", "-", "-"]
    return [percent(sum(inside(row, model, name) for row, name in pairs), len(pairs)),
            f"{statistics.median(width(row, model, name) for row, name in pairs):.2f}",
            f"{statistics.fmean(abs(error(row, model, name)) for row, name in pairs):.2f}"]


def grouped(rows, key):
    found = collections.defaultdict(list)
    for row in rows:
        found[key(row)].append(row)
    return found


def scores(rows, what, key):
    head = [what, "cases"] + [f"{title}: {column}" for title in MODELS.values() for column in ("inside", "width", "error")]
    groups = {"all": rows, **grouped(rows, key)}
    return data_page.table(head, [[name, len(group), *itertools.chain(*(score(group, model) for model in MODELS))] for name, group in groups.items()])


def of_quantities(rows):
    head = ["quantity"] + [f"{title}: {column}" for title in MODELS.values() for column in ("inside", "width", "error")]
    return data_page.table(head, [[name, *itertools.chain(*(score(rows, model, [name]) for model in MODELS))] for name in TIMES])


def late(rows):
    """What share of runs is late, and which part of that is predicted."""
    table = []
    for machine, group in grouped(rows, lambda row: row["machine"]).items():
        means = [statistics.fmean(row["measured"]["late"] for row in group)]
        means += [statistics.fmean(row["models"][model]["late"][0] for row in group) for model in MODELS]
        hits = [sum(inside(row, model, "late") for row in group) for model in MODELS]
        table.append([machine, len(group), *(f"{100 * mean:.1f} %" for mean in means), *(f"{hit} of {len(group)}" for hit in hits)])
    return data_page.table(["machine", "cases", "measured", *MODELS.values(), *(f"inside, {title}" for title in MODELS.values())], table)


def spread(values):
    return f"{statistics.fmean(values):+.2f} ± {statistics.pstdev(values):.2f}"


def missing(rows):
    """log(measured / predicted) of the median and of p99 by node count: a model without something misses more on more nodes."""
    table = []
    for (machine, nodes), group in sorted(grouped(rows, lambda row: (row["machine"], row["nodes"])).items()):
        table.append([machine, nodes, len(group), *(spread([-error(row, model, name) for row in group]) for name in ("p50", "p99") for model in MODELS)])
    return data_page.table(["machine", "nodes", "cases", *(f"{name}, {title}" for name in ("p50", "p99") for title in MODELS.values())], table)


def drift(rows):
    """|log| of what two sessions of one machine measured of the same program on the same nodes, beside the error of predictions of the same cases."""
    table = []
    for machine, group in grouped(rows, lambda row: row["machine"]).items():
        twins = [pair for twin in grouped(group, lambda row: (row["collective"], row["bytes"], row["nodes"])).values() for pair in itertools.combinations(twin, 2)]
        if twins:
            row = [machine, len(twins)]
            for name in TIMES:
                between = statistics.median(abs(math.log(a["measured"][name] / b["measured"][name])) for a, b in twins)
                ours = statistics.median(min(abs(error(r, model, name)) for model in ("system",)) for pair in twins for r in pair)
                row.append(f"{between:.2f} / {ours:.2f}")
            table.append(row)
    return data_page.table(["machine", "pairs of sessions", *TIMES], table)


def cases(rows):
    head = ["session", "collective", "bytes", "nodes", "quantity", "measured"] + [title for title in MODELS.values()]
    table = []
    for row in rows:
        for name in (*TIMES, "late"):
            scale, unit = (100, " %") if name == "late" else (1, "")
            values = [f"{row['models'][model][name][0] * scale:.4g} ({row['models'][model][name][1] * scale:.4g} to {row['models'][model][name][2] * scale:.4g})"
                      + ("" if inside(row, model, name) else " **out**") for model in MODELS]
            table.append([row["session"].split("/")[1][:10].replace("_", "-"), row["collective"] + (" (in view)" if in_view(row) else ""), row["bytes"],
                          row["nodes"], name, f"{row['measured'][name] * scale:.4g}{unit}", *values])
    return data_page.table(head, table)


def adjusted(rows):
    """What was chosen on the smallest node count, of each series."""
    seen = {(row["session"], row["collective"], row["bytes"]): row for row in rows}
    table = [[row["machine"], row["session"].split("/")[1][:16].replace("_", "-"), row["collective"], row["bytes"], row["smallest"]["runs"],
              *(f"{row['factors'][model]:.2f}" for model in MODELS), f"{100 * row['smallest']['late']:.1f} %", ", ".join(row["recordings"])]
             for row in seen.values()]
    return data_page.table(["machine", "session", "collective", "bytes", "runs", *(f"factor, {title}" for title in MODELS.values()), "late on 4 nodes",
                            "recordings"], table)


def of_loggopsim(path):
    """LogGOPSim's published times by (provider, instance, collective, bytes, nodes): with system and network noise."""
    found = collections.defaultdict(list)
    with open(path, encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            if row["Noise"] == "os+net" and row["Message Size"] in ("16", "16777216"):
                found[row["Provider"], row["Instance Type"], row["Collective"], int(row["Message Size"]), int(row["Nodes"])].append(float(row["Time (us)"]))
    return found


def beside_loggopsim(rows, path):
    published, both = of_loggopsim(path), collections.defaultdict(list)
    for row in rows:
        times = published.get((*INSTANCES[row["machine"]], row["collective"], row["bytes"], row["nodes"]))
        if times:
            theirs = real_model.summary(times)
            for name in TIMES:
                both[row["machine"], row["collective"], row["bytes"], row["nodes"]].append(
                    [abs(math.log(theirs[name] / row["measured"][name])), *(abs(error(row, model, name)) for model in MODELS)])
    every = [errors for group in both.values() for errors in group]
    if not every:
        return "No case has a prediction of both."
    table = [[*key, len(group), *(f"{statistics.fmean(column):.2f}" for column in zip(*group))] for key, group in [(("all", "", "", ""), every), *sorted(both.items())]]
    nearer = sum(errors[1] < errors[0] for errors in every)
    return (data_page.table(["machine", "collective", "bytes", "nodes", "quantities", "LogGOPSim", *MODELS.values()], table)
            + f"\n\nWithout network noise, idlewave is nearer in {percent(nearer, len(every))} quantities.")


def note(digest):
    return f"Predictions were registered with SHA-256 `{digest}` before runs on more than 4 nodes were opened."


def write(folder, rows, digest, published):
    """All pages of docs/validation/data about real machines."""
    tool, counted = "real_machines.py", [row for row in rows if not in_view(row)]
    text = [note(digest) + f" {len(counted)} cases count; {len(rows) - len(counted)} were in view and do not. A case is a program of one session on one "
            "node count. Inside: how many of the measured p50, p90, p99 and means lie in their 95 % interval. Width: upper by lower end, median. "
            "Error: mean absolute natural logarithm of predicted by measured.",
            scores(counted, "machine", lambda row: row["machine"]), of_quantities(counted), scores(counted, "nodes", lambda row: row["nodes"]),
            scores(counted, "collective", lambda row: row["collective"]), scores(counted, "bytes", lambda row: row["bytes"])]
    data_page.write(folder, "real-machines-summary", "Real machines: how many predictions hold", tool, PAGE, "\n\n".join(text))
    text = ["## Late runs\nRuns that take over 1.5 times their median: mean share over all cases, and in how many cases the interval holds.", late(counted),
            "## By node count\nNatural logarithm of measured by predicted: mean and standard deviation over cases.", missing(counted),
            "## Between sessions\nMedian absolute logarithm of the same quantity in two sessions of one machine / of predicted (without network noise) "
            "by measured in the same cases.", drift(counted)]
    data_page.write(folder, "real-machines-missing", "Real machines: what the predictions miss", tool, PAGE, "\n\n".join(text))
    data_page.write(folder, "real-machines-adjusted", "Real machines: what was adjusted on 4 nodes", tool, PAGE, adjusted(rows))
    for machine, group in grouped(rows, lambda row: row["machine"]).items():
        name = machine.lower().replace(" ", "-")
        data_page.write(folder, f"real-machines-{name}", f"Real machines: {machine}", tool, PAGE, note(digest) + " Times in us.\n\n" + cases(group))
    if published:
        data_page.write(folder, "real-machines-loggopsim", "Real machines: beside LogGOPSim", tool, PAGE,
                        "Mean absolute logarithm of predicted by measured over p50, p90, p99 and mean, wherever the authors published a prediction of "
                        "LogGOPSim with system and network noise (`simulations/total.tar.xz`).\n\n" + beside_loggopsim(counted, published))


def draw(path, rows):
    """One panel a machine: measured by predicted of each case, filled where it lies in the interval."""
    import matplotlib  # pylint: disable=import-outside-toplevel
    matplotlib.use("Agg")
    from matplotlib import pyplot  # pylint: disable=import-outside-toplevel
    machines = grouped(rows, lambda row: row["machine"])
    figure, panels = pyplot.subplots(2, math.ceil(len(machines) / 2), figsize=(13, 7), sharey=True, squeeze=False)
    colours = dict(zip(MODELS, ("#1f77b4", "#d95f02", "#4d9221")))
    for panel, (machine, group) in zip(panels.flat, machines.items()):
        for (place, name), (number, model) in itertools.product(enumerate(TIMES), enumerate(MODELS)):
            for index, row in enumerate(group):
                x = place + 0.28 * (number - 1) + 0.2 * (index / max(len(group) - 1, 1) - 0.5)
                held = inside(row, model, name)
                panel.plot(x, math.exp(-error(row, model, name)), "o", markersize=3.5, markerfacecolor=colours[model] if held else "none",
                           markeredgecolor=colours[model], markeredgewidth=0.7, alpha=0.8)
        panel.axhline(1.0, color="black", linewidth=0.8)
        panel.set_yscale("log")
        panel.set_xticks(range(len(TIMES)), TIMES)
        panel.set_title(f"{machine}: {len(group)} cases", fontsize=11)
        panel.grid(axis="y", linewidth=0.3)
    for panel in panels[:, 0]:
        panel.set_ylabel("measured / predicted")
    handles = [pyplot.Line2D([], [], marker="o", linestyle="", color=colours[model], label=title) for model, title in MODELS.items()]
    handles.append(pyplot.Line2D([], [], marker="o", linestyle="", color="grey", markerfacecolor="none", label="outside the 95 % interval"))
    figure.legend(handles=handles, loc="lower center", ncol=4, frameon=False)
    figure.tight_layout(rect=(0, 0.05, 1, 1))
    figure.savefig(path, dpi=110)
