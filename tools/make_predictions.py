#!/usr/bin/env python3
"""Remakes the tables of docs/validation/predictions.md, which are in docs/validation/data: what `net` and `simulate` say beside what real programs take.

SPDX-License-Identifier: BSD-3-Clause

Usage: make_predictions.py BUILD_DIR [--rounds 4] [--duration 8s] [--only levels] [--data DIR]
    BUILD_DIR is a release build without sanitizers. Needs both MPIs, two cores that nobody else uses, and root for the two
    "hosts" (network namespaces; they are removed again). Takes about 20 minutes.
"""

import argparse
import json
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile

import data_page

sys.path.insert(0, str(data_page.ROOT / "tests" / "mpi"))
import net_support  # noqa: E402
import run_mpi  # noqa: E402
import validate_levels  # noqa: E402
import validate_net  # noqa: E402

MPI_NAMES = {"openmpi": "Open MPI", "mpich": "MPICH"}
NETWORK_NAMES = {"shm": "shared memory", "tcp": "TCP"}
VERDICTS = {"ok": "within 15 %", "off": "**not**", "noisy": "not judged"}
PARAMETERS = ("L_ns", "half_round_trip_ns", "o_send_ns", "o_recv_ns", "g_ns")


def time_text(ns):
    value, unit = (ns, "ns") if ns < 1e3 else (ns / 1e3, "us") if ns < 1e6 else (ns / 1e6, "ms")
    return f"{value:.3g} {unit}" if value < 999.5 else f"{value:.0f} {unit}"


# ---- where it ran ----

def machine(cases):
    """No date, no host name: what the numbers depend on."""
    facts = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    model = re.search(r"model name\s*: (.*)", facts)
    is_virtual = " hypervisor" in facts
    versions = {re.sub(r",? package.*|Version:\s*", "", case.nets["pingpong"][0]["mpi_version"]).strip() for case in cases}
    return (f"{net_support.cores()} {'virtual ' if is_virtual else ''}cores ({model.group(1) if model else platform.machine()}), "
            f"Linux {platform.release()}; {' and '.join(sorted(versions))}.")


# ---- net twice ----

def twice_row(arguments, mpi, network):
    with tempfile.TemporaryDirectory(prefix="iw_twice_") as folder:
        net_support.wait_until_quiet()
        first, second = (net_support.level_of(net_support.measure(mpi, 2, arguments.idlewave, pathlib.Path(folder) / "net.yaml",
                                                                  "4s", network, launches=5), "node") for _ in range(2))
    met = [name for name in PARAMETERS if net_support.overlap(first[name], second[name])]
    points = {point["bytes"]: point["half_round_trip_ns"] for point in second["points"]}
    both = [(point["half_round_trip_ns"], points[point["bytes"]]) for point in first["points"] if point["bytes"] in points]
    sizes = sum(net_support.overlap(a, b) for a, b in both)
    farthest = max(max(a["value"], b["value"]) / min(a["value"], b["value"]) for a, b in both
                   if not net_support.overlap(a, b)) if sizes < len(both) else 1
    apart = ", ".join(name.removesuffix("_ns") for name in PARAMETERS if name not in met) or "none"
    return (len(met), sizes, len(both)), [MPI_NAMES[mpi], NETWORK_NAMES[network],
                                          *(time_text(level["half_round_trip_ns"]["value"]) for level in (first, second)),
                                          f"{len(met)} of {len(PARAMETERS)}", apart, f"{sizes} of {len(both)}",
                                          f"{100 * (farthest - 1):.0f} %" if farthest > 1 else ""]


def twice(arguments):
    found = [twice_row(arguments, mpi, network) for mpi in arguments.mpi for network in arguments.network]
    met, sizes, all_sizes = (sum(counts[i] for counts, _ in found) for i in range(3))
    verdict = (f"The intervals of {met} of {len(PARAMETERS) * len(found)} parameters and of {sizes} of {all_sizes} sizes meet "
               f"in two runs of `net` on one pair of ranks.")
    head = ["MPI", "network", "half round trip", "again", "parameters that meet", "apart", "sizes that meet", "most apart"]
    return verdict, data_page.table(head, [row for _, row in found])


# ---- two hosts ----

def two_hosts(idlewave, mpi):
    with net_support.Hosts() as hosts, tempfile.TemporaryDirectory(prefix="iw_hosts_") as folder:
        command = [idlewave, "net", "-o", pathlib.Path(folder) / "hosts.yaml", "--duration", "8s", "--max-size", "256KiB",
                   "--format", "json"]
        net_support.wait_until_quiet()
        code, out, err = net_support.run_until(hosts.line(mpi, 2, command), net_support.HOSTS_ENVIRONMENT[mpi],
                                               net_support.is_json, 200)
    assert code == 0, f"net on two hosts ended with {code}:\n{out}\n{err}"
    result = json.loads(out)
    for level in result["levels"]:
        median, low, high = (level["half_round_trip_ns"][key] for key in ("value", "low", "high"))
        assert high - low < median, f"{MPI_NAMES[mpi]}, level {level['name']}: the ranks shared a core: [{low}, {high}] ns"
    return result


def hosts_table(arguments):
    rows = []
    slower = []
    for mpi in arguments.mpi:
        levels = {level["name"]: level for level in
                  net_support.attempts(3, lambda name=mpi: two_hosts(arguments.idlewave, name))["levels"]}
        halves = [levels[name]["half_round_trip_ns"]["value"] for name in ("node", "network")]
        lows, highs = ([levels[name]["half_round_trip_ns"][end] for name in ("node", "network")] for end in ("low", "high"))
        slower.append(lows[1] > highs[0])
        rows.append([MPI_NAMES[mpi], *(f"{time_text(half)} [{time_text(low)}, {time_text(high)}]"
                                       for half, low, high in zip(halves, lows, highs)), f"{halves[1] / halves[0]:.1f}"])
    verdict = (f"Between two hosts the level `network` is slower than the level `node` with {sum(slower)} of {len(slower)} "
               f"MPIs, beyond all intervals.")
    return verdict, data_page.table(["MPI", "`node`: half round trip", "`network`", "ratio"], rows)


# ---- levels ----

def spread_text(spread):
    return f"{time_text(spread['median'])} [{time_text(spread['low'])}, {time_text(spread['high'])}]"


def levels_table(arguments):
    """From one run of `net` each, on two hosts with a slow cable."""
    options = validate_levels.parse(["--idlewave", str(arguments.idlewave), "--programs", str(arguments.programs), "--rounds",
                                     str(arguments.rounds), "--duration", arguments.duration])
    rows = [row for mpi in arguments.mpi for row in validate_levels.measure(options, mpi)]
    validate_levels.print_table(rows)
    lines = [[MPI_NAMES[row["mpi"]], row["case"], row["bytes"], spread_text(row["measured_ns"]), spread_text(row["predicted_ns"]),
              ratio_text(row["ratio"]), "within 15 %" if validate_levels.is_within(row) else "**not**"] for row in rows]
    counts = [f"{MPI_NAMES[mpi]} {sum(validate_levels.is_within(row) for row in rows if row['mpi'] == mpi)} of "
              f"{sum(row['mpi'] == mpi for row in rows)}" for mpi in arguments.mpi]
    head = ["MPI", "case", "bytes", "measured", "predicted", "ratio", "verdict"]
    return f"Two hosts with levels: within 15 % are {', '.join(counts)} cases.", data_page.table(head, lines)


# ---- predictions ----

def counts_of(rows):
    return {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in VERDICTS}


def pingpong(rows):
    """One line for each MPI and network, and the sizes that are off."""
    lines = []
    for mpi, network in dict.fromkeys((row["mpi"], row["network"]) for row in rows):
        group = [row for row in rows if (row["mpi"], row["network"]) == (mpi, network)]
        counts = counts_of(group)
        ratios = [row["ratio"] for row in group if row["verdict"] != "noisy"] or [float("nan")]
        off = "; ".join(f"{row['bytes']} B: {row['ratio']:.2f}" for row in group if row["verdict"] == "off") or "none"
        lines.append([MPI_NAMES[mpi], NETWORK_NAMES[network], len(group), counts["ok"], counts["noisy"],
                      f"{min(ratios):.2f} / {statistics.median(ratios):.2f} / {max(ratios):.2f}", off])
    counts = counts_of(rows)
    verdict = f"Ping-pong: {counts['ok']} of {counts['ok'] + counts['off']} sizes within 15 %, {counts['noisy']} not judged."
    return verdict, data_page.table(["MPI", "network", "sizes", "within 15 %", "not judged", "least / median / largest ratio", "off"], lines)


def why(row, cores):
    spread = f"runs from {time_text(row['least_ns'])} to {time_text(row['most_ns'])}"
    if row["verdict"] == "ok":
        return ""
    if row["ranks"] > cores:
        return f"{row['ranks']} ranks on {cores} cores: waits for the scheduler are measured, not predicted ({spread})"
    if row["verdict"] == "off" and (row["mpi"], row["network"]) == ("openmpi", "shm") and row["bytes"] < 512:
        return "two small messages at once cost less than twice one (note 1)"
    return spread if row["verdict"] == "noisy" else f"not known; {spread}"


def ratio_text(ratio):
    return f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.2g}"


def halo(rows, cores):
    lines = [[MPI_NAMES[row["mpi"]], NETWORK_NAMES[row["network"]], row["ranks"], row["bytes"],
              time_text(row["measured_ns"]), time_text(row["predicted_ns"]), ratio_text(row["ratio"]), VERDICTS[row["verdict"]],
              why(row, cores)] for row in rows]
    verdicts = []
    for is_fair, name in ((True, "with a core for each rank"), (False, "with more ranks than cores")):
        counts = counts_of([row for row in rows if (row["ranks"] <= cores) == is_fair])
        if sum(counts.values()) > 0:
            verdicts.append(f"{name} {counts['ok']} of {counts['ok'] + counts['off']} cases within 15 %, {counts['noisy']} "
                            f"not judged")
    head = ["MPI", "network", "ranks", "bytes", "measured", "predicted", "ratio", "verdict", "why"]
    return f"Halo exchange and allreduce: {'; '.join(verdicts)}.", data_page.table(head, lines)


# ---- the pages ----

TITLES = {
    "twice": "Two measurements of one network",
    "hosts": "A network of two hosts",
    "levels": "Inside, outside and mixed: predicted from the levels of one measurement",
    "pingpong": "Ping-pong, predicted and measured",
    "halo": "Halo exchange and allreduce, predicted and measured",
}


def write(arguments, name, title, text):
    data_page.write(arguments.data, f"predictions-{name}", title, "make_predictions.py", "validation/predictions.md", text)


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, help="folder of a release build")
    parser.add_argument("--mpi", nargs="+", default=run_mpi.MPIS, choices=run_mpi.MPIS)
    parser.add_argument("--network", nargs="+", default=list(net_support.NETWORKS), choices=net_support.NETWORKS)
    parser.add_argument("--ranks", nargs="+", type=int, default=[2, 4])
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--duration", default="8s", help="of a run of net")
    parser.add_argument("--only", choices=["levels"], help="remake this table, and leave the summary")
    data_page.add_option(parser)
    arguments = parser.parse_args()
    arguments.idlewave = arguments.build / "cli" / "idlewave"
    arguments.programs = arguments.build / "tests" / "mpi" / "bin"
    return arguments


def check(arguments):
    cache = (arguments.build / "CMakeCache.txt").read_text(encoding="utf-8")
    if re.search(r"^IW_SANITIZE:\w+=.+", cache, re.MULTILINE) or not re.search(r"^CMAKE_BUILD_TYPE:\w+=Rel", cache, re.MULTILINE):
        sys.exit(f"make_predictions: {arguments.build} is not a release build without sanitizers: times would not count")
    if net_support.cores() < 2 or not net_support.can_have_hosts():
        sys.exit("make_predictions: needs two cores, and root with iproute2 for network namespaces")
    for mpi in arguments.mpi:
        run_mpi.require(mpi)


def main():
    arguments = options()
    check(arguments)
    if arguments.only:
        verdict, text = levels_table(arguments)
        write(arguments, arguments.only, TITLES[arguments.only], text)
        print(verdict)
        return 0
    cases = []
    for mpi in arguments.mpi:
        for network in arguments.network:
            print(f"{MPI_NAMES[mpi]}, {NETWORK_NAMES[network]} ...", flush=True)
            cases.append(validate_net.Case(arguments, mpi, network, arguments.rounds, arguments.duration, arguments.ranks))
    rows = [row for case in cases for row in case.rows()]
    validate_net.print_table(rows)
    results = {"twice": twice(arguments), "hosts": hosts_table(arguments), "levels": levels_table(arguments),
               "pingpong": pingpong([row for row in rows if row["program"] == "pingpong"]),
               "halo": halo([row for row in rows if row["program"] == "halo_allreduce"], net_support.cores())}
    verdicts = "\n".join(f"- {verdict}" for verdict, _ in results.values())
    write(arguments, "summary", "Predictions in short", f"{verdicts}\n\nMachine: {machine(cases)}")
    for name, (_, text) in results.items():
        write(arguments, name, TITLES[name], text)
    print(f"{verdicts}\nwritten to {arguments.data}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
