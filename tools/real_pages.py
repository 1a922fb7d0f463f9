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

PAGE = "validation/real-machines.md"
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
    quiet = [row for row in rows if row["machine"] != "Daint"]
    groups = {"all": rows, **({"all but Daint": quiet} if what == "machine" and 0 < len(quiet) < len(rows) else {}), **grouped(rows, key)}
    return data_page.table(head, [[name, len(group), *itertools.chain(*(score(group, model) for model in MODELS))] for name, group in groups.items()])


def of_quantities(rows):
    head = ["quantity"] + [f"{title}: {column}" for title in MODELS.values() for column in ("inside", "width", "error")]
    return data_page.table(head, [[name, *itertools.chain(*(score(rows, model, [name]) for model in MODELS))] for name in TIMES])


def late(rows):
    """What share of runs is late, and what explains it: simulated, without the correction by the smallest node count."""
    table = []
    for machine, group in grouped(rows, lambda row: row["machine"]).items():
        means = [statistics.fmean(row["measured"]["late"] for row in group)]
        means += [statistics.fmean(row["simulated"][model]["late"] for row in group) for model in ("system", "network")]
        hits = [sum(inside(row, model, "late") for row in group) for model in MODELS]
        tails = [statistics.median(math.log(row[kind]["p99"] / row[kind]["p50"]) for row in group)
                 for group, kind in ((group, "measured"), *(([row["simulated"] for row in group], model) for model in ("system", "network")))]
        table.append([machine, len(group), *(f"{100 * mean:.1f} %" for mean in means), *(f"{math.exp(tail):.2f}" for tail in tails),
                      *(f"{hit} of {len(group)}" for hit in hits)])
    head = [f"{what}: {source}" for what in ("late", "p99 by p50") for source in ("measured", "system noise", "and measured network noise")]
    return data_page.table(["machine", "cases", *head, *(f"inside, {title}" for title in MODELS.values())], table)


def with_median(rows):
    """How many p90, p99 and means are inside as predicted, and if the median had been known: what is missing is the time without noise, or the noise."""
    table = []
    for machine, group in {**({"all": rows} if rows else {}), **grouped(rows, lambda row: row["machine"])}.items():
        line = [machine]
        for model in MODELS:
            before = after = 0
            for row, name in itertools.product(group, TIMES[1:]):
                known = row["measured"]["p50"] / row["models"][model]["p50"][0]
                _, low, high = row["models"][model][name]
                before += inside(row, model, name)
                after += low * known <= row["measured"][name] <= high * known
            line += [f"{100 * count / len(group) / len(TIMES[1:]):.0f} %" for count in (before, after)]
        table.append(line)
    return data_page.table(["machine", *(f"{title}: {column}" for title in MODELS.values() for column in ("as predicted", "median known"))], table)


def growth(rows):
    """Measured by predicted medians of each program, by node count."""
    nodes, table = sorted({row["nodes"] for row in rows}), []
    for (machine, collective, size), group in sorted(grouped(rows, lambda row: (row["machine"], row["collective"], row["bytes"])).items()):
        line = [machine, collective, size]
        for count in nodes:
            ratios = [math.exp(-error(row, "system", "p50")) for row in group if row["nodes"] == count]
            line.append(" ".join(f"{ratio:.2f}" for ratio in ratios) or "-")
        table.append(line)
    return data_page.table(["machine", "collective", "bytes", *(f"{count} nodes" for count in nodes)], table)


def unadjusted(rows):
    """Medians by the measured network alone, and with the factor that is right on the smallest node count."""
    table = []
    for machine, group in grouped(rows, lambda row: row["machine"]).items():
        errors = [[abs(math.log(row["simulated"][model]["p50"] / row["measured"]["p50"])) for row in group] for model in ("unadjusted", "system")]
        table.append([machine, len(group), *(f"{average(column):.2f}" for column in errors for average in (statistics.median, statistics.fmean))])
    head = [f"{network}: {average}" for network in ("network as measured", "and one factor from 4 nodes") for average in ("median", "mean")]
    return data_page.table(["machine", "cases", *head], table)


def difference(pairs, name):
    return f"{statistics.median(abs(math.log(a[name] / b[name])) for a, b in pairs):.2f}" if pairs else "-"


def drift(rows):
    """Median |log| between two halves of a run, two sessions of a machine, and prediction and measurement."""
    table = []
    for machine, group in grouped(rows, lambda row: row["machine"]).items():
        twins = grouped(group, lambda row: (row["collective"], row["bytes"], row["nodes"])).values()
        sessions = [(a["measured"], b["measured"]) for twin in twins for a, b in itertools.combinations(twin, 2)]
        for name in TIMES:
            ours = [f"{statistics.median(abs(error(row, model, name)) for row in group):.2f}" for model in MODELS]
            table.append([machine, name, difference([row["halves"] for row in group], name), difference(sessions, name), *ours])
    return data_page.table(["machine", "quantity", "halves of a run", "two sessions", *(f"predicted {title}" for title in MODELS.values())], table)


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
    """Errors of both; LogGOPSim's times also scaled to the median on the smallest node count, as ours are."""
    published, both = of_loggopsim(path), collections.defaultdict(list)
    for row in rows:
        machine = *INSTANCES[row["machine"]], row["collective"], row["bytes"]
        times, smallest = published.get((*machine, row["nodes"])), published.get((*machine, row["smallest"]["nodes"]))
        if times and smallest:
            theirs, factor = real_model.summary(times), row["smallest"]["p50"] / real_model.summary(smallest)["p50"]
            for name in TIMES:
                scaled = [abs(math.log(theirs[name] * f / row["measured"][name])) for f in (1.0, factor)]
                came_out = [abs(math.log(row["simulated"][model][name] / row["measured"][name])) for model in ("system", "network")]
                both[row["machine"], row["collective"], row["bytes"], row["nodes"]].append([*scaled, *came_out, *(abs(error(row, model, name)) for model in MODELS)])
    every = [errors for group in both.values() for errors in group]
    if not every:
        return "No case has a prediction of both."
    quiet = [errors for key, group in both.items() for errors in group if key[0] != "Daint"]
    groups = [(("all", "", "", ""), every), (("all but Daint", "", "", ""), quiet), *sorted(both.items())]
    table = [[*key, len(group), *(f"{statistics.fmean(column):.2f}" for column in zip(*group))] for key, group in groups if group]
    ours = ["system noise, scaled", "and measured network noise, scaled", *(f"predicted {title}" for title in MODELS.values())]
    nearer = [f"{title}: {percent(sum(errors[2 + place] < errors[1] for errors in every), len(every))}" for place, title in enumerate(ours)]
    head = ["machine", "collective", "bytes", "nodes", "quantities", "LogGOPSim", "LogGOPSim, scaled", *ours]
    return data_page.table(head, table) + "\n\nNearer than LogGOPSim, scaled, are: " + "; ".join(nearer) + "."


def note(digest):
    return f"Predictions were registered with SHA-256 `{digest}` before runs on more than 4 nodes were opened."


def write(folder, rows, digest, published):
    """All pages of docs/validation/data about real machines."""
    tool, counted = "real_machines.py", [row for row in rows if not in_view(row)]
    text = [note(digest) + f" {len(counted)} cases count; {len(rows) - len(counted)} were in view and do not. A case is a program of one session on one "
            "node count. Inside: how many of the measured p50, p90, p99 and means lie in their 95 % interval. Width: upper by lower end, median. "
            "Error: mean absolute natural logarithm of predicted by measured.",
            "By machine, quantity, number of nodes, collective and bytes:",
            scores(counted, "machine", lambda row: row["machine"]), of_quantities(counted), scores(counted, "nodes", lambda row: row["nodes"]),
            scores(counted, "collective", lambda row: row["collective"]), scores(counted, "bytes", lambda row: row["bytes"])]
    data_page.write(folder, "real-machines-summary", "Real machines: how many predictions hold", tool, PAGE, "\n\n".join(text))
    text = ["## Late runs and tails\nRuns that take over 1.5 times their median, mean share over all cases; p99 by p50, median over all cases. What was simulated stands here as it "
            "came out, without the correction by 4 nodes. Inside: in how many cases the registered interval of the late share holds.", late(counted),
            "## If the median had been known\nHow many p90, p99 and means are inside, as predicted and after all of a case is scaled to its measured median.",
            with_median(counted),
            "## Without the factor\nAbsolute logarithm of simulated by measured medians: by netgauge's network alone and no noise, and with the one factor.",
            unadjusted(counted), "## By program\nMeasured by predicted medians without network noise, of each session.", growth(counted),
            "## How steady the machines are\nMedian absolute logarithm: of two halves of one run, of two sessions with the same program, of prediction by "
            "measurement.", drift(counted)]
    data_page.write(folder, "real-machines-missing", "Real machines: what the predictions miss", tool, PAGE, "\n\n".join(text))
    data_page.write(folder, "real-machines-adjusted", "Real machines: what was adjusted on 4 nodes", tool, PAGE, adjusted(rows))
    for machine, group in grouped(rows, lambda row: row["machine"]).items():
        name = machine.lower().replace(" ", "-")
        data_page.write(folder, f"real-machines-{name}", f"Real machines: {machine}", tool, PAGE, note(digest) + " Times in us.\n\n" + cases(group))
    if published:
        data_page.write(folder, "real-machines-loggopsim", "Real machines: beside LogGOPSim", tool, PAGE,
                        "Mean absolute logarithm of predicted by measured over p50, p90, p99 and mean, wherever the authors published a prediction of "
                        "LogGOPSim with system and network noise (`simulations/total.tar.xz`). Scaled: all of its times by the "
                        "factor that makes its median on 4 nodes that of the session; what idlewave simulated is adjusted in the same way, and stands without and with "
                        "the further corrections that predictions have.\n\n" + beside_loggopsim(counted, published))


COLOURS = dict(zip(MODELS, ("#1f77b4", "#d95f02", "#4d9221")))


def draw_machine(panel, ticker, machine, rows):
    """Measured by predicted of each case, filled where it lies in the interval."""
    for (place, name), (number, model) in itertools.product(enumerate(TIMES), enumerate(MODELS)):
        for index, row in enumerate(rows):
            x = place + 0.28 * (number - 1) + 0.2 * (index / max(len(rows) - 1, 1) - 0.5)
            panel.plot(x, math.exp(-error(row, model, name)), "o", markersize=3.5, markeredgewidth=0.7, markeredgecolor=COLOURS[model],
                       markerfacecolor=COLOURS[model] if inside(row, model, name) else "none", alpha=0.8)
    panel.axhline(1.0, color="black", linewidth=0.8)
    panel.set_yscale("log")
    panel.set_ylim(min(panel.get_ylim()[0], 0.4), max(panel.get_ylim()[1], 2.5))
    panel.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    panel.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    panel.yaxis.set_minor_formatter(ticker.NullFormatter())
    panel.set_xticks(range(len(TIMES)), TIMES)
    panel.set_title(f"{machine}: {len(rows)} cases", fontsize=11)
    panel.grid(axis="y", linewidth=0.3)


def draw(path, rows):
    """One panel a machine."""
    import matplotlib  # pylint: disable=import-outside-toplevel
    matplotlib.use("Agg")
    from matplotlib import pyplot, ticker  # pylint: disable=import-outside-toplevel
    machines = grouped(rows, lambda row: row["machine"])
    figure, panels = pyplot.subplots(2, math.ceil(len(machines) / 2), figsize=(13, 7), squeeze=False)
    for panel, (machine, group) in zip(panels.flat, machines.items()):
        draw_machine(panel, ticker, machine, group)
    for panel in panels[:, 0]:
        panel.set_ylabel("measured / predicted")
    handles = [pyplot.Line2D([], [], marker="o", linestyle="", color=COLOURS[model], label=title) for model, title in MODELS.items()]
    handles.append(pyplot.Line2D([], [], marker="o", linestyle="", color="grey", markerfacecolor="none", label="outside the 95 % interval"))
    figure.legend(handles=handles, loc="lower center", ncol=4, frameon=False)
    figure.tight_layout(rect=(0, 0.05, 1, 1))
    figure.savefig(path, dpi=110)
