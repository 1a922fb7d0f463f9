#!/usr/bin/env python3
"""Remakes the tables and the picture of docs/validation/paper-figures.md that show programs like POP, Sweep3D and AMG2006 with other work and imbalance.

SPDX-License-Identifier: BSD-3-Clause

Usage: make_apps.py BUILD_DIR [--trials N] [--csv FILE] [--data DIR] [--pictures DIR]
    BUILD_DIR is a release build with the target app_choices. Takes half an hour on a quiet core.
    --csv FILE   what app_choices printed before, instead of running it. The picture needs gnuplot.
"""

import argparse
import csv
import io
import pathlib
import subprocess

import data_page

SYSTEMS = ("chic", "altix", "zeptoos", "xt4")
CASES = ("all", "in step", "no p2p", "no collectives", "network x10", "network x0.1")
HEADS = ("all calls", "noise in step", "without p2p", "without collectives", "network 10 times as fast", "network 10 times slower")
PAGE = "validation/paper-figures.md"
# What the paper says of each program and system, per cent
PUBLISHED = {("POP", "chic"): "> 100", ("POP", "xt4"): "5", ("POP", "altix"): "1", ("POP", "zeptoos"): "none", ("AMG", "chic"): "5", ("AMG", "altix"): "< 1",
             ("AMG", "zeptoos"): "< 1", ("AMG", "xt4"): "< 1", ("Sweep3D", "chic"): "0.7"}
MARKS = {("POP", "chic"): 100, ("POP", "xt4"): 5, ("POP", "altix"): 1, ("AMG", "chic"): 5, ("Sweep3D", "chic"): 0.7}


class Results:
    def __init__(self, text):
        self.rows = {}
        for row in csv.DictReader(io.StringIO(text)):
            if row["program"] != "program":  # several outputs, one after the other
                choice = (float(row["work_ms"]), float(row["imbalance"]))
                self.rows[row["program"], choice, row["system"], row["case"]] = (float(row["mean_s"]), float(row["noiseless_s"]), int(row["ranks"]), int(row["messages"]))

    def programs(self):
        return sorted({key[0] for key in self.rows})

    def choices(self, program):
        """In their order: the first is that of the page."""
        return list(dict.fromkeys(key[1] for key in self.rows if key[0] == program))

    def times(self, program, choice, system, case):
        return self.rows.get((program, choice, system, case), (None, None, 0, 0))

    def slowdown(self, *key):
        """Per cent; None if it was not run."""
        mean_s, quiet_s, _, _ = self.times(*key)
        return None if mean_s is None else 100 * (mean_s / quiet_s - 1)


def percent(value):
    return "-" if value is None else f"{value:.3g} %" if value >= 0.1 else f"{value:.2f} %"


def cases_table(results):
    parts = []
    for program in results.programs():
        choice = results.choices(program)[0]
        rows = [(system, *(percent(results.slowdown(program, choice, system, case)) for case in CASES), PUBLISHED.get((program, system), "-")) for system in SYSTEMS]
        _, _, ranks, messages = results.times(program, choice, "chic", "all")
        parts.append(f"**{program}**, {ranks:,} ranks, {messages / 1e6:.1f} million messages, work {choice[0]:g} ms, imbalance {choice[1]:g}.\n\n"
                     + data_page.table(("noise of", *HEADS, "published, all calls, %"), rows))
    return "Mean slowdown T / T0 - 1, T0 on the same network without noise.\n\n" + "\n\n".join(parts)


def network_table(results):
    rows = []
    for program in results.programs():
        choice = results.choices(program)[0]
        for system in SYSTEMS:
            cells = [results.times(program, choice, system, case)[:2] for case in ("network x0.1", "all", "network x10")]
            if all(mean for mean, _ in cells):
                gains = [100 * (1 - cells[2][k] / cells[1][k]) for k in (1, 0)]
                rows.append((program, system, *(f"{quiet:.3f} / {mean:.3f} s" for mean, quiet in cells), *(f"{gain:.2f} %" for gain in gains)))
    head = ("program", "system", "10 times slower: quiet / noisy", "as it is", "10 times as fast", "gain by the faster network, quiet", "with noise")
    return "Run times, without and with noise.\n\n" + data_page.table(head, rows)


def band(results, program, system, case="all"):
    values = [results.slowdown(program, choice, system, case) for choice in results.choices(program)]
    return [value for value in values if value is not None]


def bands_table(results):
    rows = []
    for program in results.programs():
        for system in SYSTEMS:
            values = band(results, program, system)
            p2p = [1 - without / whole for without, whole in zip(band(results, program, system, "no p2p"), values) if whole > 0]
            rows.append((program, system, percent(values[0]), f"{percent(min(values))} to {percent(max(values))}", PUBLISHED.get((program, system), "-"),
                         f"{100 * min(p2p):.0f} to {100 * max(p2p):.0f} %" if p2p else "-"))
    choices = "; ".join(f"{program}: " + ", ".join(f"{work:g} ms / {imbalance:g}" for work, imbalance in results.choices(program)) for program in results.programs())
    return (f"Over all choices of work and imbalance that were run ({choices}).\n\n"
            + data_page.table(("program", "system", "as on the page", "band", "published, %", "part of the slowdown that goes without p2p"), rows))


def choices_table(results):
    rows = [(program, f"{choice[0]:g} ms", f"{choice[1]:g}", *(percent(results.slowdown(program, choice, system, "all")) for system in (*SYSTEMS, "xt4 with 0.02 %")))
            for program in results.programs() for choice in results.choices(program)]
    return "Mean slowdown with all calls. The first line of each program is that of the page.\n\n" + data_page.table(("program", "work", "imbalance", *SYSTEMS, "xt4 with 0.02 %"), rows)


def draw(results, path):
    """A bar from the least to the largest slowdown of all choices, a dot for the page's, a diamond for the paper's."""
    keys = [(program, system) for program in results.programs() for system in SYSTEMS][::-1]
    lines, dots, marks, names = [], [], [], []
    for y, key in enumerate(keys):
        values = [max(value, 0.01) for value in band(results, *key)]
        lines.append(f"{values[0]} {y} {min(values)} {max(values)}")
        dots.append(f"{values[0]} {y}")
        marks += [f"{MARKS[key]} {y}"] if key in MARKS else []
        names.append(f"'{key[0]}, {key[1]}' {y}")
    data = "\n".join(f"${name} << EOD\n" + "\n".join(block) + "\nEOD" for name, block in (("bars", lines), ("dots", dots), ("marks", marks)))
    script = f"""{data}
set terminal pngcairo size 900,420 font 'sans,11'
set output '{path}'
set logscale x
set xrange [0.008:2000]
set yrange [-0.7:{len(keys) - 0.3}]
set ytics ({', '.join(names)})
set grid x lc rgb '#dddddd'
set xlabel 'mean slowdown, per cent'
set key bottom right
set style fill solid 0.35 noborder
plot $bars using 1:2:3:4:($2-0.28):($2+0.28) with boxxyerror lc rgb '#4477aa' title 'all choices of work and imbalance', \\
     $dots using 1:2 with points pt 7 ps 1.1 lc rgb '#223355' title 'choice of the page', \\
     $marks using 1:2 with points pt 13 ps 1.8 lc rgb '#cc3311' title 'published'
"""
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--trials", type=int, default=1)
    parser.add_argument("--csv", type=pathlib.Path)
    parser.add_argument("--pictures", type=pathlib.Path, default=data_page.ROOT / "docs" / "pictures")
    data_page.add_option(parser)
    args = parser.parse_args()
    if args.csv:
        text = args.csv.read_text(encoding="utf-8")
    else:
        text = subprocess.run([str(args.build / "bench" / "app_choices"), str(args.trials)], capture_output=True, text=True, check=True).stdout
    results = Results(text)
    for name, title, made in (("cases", "Programs with and without their parts", cases_table), ("networks", "Programs on faster and slower networks", network_table),
                              ("bands", "Slowdowns over all choices", bands_table), ("choices", "Slowdowns by work and imbalance", choices_table)):
        data_page.write(args.data, f"applications-{name}", title, "make_apps.py", PAGE, made(results))
    draw(results, args.pictures / "applications-bands.png")


if __name__ == "__main__":
    main()
