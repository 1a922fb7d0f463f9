"""Allreduce on clouds: networks and noise fitted on up to 128 nodes, predicted on 256. For real_clouds.py.

SPDX-License-Identifier: BSD-3-Clause

A network is made of osu_latency (medians over pairs of nodes and over clusters of up to 128 nodes) and of the best osu_bw, which the
ranks of a node share. Two values are fitted for each cloud, by the medians of its runs: the rate of detours of 1 ms on average on
each rank, on short messages, and how many ranks of a node send at once, on long ones. The same fit on 32 and 64 nodes predicts 128:
the usual error of that, over all clouds, is the interval of the prediction for 256.
"""

import csv
import json
import math
import statistics
import subprocess
import tempfile

import data_page

TABLES = "analysis/osu-benchmarks/data/osu_{}-{}-dataframe.csv"
FITTED, HELD_OUT = (32, 64, 128), 256
# Ranks on each node: as many as it has cores.
CLOUDS = {"aws/eks": 96, "aws/parallel-cluster": 96, "azure/aks": 96, "azure/cyclecloud": 96, "google/compute-engine": 56, "google/gke": 56}
SHORT, LONG = (4, 1024), (16384, 131072, 1048576)
RATES_HZ = (0.0, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
SENDERS = (1, 4, 16, 0)  # of the ranks of a node; 0: all
REPEAT = {True: 20, False: 8}  # allreduces in a simulation, of short messages and of long ones
KNOTS = (1, 1024, 8192, 65536, 1048576, 4194304)  # sizes of osu_latency between which lines are drawn
RULES = "ompi-4.1"  # all containers have Open MPI 4.1
T_975 = {1: 12.71, 2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 6: 2.45}


# ---- what was measured ----

def read(folder, benchmark, column, nodes):
    """Values by (cloud, bytes) of one number of nodes."""
    values, path = {}, folder / TABLES.format(benchmark, nodes)
    if path.exists():
        with open(path, encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines):
                if row["env_type"] == "cpu" and int(row["nodes"]) == nodes:
                    values.setdefault((f"{row['cloud']}/{row['env']}", int(float(row["size"]))), []).append(float(row[column]))
    return values


def medians(folder, nodes):
    return {key: statistics.median(values) for key, values in read(folder, "allreduce", "avg_latency_us", nodes).items()}


def pooled(folder, benchmark, column, cloud):
    """All values by size, of clusters that may be looked at."""
    found = {}
    for nodes in FITTED:
        for (name, size), values in read(folder, benchmark, column, nodes).items():
            if name == cloud:
                found.setdefault(size, []).extend(values)
    return found


# ---- simulations ----

def rising(pairs):
    """Larger messages take no less time."""
    longest, kept = 0.0, []
    for size, us in sorted(pairs):
        longest = max(longest, us)
        kept.append((size, longest))
    return kept


def network(folder, cloud, senders):
    """The YAML of a cloud's network. The inside of a node was not measured: it is a guess."""
    latency = pooled(folder, "latency", "latency_us", cloud)
    points = rising((size, statistics.median(latency[size])) for size in KNOTS if size in latency)
    lines = []
    for (size, us), (next_size, next_us) in zip(points, points[1:]):
        start = "L" if not lines else f"from: {size}, L"
        us += 0.001 * len(lines)  # rounding must not make a larger message faster
        lines.append(f"{start}: {us:.4f}us, o: 0, g: {us - points[0][1]:.4f}us, G: {1e3 * (next_us - us) / (next_size - size):.6f}ns")
    best = max(value for size, values in pooled(folder, "bw", "bandwidth_mb_s", cloud).items() for value in values)
    active = f", active: {senders}" if senders else ""
    segments = "\n".join(f"      - {{{line}}}" for line in lines[1:])
    return (f"levels:\n  - {{name: node, ranks: {CLOUDS[cloud]}, L: 0.6us, o: 0.2us, g: 0.2us, G: 0.1ns}}\n"
            f"  - name: network\n" + "".join(f"    {part}\n" for part in lines[0].split(", ")) + "    S: 1GiB\n"
            + f"    segments:\n{segments}\nnics: {{count: 1, G: {1e3 / best:.6f}ns, node: node{active}}}\n")


class Simulator:
    """Mean times of an allreduce in us."""

    def __init__(self, folder, idlewave):
        self.folder, self.idlewave, self.known, self.networks = folder, idlewave, {}, {}

    def time_us(self, cloud, nodes, size, rate_hz, senders):
        key = (cloud, nodes, size, rate_hz, senders)
        if key not in self.known:
            self.known[key] = self.run(*key)
        return self.known[key]

    def run(self, cloud, nodes, size, rate_hz, senders):
        repeat = REPEAT[size in SHORT]
        if (cloud, senders) not in self.networks:
            self.networks[cloud, senders] = network(self.folder, cloud, senders)
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as net:
            net.write(self.networks[cloud, senders])
            net.flush()
            noise = ["--noise", f"poisson:{rate_hz:g}Hz,exp:1ms"] if rate_hz else []
            words = [self.idlewave, "simulate", "--pattern", "allreduce", "--collectives", RULES, "--ranks", str(nodes * CLOUDS[cloud]), "--bytes",
                     str(size), "--repeat", str(repeat), "--net", net.name, *noise, "--threads", "1", "--quiet", "--format", "json"]
            answer = json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)
        return answer["makespan_ns"]["mean"] / 1e3 / repeat


# ---- fits ----

def interpolated(table, rate_hz):
    """Times at the rates of the grid, linear in between."""
    for low, high in zip(RATES_HZ, RATES_HZ[1:]):
        if rate_hz <= high:
            return table[low] + (table[high] - table[low]) * (rate_hz - low) / (high - low)
    return table[RATES_HZ[-1]]


def fit_rate(tables, measured):
    """Of all rates between those of the grid, the one with the least squares of logarithms. Both by (nodes, bytes)."""
    def error(rate):
        return sum(math.log(interpolated(tables[key], rate) / us) ** 2 for key, us in measured.items())
    steps = [low + (high - low) * i / 20 for low, high in zip(RATES_HZ, RATES_HZ[1:]) for i in range(20)] + [RATES_HZ[-1]]
    return min(steps, key=error)


def fit_senders(simulator, cloud, rate_hz, measured):
    def error(senders):
        return sum(math.log(simulator.time_us(cloud, nodes, size, rate_hz, senders) / us) ** 2 for (nodes, size), us in measured.items())
    return min(SENDERS, key=error)


def fitted(simulator, cloud, seen):
    """The rate and the number of senders that fit what was `seen`, medians by (nodes, bytes)."""
    short = {key: us for key, us in seen.items() if key[1] in SHORT}
    tables = {key: {rate: simulator.time_us(cloud, *key, rate, 0) for rate in RATES_HZ} for key in short}
    rate = fit_rate(tables, short)
    return rate, fit_senders(simulator, cloud, rate, {key: us for key, us in seen.items() if key[1] in LONG})


def seen_of(measured, cloud, counts):
    return {(nodes, size): measured[nodes][cloud, size] for nodes in counts for size in SHORT + LONG if (cloud, size) in measured[nodes]}


def spread(errors):
    """Half an interval of 95 % of logarithms, from the errors of each cloud: those of one cloud are alike. The median of the clouds
    counts, so that one whose values make no sense does not decide for all."""
    sizes = [math.sqrt(statistics.fmean(error * error for error in of_cloud)) for of_cloud in errors if of_cloud]
    return T_975.get(len(sizes), 2.3) * statistics.median(sizes) if sizes else math.inf


def predict(folder, idlewave):
    """For each cloud that was measured on 32, 64 and 128 nodes or two of them: what 256 take, in us."""
    simulator = Simulator(folder, idlewave)
    measured = {nodes: medians(folder, nodes) for nodes in FITTED}
    fits, errors, tried, rows = {}, {True: [], False: []}, {}, []
    for cloud in CLOUDS:
        counts = [nodes for nodes in FITTED if (cloud, SHORT[0]) in measured[nodes]]
        if len(counts) < 2:
            continue
        fits[cloud] = fitted(simulator, cloud, seen_of(measured, cloud, counts))
        if len(counts) == len(FITTED):
            rate, senders = fitted(simulator, cloud, seen_of(measured, cloud, counts[:-1]))
            for is_short, sizes in ((True, SHORT), (False, LONG)):
                errors[is_short].append([math.log(measured[counts[-1]][cloud, size] / simulator.time_us(cloud, counts[-1], size, rate, senders))
                                         for size in sizes if (cloud, size) in measured[counts[-1]]])
            tried[cloud] = {"short": errors[True][-1], "long": errors[False][-1]}
    half = {is_short: spread(of_size) for is_short, of_size in errors.items()}
    for cloud, (rate, senders) in fits.items():
        for size in SHORT + LONG:
            us, factor = simulator.time_us(cloud, HELD_OUT, size, rate, senders), math.exp(half[size in SHORT])
            rows.append({"cloud": cloud, "bytes": size, "rate_hz": rate, "senders": senders, "us": us, "low_us": us / factor, "high_us": us * factor,
                         "quiet_us": simulator.time_us(cloud, HELD_OUT, size, 0.0, senders)})
    return {"back_test": tried, "rows": rows}


# ---- the page ----

def shown(us):
    return f"{us:.3g}" if us < 1000 else f"{us:.0f}"


def back_test(tried):
    """How far the same fit on fewer nodes was off, as factors; known when the predictions were made."""
    rows = [[cloud, *(", ".join(f"{math.exp(error):.2g}" for error in errors[kind]) for kind in ("short", "long"))] for cloud, errors in tried.items()]
    return ("Fitted on 32 and 64 nodes, measured over predicted on 128; the interval is made of this:\n\n"
            + data_page.table(["cloud", ", ".join(map(str, SHORT)) + " bytes", ", ".join(map(str, LONG)) + " bytes"], rows))


def growth_guess(before, last, key):
    """Once more as much longer as 128 nodes take than 64: a guess without a simulation."""
    return last[key] ** 2 / before[key] if key in before and key in last else math.nan


def compared(folder, predictions):
    """What was predicted, with the values measured on 256 nodes and logarithms of measured over predicted."""
    measured, found = read(folder, "allreduce", "avg_latency_us", HELD_OUT), []
    before, last = medians(folder, FITTED[-2]), medians(folder, FITTED[-1])
    for row in predictions["rows"]:
        key = (row["cloud"], row["bytes"])
        if key in measured:
            middle = statistics.median(measured[key])
            found.append(row | {"values": measured[key], "middle": middle, "inside": row["low_us"] <= middle <= row["high_us"],
                                "error": math.log(middle / row["us"]), "quiet_error": math.log(middle / row["quiet_us"]),
                                "same_error": math.log(middle / last.get(key, math.nan)), "grown_error": math.log(middle / growth_guess(before, last, key))})
    return found


def mean_of(rows, key):
    """Of absolute logarithms; those that could not be made do not count."""
    return f"{statistics.fmean([abs(row[key]) for row in rows if math.isfinite(row[key])] or [math.nan]):.2f}"


def shifted(rows, tried):
    """What the usual error on 128 nodes would have made of the predictions, had they been shifted by it."""
    shift = {kind: statistics.median([error for errors in tried.values() for error in errors[kind]] or [0.0]) for kind in ("short", "long")}
    errors = [(row, row["error"] - shift["short" if row["bytes"] in SHORT else "long"]) for row in rows]
    inside = sum(math.log(row["low_us"] / row["us"]) <= error <= math.log(row["high_us"] / row["us"]) for row, error in errors)
    return (f"Not registered: shifted by the median error on 128 nodes, which was known (factors of {math.exp(shift['short']):.2f} and {math.exp(shift['long']):.2f}), "
            f"{inside} of {len(rows)} would be inside, with a mean absolute log error of {statistics.fmean(abs(error) for _, error in errors):.2f}.")


def cloud_table(rows):
    by_cloud = {}
    for row in rows:
        by_cloud.setdefault(row["cloud"], []).append(row)
    return data_page.table(["cloud", "inside", "mean absolute log error", "without noise", "guess: as on 128 nodes", "guess: growth goes on"],
                           [[cloud, f"{sum(row['inside'] for row in of_cloud)} of {len(of_cloud)}",
                             *(mean_of(of_cloud, key) for key in ("error", "quiet_error", "same_error", "grown_error"))] for cloud, of_cloud in
                            [*by_cloud.items(), ("all", rows)]])


def text(folder, predictions):
    """Predicted and measured on 256 nodes."""
    rows = compared(folder, predictions)
    if not rows:
        return "Nothing was measured on 256 nodes."
    head = ["cloud", "bytes", "detours of 1 ms per s and rank (fitted)", "ranks of a node that send at once (fitted)", "predicted without noise, us",
            "predicted, us", "95 % interval, us", "measured median, us", "least to largest run, us", "runs", "inside"]
    lines = [[row["cloud"], row["bytes"], f"{row['rate_hz']:.2g}", row["senders"] or "all", shown(row["quiet_us"]), shown(row["us"]),
              f"{shown(row['low_us'])} to {shown(row['high_us'])}", shown(row["middle"]), f"{shown(min(row['values']))} to {shown(max(row['values']))}",
              len(row["values"]), "yes" if row["inside"] else "no"] for row in rows]
    width = statistics.median(row["high_us"] / row["low_us"] for row in rows)
    return "\n\n".join([f"{sum(row['inside'] for row in rows)} of {len(rows)} medians are inside. Median width of the intervals: a factor of {width:.1f}.",
                        cloud_table(rows), shifted(rows, predictions["back_test"]), data_page.table(head, lines), back_test(predictions["back_test"])])
