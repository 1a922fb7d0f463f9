#!/usr/bin/env python3
"""Predicts by how much steps of MLPerf v5.0 (Llama 3.1 405B) scatter, from noise fitted on v5.1, and compares.

SPDX-License-Identifier: BSD-3-Clause

Usage: mlperf_holdout.py BUILD_DIR V51_FOLDER V50_FOLDER [--registered FILE] [--register-only] [--data DIR]
    The folders are checkouts of github.com/mlcommons/training_results_v5.1 and _v5.0, or copies of these files:
        SUBMITTER/systems/SYSTEM.json, SUBMITTER/benchmarks/llama31_405b/implementations/*/config_*.sh,
        SUBMITTER/results/SYSTEM/llama31_405b/result_*.txt
    --registered has the predictions (default docs/validation/data/mlperf-v5.0-registered.json). If it is there it must be
    what is predicted now; if not it is written. No log of v5.0 is opened before. --register-only stops there, and needs no
    logs of v5.0 at all. --data writes the page mlperf-v5.0.md into DIR.

Excess: mean over 10th percentile of the steps in the second half of a run. Noise that is fitted: each GPU pauses now and then,
mostly short, seldom long, and everything drifts. For the fit a step is as long as its slowest replica, and of each pause a share reaches
it that `idlewave training` gives for that layout; the predictions are those of `idlewave training`. How much systems differ is what
submissions of v5.1 differ from a fit to the others.
"""

import argparse
import hashlib
import json
import math
import pathlib
import random
import re
import statistics
import sys
import tempfile

import data_page
import make_coverage
import mlperf_steps

BENCHMARK = "llama31_405b"
CONFIG = re.compile(r"config_(?:DGX)?(\w+?)_(\d+)x(\d+)x(\d+)xtp(\d+)pp(\d+)cp(\d+)")
IN_VIEW = ("eos-dfw_n1024_ngc25.01_nemo", "eos-dfw_n64_ngc25.01_nemo")  # their excess was known when the model was made
SEQUENCE, TOKEN_FLOP = 8192, 3 * 841318662144
ALIKE = {"H100": "H200"}  # v5.1 has no H100; both compute at the same rate

# Chosen by hand, from v5.1: lengths of long pauses, which parameters are tried.
LONG_S = 0.3
SHORT_S = (0.01, 0.02, 0.04)
SHORT_SHARES = tuple(4e-7 * 2 ** (step / 2) for step in range(13))  # of a GPU's time
LONG_HZ = (2e-6, 4e-6, 8e-6, 1.6e-5)
DRIFTS = tuple(0.025 * step for step in range(13))  # per cent of a step
LEAST = 0.01  # per cent: 1 ms of a step of 10 s, what the logs resolve
EMULATED_STEPS = 600
SIMULATED = {"steps": 24, "trials": 6}
QUANTILES_T = {1: 12.71, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}  # 97.5 % by degrees of freedom


# ---- submissions ----

def settings_of(system_json):
    """What a submission says of itself, without its logs; None if it has no such benchmark."""
    submitter, system = system_json.parent.parent, json.loads(system_json.read_text(encoding="utf-8"))
    nodes, per_node = int(system["number_of_nodes"]), int(system["accelerators_per_node"])
    for config in sorted(submitter.glob(f"benchmarks/{BENCHMARK}/implementations/*/config_*.sh")):
        named = CONFIG.match(config.name)
        if named and (int(named[2]), int(named[3])) == (nodes, per_node) and re.search(rf"\b{named[1]}\b", system["accelerator_model_name"]):
            microbatches, tp, pp, cp = (int(named[at]) for at in range(4, 8))
            gpus = nodes * per_node
            return {"name": system_json.stem, "submitter": submitter.name, "device": named[1], "gpus": gpus, "node_gpus": per_node,
                    "tp": tp, "cp": cp, "pp": pp, "dp": gpus // (tp * cp * pp), "microbatches": microbatches}
    return None


def submissions(folder):
    """Settings of all that has results, by submitter and size."""
    found = []
    for system_json in sorted(folder.glob("*/systems/*.json")):
        if (system_json.parent.parent / "results" / system_json.stem / BENCHMARK).is_dir():
            found.append(settings_of(system_json))
    return sorted((one for one in found if one), key=lambda one: (one["submitter"], one["name"].split("_")[0], one["gpus"]))


def logs_of(folder, one):
    return sorted((folder / one["submitter"] / "results" / one["name"] / BENCHMARK).glob("result_*.txt"))


def digests(folder):
    return {hashlib.sha256(log.read_bytes()).hexdigest() for one in submissions(folder) for log in logs_of(folder, one)}


def measured(log):
    """Excess of all and of most steps in per cent, and the 10th percentile in seconds, of the second half of a run."""
    times = mlperf_steps.step_times(log)
    half = times[len(times) // 2:]
    return *mlperf_steps.excesses(half)[:2], mlperf_steps.tenth_percentile(half)


def mean_log(values):
    return statistics.fmean(map(math.log, values))


# ---- the fit ----

def lateness(one, rates_and_lengths):
    """Seconds by which each step is late: pauses within a replica add up, and the slowest replica ends the step."""
    draw, late_steps = random.Random(1), []
    for _ in range(EMULATED_STEPS):
        late = [0.0] * one["dp"]
        for rate, length in rates_and_lengths:
            arrival, last = draw.expovariate(1), rate * one["gpus"] * one["step_s"]
            while arrival < last:
                late[draw.randrange(one["dp"])] += draw.expovariate(1 / length)
                arrival += draw.expovariate(1)
        late_steps.append(max(late))
    return late_steps


def candidates(seen):
    """For each law how far it is from each submission: {law: [(log of measured over emulated: all steps, most of them), ...]}."""
    laws = {}
    for short_s in SHORT_S:
        for share in SHORT_SHARES:
            for long_hz in LONG_HZ:
                made = [mlperf_steps.excesses([one["step_s"] + late for late in lateness(one, pauses(short_s, share, long_hz, one["reach"]))])
                        for one in seen]
                for drift in DRIFTS:
                    laws[(short_s, share, long_hz, drift)] = [
                        (one["log_all"] - math.log(max(of_all + drift, LEAST)), one["log_most"] - math.log(max(of_most + drift, LEAST)))
                        for one, (of_all, of_most, _) in zip(seen, made)]
    return laws


def pauses(short_s, share, long_hz, reach=1):
    return (share / short_s * reach, short_s), (long_hz * reach, LONG_S)


def best(laws, without=None):
    """The law with least squares over all submissions but one."""
    return min(laws, key=lambda law: sum(a * a + b * b for at, (a, b) in enumerate(laws[law]) if at != without))


def spread_of(outside, runs):
    """How far in logarithms a run of another system may be from a prediction, 95 %. `outside`: errors of submissions that the fit
    had not; `runs`: of each submission, logarithms of its runs."""
    within = statistics.fmean(statistics.variance(logs) for logs in runs)
    between = statistics.fmean(error * error for error in outside)
    return QUANTILES_T[len(outside) - 1] * math.sqrt(between * (1 + 1 / len(outside)) + within)


def controls(seen):
    """Two guesses without a simulation, each with its error where a submission is left out: (name, prediction of GPUs, spread)."""
    runs = [one["logs"] for one in seen]
    for name, power in (("the same for all", 0), ("by the number of GPUs", 1)):
        levels = [one["log_all"] - power * math.log(one["gpus"]) for one in seen]
        outside = [level - statistics.fmean(levels[:at] + levels[at + 1:]) for at, level in enumerate(levels)]
        yield name, math.exp(statistics.fmean(levels)), power, spread_of(outside, runs)


def read_fitted(folder):
    seen = []
    for one in submissions(folder):
        runs = [measured(log) for log in logs_of(folder, one)]
        step_s = statistics.fmean(run[2] for run in runs)
        flop = one["dp"] * one["microbatches"] * SEQUENCE * TOKEN_FLOP
        seen.append({**one, "step_s": step_s, "rate": flop / one["gpus"] / step_s, "reach": 1, "logs": [math.log(run[0]) for run in runs],
                     "log_all": mean_log(run[0] for run in runs), "log_most": mean_log(run[1] for run in runs)})
    return seen


# ---- predictions ----

def program(one, rate, law):
    """A training program of idlewave. Half of the time everything takes two drifts longer, so that the mean has one."""
    short_s, share, long_hz, drift = law
    noise = [f"  - {{source: 'poisson:{rate:.6g}Hz,exp:{length * 1e3:g}ms', name: {name}, where: device, scope: rank}}"
             for name, (rate, length) in zip(("short", "long"), pauses(short_s, share, long_hz))]
    if drift:
        noise.append(f"  - {{source: 'periodic:0.0025Hz,200s', name: drift, where: device, scope: all, factor: {1 + drift / 50:.6f}}}")
    keys = {"format": "idlewave.training/1", "model": "llama3-405b", "tp": one["tp"], "cp": one["cp"], "pp": one["pp"], "dp": one["dp"],
            "chunks": 8, "microbatches": one["microbatches"], "step-rate": f"{rate / 1e12:.1f}TFLOP/s", "node-gpus": one["node_gpus"],
            "node-bandwidth": "700GB/s" if one["node_gpus"] == 4 else "360GB/s", "overlap-parameters": "yes", "launch": "0s", "detail": "chunk"}
    return "".join(f"{key}: {value}\n" for key, value in keys.items()) + "noise:\n" + "\n".join(noise) + "\n"


def simulated(tool, one, rate, law):
    """The answer of `idlewave training`."""
    path = tool.folder / "job.yaml"
    path.write_text(program(one, rate, law), encoding="utf-8")
    return tool.ask("training", path, "--no-bill", "--steps", SIMULATED["steps"], "--trials", SIMULATED["trials"], "--seed", 1)


def with_reach(tool, one, law):
    """`one` with the share of pauses that reaches its step."""
    late_s = simulated(tool, one, one["rate"], (*law[:3], 0))["loss"] * one["step_s"]
    return {**one, "reach": late_s / statistics.fmean(lateness(one, pauses(*law[:3])))}


def predictions(tool, v51, v50):
    """What is registered. Of v5.0, settings only are read."""
    seen = read_fitted(v51)
    rough = best(candidates(seen))
    seen = [with_reach(tool, one, rough) for one in seen]
    laws = candidates(seen)
    law = best(laws)
    outside = [laws[best(laws, at)][at][0] for at in range(len(seen))]
    rates = {device: statistics.median(one["rate"] for one in seen if one["device"] == device) for device in {one["device"] for one in seen}}
    fitted = [100 * simulated(tool, one, one["rate"], law)["scatter"] for one in seen]
    level = statistics.fmean(one["log_all"] - math.log(excess) for one, excess in zip(seen, fitted))
    guesses = list(controls(seen))
    rows = []
    for one in submissions(v50):
        job = simulated(tool, one, rates[ALIKE.get(one["device"], one["device"])], law)
        rows.append({**one, "step_s": round(job["noiseless_ns"] / 1e9, 2), "excess": round(100 * job["scatter"] * math.exp(level), 3),
                     "controls": [round(at_one * one["gpus"] ** power, 3) for _, at_one, power, _ in guesses]})
    return {"law": dict(zip(("short_s", "short_share", "long_hz", "drift_percent"), law)), "long_s": LONG_S, "level": round(math.exp(level), 3),
            "factor": round(math.exp(spread_of(outside, [one["logs"] for one in seen])), 3),
            "controls": [{"name": name, "factor": round(math.exp(spread), 3)} for name, _, _, spread in guesses],
            "fitted": [{"name": one["name"], "gpus": one["gpus"], "step_s": round(one["step_s"], 2), "excess": [round(math.exp(log), 3) for log in one["logs"]],
                        "simulated": round(excess, 3), "reach": round(one["reach"], 3)} for one, excess in zip(seen, fitted)],
            "predicted": rows}


def register(path, answer):
    """Writes predictions, or compares with those that are written. The digest of the file."""
    text = json.dumps(answer, indent=1) + "\n"
    if not path.exists():
        path.write_text(text, encoding="utf-8")
    if path.read_text(encoding="utf-8") != text:
        raise SystemExit(f"{path}: other predictions are registered")
    return hashlib.sha256(text.encode()).hexdigest()


# ---- the comparison ----

class Tally:
    """Of runs in bands, and how far predictions are from them."""

    def __init__(self, name, factor):
        self.name, self.factor, self.errors = name, factor, []

    def add(self, predicted, runs):
        self.errors += [math.log(run / predicted) for run in runs]

    def cells(self):
        inside = sum(abs(error) <= math.log(self.factor) for error in self.errors)
        middle = math.exp(statistics.fmean(map(abs, self.errors)))
        return [self.name, f"{inside} of {len(self.errors)}", f"/ {self.factor:.1f} to x {self.factor:.1f}", f"{middle:.2f}",
                f"{math.exp(statistics.fmean(self.errors)):.2f}"]


def compare(answer, v51, v50):
    """Opens the logs of v5.0: (rows of the table, tallies, submissions left out)."""
    known, rows, left_out = digests(v51), [], []
    tallies = [Tally("`idlewave training`", answer["factor"]), *(Tally(one["name"], one["factor"]) for one in answer["controls"])]
    for one in answer["predicted"]:
        logs = [log for log in logs_of(v50, one) if hashlib.sha256(log.read_bytes()).hexdigest() not in known]
        if not logs:
            left_out.append(one["name"])
            continue
        runs = [measured(log) for log in logs]
        low, high = one["excess"] / answer["factor"], one["excess"] * answer["factor"]
        inside = sum(low <= run[0] <= high for run in runs)
        if one["name"] not in IN_VIEW:
            for tally, predicted in zip(tallies, [one["excess"], *one["controls"]]):
                tally.add(predicted, [run[0] for run in runs])
        rows.append([one["name"] + (" (in view)" if one["name"] in IN_VIEW else ""), f"{one['gpus']} {one['device']}",
                     f"{one['step_s']:.1f}; {statistics.fmean(run[2] for run in runs):.1f}", f"{one['excess']:.2f}", f"{low:.2f} to {high:.2f}",
                     ", ".join(f"{run[0]:.2f}" for run in runs), ", ".join(f"{run[1]:.2f}" for run in runs), f"{inside} of {len(runs)}"])
    return rows, tallies, left_out


def page(answer, digest, rows, tallies, left_out):
    law = answer["law"]
    fitted = [[one["name"], one["gpus"], f"{one['step_s']:.1f}", ", ".join(f"{run:.2f}" for run in one["excess"]),
               f"{one['simulated']:.2f}", f"{100 * one['reach']:.0f} %"] for one in answer["fitted"]]
    return "\n\n".join([
        f"Excess of the second half of each run over its 10th percentile, per cent. Registered in [mlperf-v5.0-registered.json](mlperf-v5.0-registered.json), SHA-256 `{digest}`. "
        "\"In view\": the excess was known before; not counted.",
        data_page.table(["v5.0", "GPUs", "step, s: assumed; measured", "predicted", "95 % band", "measured", "less its longest 5 %", "in the band"], rows),
        f"Left out, since their logs are those of v5.1: {', '.join(left_out) or 'none'}.",
        "Runs that were not in view, beside two guesses without a simulation:",
        data_page.table(["predicted by", "in the band", "band", "off by a factor of, mean", "measured over predicted"], [tally.cells() for tally in tallies]),
        f"Fitted on v5.1: each GPU loses {law['short_share'] * 1e6:.2g} us a second in pauses of {law['short_s'] * 1e3:g} ms, pauses for {answer['long_s'] * 1e3:g} ms "
        f"every {1 / law['long_hz'] / 86400:.1f} days, and steps drift by {law['drift_percent']:g} %; excesses are then {answer['level']:g} times those simulated.",
        data_page.table(["v5.1", "GPUs", "step, s", "measured", "simulated", "of a pause reaches the step"], fitted)])


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("v51", type=pathlib.Path)
    parser.add_argument("v50", type=pathlib.Path)
    parser.add_argument("--registered", type=pathlib.Path, default=data_page.FOLDER / "mlperf-v5.0-registered.json")
    parser.add_argument("--register-only", action="store_true")
    data_page.add_option(parser)
    return parser.parse_args()


def main():
    arguments = parse()
    with tempfile.TemporaryDirectory() as folder:
        answer = predictions(make_coverage.Tool(arguments.build, folder), arguments.v51, arguments.v50)
    digest = register(arguments.registered, answer)
    print(f"{digest}  {arguments.registered}")
    if not arguments.register_only:
        text = page(answer, digest, *compare(answer, arguments.v51, arguments.v50))
        print(text)
        data_page.write(arguments.data, "mlperf-v5.0", "MLPerf v5.0, predicted from v5.1", "mlperf_holdout.py", "validation/training.md", text)


if __name__ == "__main__":
    sys.exit(main())
