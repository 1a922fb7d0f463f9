#!/usr/bin/env python3
"""Remakes the tables of docs/validation/paper-figures.md: figures 4 to 6 of the theory papers, N_1/2, and cases that they cite.

SPDX-License-Identifier: BSD-3-Clause

Usage: make_theory.py IDLEWAVE [--data DIR]
    IDLEWAVE is the command of a release build. Takes about a minute.
"""

import argparse
import json
import pathlib
import subprocess

import data_page

TAU = "2us"
NODES = [2 ** k - 1 for k in (1, 4, 7, 10, 13, 16, 20)]
PAGE = "validation/paper-figures.md"


class Lab:
    def __init__(self, idlewave):
        self.idlewave = idlewave.resolve()

    def call(self, *words):
        return json.loads(subprocess.run([str(self.idlewave), *map(str, words), "--format", "json"], capture_output=True, text=True, check=True).stdout)

    def model(self, noise, work, ranks):
        return self.call("model", "--noise", noise, "--compute", work, "--net", "none", "--L", TAU, *(word for n in ranks for word in ("--ranks", n)))

    def simulate(self, *words):
        return self.call("simulate", *words)


def time(ns):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}" if ns / size < 100 else f"{ns / size:.0f} {unit}"
    return f"{ns:.0f} ns"


def count(value):
    return f"{value:.2g}" if value >= 1e7 else f"{value:,.0f}"


def curves(lab, work, noises):
    """Bounds of theorem 1; of the upper one, its parts on the most nodes."""
    rows = []
    for noise in noises:
        result = lab.model(noise, work, NODES)
        cells = [f"{time(row['at_least_ns']['value'])} to {time(row['at_most_ns']['value'])}" if row["ranks"] > 1 else time(row["at_most_ns"]["value"])
                 for row in result["rows"]]
        last = result["rows"][-1]
        latency = last["noiseless_ns"] - result["work_ns"]
        rows.append((f"`{noise}`", *cells, f"{time(result['work_ns'])} + {time(latency)} + {time(last['at_most_ns']['value'] - last['noiseless_ns'])}"))
    head = ("noise", *(f"N = {n:,}" for n in NODES), f"work + latency + noise at {NODES[-1]:,}")
    return f"Work of {work} in each phase, tau = {TAU}.\n\n" + data_page.table(head, rows)


def half(lab):
    cases = (("none", "1ms", "2^(w / 2 tau)"), ("exp:1%", "1ms", "2.3e27"), ("exp:10%", "1ms", "5,196"), ("pareto:0.5%,3", "1ms", "35.4e6"),
             ("pareto:0.5%,2", "1ms", "158,404"), ("pareto:0.5%,1.5", "1ms", "9,724"), ("pareto:1%,2", "1ms", "39,203"), ("pareto:2%,2", "1ms", "9,604"),
             ("bernoulli:1%,1ms", "1ms", "200 (f = 1 %)"), ("none", "20us", "2^(w / 2 tau)"))
    rows = []
    for noise, work, published in cases:
        result = lab.model(noise, work, [1023])
        first, last = result["first_doubled"], result["last_doubled"]
        exact = "none up to 10^40" if first is None else count(first) if first == last else f"{count(first)} to {count(last)}"
        rows.append((f"`{noise}`", work, published, count(result["half_ranks"]), exact))
    return data_page.table(("noise", "work", "published", "by the papers' rule", "where a phase takes twice as long as on one rank"), rows)


def jones(lab):
    """4,096 CPUs, 0.31 % of each: which detours turn 710 into 3,000 us?"""
    rows = []
    for detour_us in (30, 100, 300, 1000, 3000, 10000):
        cells = []
        for spec in (f"periodic:{0.0031 / detour_us * 1e6:.6g}Hz,{detour_us}us", f"poisson:{0.0031 / detour_us * 1e6:.6g}Hz,exp:{detour_us}us"):
            result = lab.simulate("--pattern", "allreduce:dissemination", "--ranks", 4096, "--bytes", 8, "--repeat", 60, "--net", "none", "--L", "57.1us", "--o",
                                  "1us", "--noise", spec, "--trials", 3)
            quiet, mean = result["noiseless_ns"] / 60, result["makespan_ns"]["mean"] / 60
            cells.append(f"{mean / 1e3:,.0f} us")
        rows.append((time(1e3 * detour_us), f"{0.0031 / detour_us * 1e6:.3g} Hz", f"{quiet / 1e3:.0f} us", *cells))
    return data_page.table(("detours of", "at", "without noise", "with noise, periodic", "with noise, at random times, of exponential length"), rows)


def ferreira(lab):
    """2.5 % on 10,000 nodes, generated in different ways."""
    ways = ("periodic:10Hz,2.5ms", "periodic:100Hz,250us", "periodic:1kHz,25us")
    rows = []
    for work in ("30us", "100us", "300us", "1ms", "3ms", "10ms", "100ms"):
        results = [lab.simulate("--pattern", "allreduce:dissemination", "--ranks", 10000, "--bytes", 8, "--compute", work, "--repeat", 10, "--net", "xt4",
                                "--noise", way, "--trials", 5) for way in ways]
        rows.append((work, *(f"{result['makespan_ns']['mean'] / result['noiseless_ns']:.2f}" for result in results)))
    return data_page.table(("work between two allreduces", *(f"`{way}`" for way in ways)), rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("idlewave", type=pathlib.Path)
    data_page.add_option(parser)
    args = parser.parse_args()
    lab = Lab(args.idlewave)
    write = lambda name, title, text: data_page.write(args.data, name, title, "make_theory.py", PAGE, text)
    write("theory-exponential", "Figure 4: exponential noise", "\n\n".join(curves(lab, work, ("none", "exp:1%", "exp:5%", "exp:10%")) for work in ("10us", "1ms")))
    write("theory-pareto", "Figure 5: Pareto noise", "\n\n".join(
        curves(lab, "1ms", noises) for noises in (("pareto:0.5%,3", "pareto:0.5%,2", "pareto:0.5%,1.5"), ("pareto:0.5%,3", "pareto:1%,3", "pareto:2%,3"))))
    write("theory-bernoulli", "Figure 6: Bernoulli noise", curves(lab, "2ms", ("bernoulli:0.1%,2ms", "bernoulli:0.01%,2ms", "bernoulli:0.1%,10ms", "bernoulli:0.01%,10ms")))
    write("theory-half", "The number of ranks that doubles a phase", half(lab))
    write("theory-jones", "Jones' allreduce on 4,096 CPUs", jones(lab))
    write("theory-ferreira", "2.5 % noise on 10,000 ranks", ferreira(lab))


if __name__ == "__main__":
    main()
