#!/usr/bin/env python3
"""Runs `record` with the kernel's osnoise tracer, in a guest whose kernel has it, beside rtla and trace-cmd.

SPDX-License-Identifier: BSD-3-Clause

Usage: osnoise_qemu_test.py --idlewave PATH --bursts PATH [--cache DIR]
    --cache    where the guest's kernel is kept, about 110 MB while it is unpacked

osnoise_guest.sh says what runs in the guest. The guest is emulated: its times mean nothing, but who took them, how
often, and whether the sums are right, can be compared. Skipped where QEMU, the programs or a kernel are missing.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from guest import Guest, Missing, kernel_image
from support import SKIPPED, show

GUEST_SECONDS = 600
PROGRAMS = ("rtla", "trace-cmd")
ENTRY_NS = 2000  # of each event, `record` counts up to so much for the ways into and out of the kernel

# Events of tracefs as text. On top of these a line for each period of the tracer: runtime, noise, share, longest noise,
# then the numbers of noises: hardware, NMI, IRQ, softirq, thread.
NOISE = re.compile(r"\[(\d+)\] \S+ +(\d+)\.(\d{6}): (\w+)_noise: +(.*?)(?::(\d+))? start \d+\.\d+ duration (\d+) ns")
PERIOD = re.compile(r"\[\d+\] \S+ +\d+\.\d+: \d+ +\d+ +[\d.]+ +\d+ +\d+ +(\d+) +(\d+) +(\d+) +(\d+)$")
# CPU, number of periods, runtime, noise, share, longest noises, counters
RTLA = re.compile(r"^ *(\d+) #(\d+) +\d+ +\d+ +[\d.]+ +\d+ +\d+ +\d+ +(\d+) +(\d+) +(\d+) +(\d+)$", re.MULTILINE)
CLASSES = ("nmi", "irq", "softirq", "thread")

Noise = collections.namedtuple("Noise", "cpu at_ns kind name number duration_ns")


def noise_of(line):
    match = NOISE.search(line)
    return match and Noise(int(match[1]), int(match[2]) * 10**9 + int(match[3]) * 1000, match[4], match[5],
                           int(match[6] or 0), int(match[7]))


def near(value, wanted, tolerance):
    return abs(value - wanted) <= tolerance * wanted


def times_ns(about):
    """How long each class took, by the recording."""
    sums = collections.Counter()
    for source in about["sources"]:
        sums[source["class"]] += source["share"] * about["watched_ns"]
    return sums


class Check:
    def __init__(self, idlewave, folder, files):
        self.idlewave = idlewave
        self.folder = folder
        for name, content in files.items():
            (folder / name).write_bytes(content)

    def text(self, name):
        return (self.folder / name).read_text(errors="replace")

    def about(self, name):
        return json.loads(show(self.idlewave, self.folder / name, "json"))

    def convert(self, source, target):
        done = subprocess.run([self.idlewave, "noise", "convert", self.folder / source, self.folder / target],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"noise convert {source} exits {done.returncode}: {done.stderr}"

    def record_names_sources(self):
        assert self.text("record_exit.txt").strip() == "0", f"record fails: {self.text('record_errors.txt')}"
        about = self.about("osnoise.h5")
        assert about["rung"] == "osnoise", f"the rung is {about['rung']}"
        found = {(source["class"], source["name"]) for source in about["sources"]}
        assert ("irq", "local_timer") in found, f"no local_timer among {found}"
        assert any(kind == "thread" and name for kind, name in found), f"no threads among {found}"
        events, matched = (int(about["attributes"][name]) for name in ("kernel_events", "kernel_events_matched"))
        print(f"{matched} of {events} kernel events in detours, {len(found)} sources")
        assert events >= 100 and matched >= 0.95 * events, f"only {matched} of {events} events are in detours"

    def witnessed(self, about):
        """What an instance of our own has heard meanwhile, without the measuring threads themselves."""
        threads = sorted(int(number) for number in self.text("recorder_threads.txt").split())[1:]
        start_ns = int(about["attributes"]["start_raw_ns"])
        end_ns = {cpu["cpu"]: start_ns + cpu["length_ns"] for cpu in about["cpus"]}
        noises = filter(None, map(noise_of, self.text("witness.txt").splitlines()))
        return [noise for noise in noises if start_ns <= noise.at_ns <= end_ns[noise.cpu]
                and not (noise.kind == "thread" and noise.number in threads)]

    def record_has_the_sums_of_the_tracer(self):
        about = self.about("osnoise.h5")
        noises, ours_ns = self.witnessed(about), times_ns(about)
        events = int(about["attributes"]["kernel_events"])
        print(f"kernel events: {events}, of the tracer {len(noises)}")
        assert near(events, len(noises), 0.02), f"{events} kernel events instead of {len(noises)}"
        for kind in CLASSES:
            durations = [noise.duration_ns for noise in noises if noise.kind == kind]
            least_ns, most_ns = 0.98 * sum(durations), 1.02 * (sum(durations) + ENTRY_NS * len(noises))
            print(f"{kind}: {ours_ns[kind] / 1e6:.3f} ms, of the tracer {sum(durations) / 1e6:.3f} ms")
            assert least_ns <= ours_ns[kind] <= most_ns, f"{kind} has {ours_ns[kind]} ns instead of {sum(durations)} ns"

    def convert_finds_what_rtla_counts(self):
        """Events of the periods that rtla has counted, without the first, of which the trace has only a part. They may
        differ by some at the edges of periods, which the kernel counts as they begin and reports as they end."""
        lines, kept = self.text("rtla_trace.txt").splitlines(), []
        sums_ns = collections.Counter()
        for cpu, periods, *counts in (map(int, row) for row in RTLA.findall(self.text("rtla_top.txt"))):
            assert sum(counts) >= 100, f"rtla counts hardly anything: {self.text('rtla_top.txt')}"
            of_cpu, counts = counted_lines([line for line in lines if f" [{cpu:03}] " in line], periods, counts)
            noises = list(filter(None, map(noise_of, of_cpu)))
            found = [sum(noise.kind == kind for noise in noises) for kind in CLASSES]
            print(f"CPU {cpu}, {', '.join(CLASSES)}: rtla counts {counts}, the trace has {found}")
            assert all(abs(one - other) <= 0.05 * other + 2 for one, other in zip(found, counts)), "these differ"
            for noise in noises:
                sums_ns[noise.kind] += noise.duration_ns
            kept += of_cpu
        assert kept, f"rtla says nothing: {self.text('rtla_top.txt')}"
        # Without samples all events become detours, also those below the threshold.
        (self.folder / "events.txt").write_text("".join(f"{line}\n" for line in kept if "sample_threshold" not in line))
        self.convert("events.txt", "events.h5")
        ours_ns = times_ns(self.about("events.h5"))
        for kind in CLASSES:
            print(f"{kind}: {ours_ns[kind] / 1e6:.3f} ms after convert, {sums_ns[kind] / 1e6:.3f} ms in the trace")
            assert near(ours_ns[kind], sums_ns[kind], 0.01), f"{kind}: {ours_ns[kind]} ns instead of {sums_ns[kind]} ns"

    def text_and_trace_dat_agree(self):
        self.convert("trace.txt", "text.h5")
        self.convert("trace.dat", "dat.h5")
        text, dat = self.detours("text.h5"), self.detours("dat.h5")
        print(f"{len(text)} detours in text, {len(dat)} in trace.dat")
        assert len(text) > 100, "hardly any detours"
        assert text == dat, f"the text and the trace.dat of the same events differ: {set(text) ^ set(dat)}"

    def detours(self, name):
        """Rows, their times counted from the first detour: text gives the start of all only to the microsecond."""
        rows = [line.split(",", 2) for line in show(self.idlewave, self.folder / name, "csv").splitlines()[1:]]
        return [(cpu, int(start_ns) - int(rows[0][1]), rest) for cpu, start_ns, rest in rows]

    def killed_record_puts_the_tracer_back(self):
        assert "idlewave-" in self.text("instances_running.txt"), "record had no instance when it was killed"
        assert "NO_OSNOISE_WORKLOAD" in self.text("options_running.txt").split(), "record did not use the tracer"
        assert "idlewave-" not in self.text("instances_killed.txt"), "its instance is still there"
        assert "idlewave" not in self.text("processes_killed.txt"), "a process of it is still there"
        before = self.text("options_before.txt")
        for name in ("options_after.txt", "options_killed.txt"):
            assert self.text(name) == before, f"{name}: osnoise/options are {self.text(name)} instead of {before}"
        if (self.folder / "killed.h5").exists():  # else it was killed before it had measured anything
            show(self.idlewave, self.folder / "killed.h5", "json")


def counted_lines(lines, periods, counts):
    """Of one CPU's lines those of the so many periods in a row whose own counters add up to these; and the counts. Both
    without the first period."""
    ends = [(number, list(map(int, match.groups()))) for number, line in enumerate(lines)
            if (match := PERIOD.search(line))]
    for first in range(len(ends) - periods + 1):
        chosen = ends[first:first + periods]
        if [sum(column) for column in zip(*(counters for _, counters in chosen))] == counts:
            begin, in_first = chosen[0]
            return lines[begin + 1:chosen[-1][0] + 1], [all_ - one for all_, one in zip(counts, in_first)]
    raise AssertionError(f"rtla counts {counts} in {periods} periods, but the trace has the periods {ends}")


def boot(arguments, folder):
    guest = Guest(kernel_image(arguments.cache), folder)
    for program in (*PROGRAMS, arguments.idlewave.resolve(), arguments.bursts.resolve()):
        guest.add_program(str(program))
    script = pathlib.Path(__file__).with_name("osnoise_guest.sh").read_text(encoding="utf-8")
    return guest.run(script, GUEST_SECONDS)


def main():
    parser = argparse.ArgumentParser(description="Tests the osnoise tracer in a guest.")
    parser.add_argument("--idlewave", required=True, type=pathlib.Path)
    parser.add_argument("--bursts", required=True, type=pathlib.Path)
    parser.add_argument("--cache", default=tempfile.gettempdir(), type=pathlib.Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="iw_guest_") as name:
        folder = pathlib.Path(name)
        try:
            files = boot(arguments, folder)
        except Missing as reason:
            print(f"skipped: {reason}")
            return SKIPPED
        print(f"guest kernel {files['kernel.txt'].decode().strip()}")
        check, failed = Check(arguments.idlewave.resolve(), folder, files), 0
        for step in (check.record_names_sources, check.record_has_the_sums_of_the_tracer,
                     check.convert_finds_what_rtla_counts, check.text_and_trace_dat_agree,
                     check.killed_record_puts_the_tracer_back):
            try:
                step()
                print(f"{step.__name__}: passed", flush=True)
            except AssertionError as fault:
                print(f"{step.__name__}: FAILED, {fault}", flush=True)
                failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
