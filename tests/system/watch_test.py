#!/usr/bin/env python3
"""Holds `watch` against what the kernel counts itself, against bursts of known times, and against the probe.

SPDX-License-Identifier: BSD-3-Clause

Usage: watch_test.py --idlewave PATH --bursts PATH
"""

import json
import os
import re
import subprocess
import sys
import time

from support import BURSTS_NAME, SKIPPED, Bursts, Recording, Skip, attempts, last_cpu, run_checks, share
from watch_support import LINE, Job, Watcher, pid_option


def close(seen, truth, part, what):
    print(f"{what}: {seen:.4f}, the kernel says {truth:.4f} ({(seen / truth - 1) if truth else 0:+.2%})")
    assert abs(seen - truth) <= part * truth, f"{what}: {seen:.4f} for {truth:.4f}"


def agrees_with_schedstat(idlewave, _bursts, folder):
    work = "[(spin(0.002), time.sleep(0.001)) for _ in range(400)]"

    def attempt():
        with Job(4, work) as job:
            watcher = Watcher(idlewave, folder, pid_option(job))
            before = job.schedstat()
            job.start()
            job.finish()
            time.sleep(0.2)
            after = job.schedstat()
            watch = watcher.end()["watch"]
        totals = watch["totals"]
        # the kernel's run time does not have what the hypervisor took meanwhile
        stolen = totals["steal_unplaced_ns"] + sum(source["time_ns"] for source in watch["sources"] if source["name"] == "steal")
        run, wait, slices = (b - a for a, b in zip(before, after))
        close((totals["run_ns"] - stolen) / 1e9, run, 0.01, "run")
        close(totals["wait_ns"] / 1e9, wait, 0.01, "wait")
        close(totals["slices"], slices, 0.01, "slices")

    attempts(3, attempt)


def events_of(watcher, result):
    """(start, end, names) of the detours that were told, on CLOCK_MONOTONIC_RAW."""
    zero = int(result["attributes"]["start_raw_ns"])
    found = []
    for line in watcher.errors.splitlines():
        match = LINE.match(line)
        if match:
            parts = re.findall(r"(?:^|, )(\w+ ?.*?) ([\d.]+) (ns|us|ms|s)(?=,|$)", match[4])
            length = sum(float(number) * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[unit] for _, number, unit in parts)
            start = zero + int(match[1]) * 10**9 + int(match[2])
            found.append((start, start + length, [name for name, *_ in parts]))
    return sorted(found)


def finds_bursts_and_names_them(idlewave, bursts, folder):
    cpu = last_cpu()

    def attempt():
        with Job(1, "spin(30)", cpu) as job:
            watcher = Watcher(idlewave, folder, [*pid_option(job), "--on-threshold", "1ns"])
            job.start()
            time.sleep(0.3)
            made = Bursts(bursts, folder, cpu, 500, (5, 1000), (1500, 3500)).run()
            time.sleep(0.3)
            result = watcher.end()
        events = events_of(watcher, result)
        found, named = [], []
        for burst in made:
            inside = overlapping(events, burst.start_ns, burst.end_ns)
            found.append(any(event[0] <= burst.start_ns and event[1] >= burst.end_ns - 2000 for event in inside))
            named.append(any(f"thread {BURSTS_NAME}" in event[2] for event in inside))
        print(f"{sum(found)} of {len(made)} bursts lie in a detour, {sum(named)} have their name")
        assert share(found) >= 0.99 and share(named) >= 0.99, f"{share(found):.2%} found, {share(named):.2%} named"

    attempts(3, attempt)


def overlapping(events, start_ns, end_ns):
    return [event for event in events if event[0] < end_ns and event[1] > start_ns]


def interrupts(bursts, kind, folder, count):
    """(start, end, number) of bursts of interrupts on the last CPU, as interrupts.c tells them."""
    log, cpu = folder / "interrupts.log", last_cpu()
    command = [bursts.with_name("iw_interrupts"), kind, cpu, min(os.sched_getaffinity(0)), count, 1, log]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    if done.returncode == SKIPPED:
        raise Skip(f"no bursts of {kind}: {done.stderr.strip()}")
    assert done.returncode == 0, f"iw_interrupts exits {done.returncode}: {done.stderr}"
    return [tuple(map(int, line.split())) for line in log.read_text().splitlines()]


def finds_interrupts(idlewave, bursts, folder, kind, name, slack_ns):
    """Bursts hit a thread that spins: a detour that has `name` lies where each of them was, up to slack_ns late."""
    def attempt():
        with Job(1, "spin(60)", last_cpu()) as job:
            watcher = Watcher(idlewave, folder, [*pid_option(job), "--on-threshold", "1ns"])
            job.start()
            time.sleep(0.3)
            made = interrupts(bursts, kind, folder, 500)
            time.sleep(0.3)
            result = watcher.end()
        events = events_of(watcher, result)
        inside = [overlapping(events, start, end + slack_ns) for start, end, _ in made]
        named = [any(name in event[2] for event in found) for found in inside]
        print(f"{kind}: {sum(map(bool, inside))} of {len(made)} bursts meet a detour, {sum(named)} one with {name}")
        assert share(inside) >= 0.99 and share(named) >= 0.99, f"{share(inside):.2%} found, {share(named):.2%} named"

    attempts(3, attempt)


# Computes for 0.5 ms of CPU time and sleeps for 0.5 ms, both at random, for so many seconds; before ordinary processes, where that is allowed.
DOZE = """
    import random
    os.geteuid() or os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    end = time.monotonic() + {seconds}
    while time.monotonic() < end:
        stop = time.thread_time() + random.expovariate(2000)
        while time.thread_time() < stop:
            pass
        time.sleep(random.expovariate(2000))
"""


def what_is_met_on_waking_is_no_noise(idlewave, bursts, folder):
    """The daemon's share of the wanted time is that of its log, though the job wakes in every burst that comes while it sleeps."""
    cpu = last_cpu()

    def attempt():
        with Job(1, DOZE.format(seconds=5).strip(), cpu) as job, Bursts(bursts, folder, cpu, 1000000, (500, 2500), (5000, 15000)).running() as log:
            watcher = Watcher(idlewave, folder, [*pid_option(job), "--on-threshold", "500us"])
            job.start()
            job.finish()
            result = watcher.end()
        totals = result["watch"]["totals"]
        truth = sum(burst.end_ns - burst.start_ns for burst in log) / (log[-1].end_ns - log[0].start_ns)
        seen = sum(source["time_ns"] for source in result["watch"]["sources"] if source["name"] == BURSTS_NAME) / totals["wanted_ns"]
        waking = sum(line.endswith(", on waking") and BURSTS_NAME in line for line in watcher.errors.splitlines())
        print(f"the daemon has {seen:.2%} of the wanted time, {truth:.2%} of its CPU by its log; {waking} bursts were met on waking, "
              f"which took {totals['wait_waking_ns'] / 1e9:.3f} s of {totals['wait_ns'] / 1e9:.3f} s of waiting")
        # a thread that waited for the end of a burst then has a full pause before it: up to `truth` too little
        assert 0.7 < seen / truth < 1.2, "the file has another share of the daemon than its log"
        assert waking > 10, "nothing is told of what was met on waking"
        assert totals["wait_own_ns"] + totals["wait_waking_ns"] <= totals["wait_ns"], totals

    attempts(3, attempt)


def finds_timer_interrupts(idlewave, bursts, folder):
    finds_interrupts(idlewave, bursts, folder, "timer", "irq local_timer", 100000)


def finds_softirqs(idlewave, bursts, folder):
    finds_interrupts(idlewave, bursts, folder, "softirq", "softirq NET_RX", 0)


def detours_lie_in_those_of_the_probe(idlewave, _bursts, folder):
    """`record` is the job that is watched: what the kernel tells of its CPU must be a part of what it feels there."""
    cpu, file = last_cpu(), folder / "probe.h5"

    def attempt():
        file.unlink(missing_ok=True)
        with subprocess.Popen([idlewave, "record", "--no-config", "--cpus", str(cpu), "--duration", "4s", "--attribution", "none", "-o", file],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as probe:
            watcher = Watcher(idlewave, folder, ["--pid", probe.pid, "--cpus", cpu, "--on-threshold", "1ns"])
            errors = probe.communicate()[1]
        assert probe.returncode == 0, errors
        events = events_of(watcher, watcher.end())
        felt = Recording(idlewave, file)
        # events are told with four digits of their length; the clocks of both sides differ by less than this
        slack_ns = 2000
        watched = [event for event in events if event[0] > felt.zero_ns and event[1] < felt.end_ns]
        # of stolen time the kernel tells how much it was, at the next tick, but not when
        placed = [event for event in watched if "hardware steal" not in event[2]]
        inside = []
        for start, end, _ in placed:
            detour = felt.overlapping(start, end)
            inside.append(detour is not None and detour.start_ns - slack_ns <= start and end <= detour.end_ns + slack_ns)
        print(f"{sum(inside)} of {len(inside)} detours lie in one that the probe felt; {len(watched) - len(placed)} more have stolen time in them")
        assert len(inside) > 300 and share(inside) >= 0.99, f"{share(inside):.2%} of {len(inside)}"

    attempts(3, attempt)


def trace_events_tell_the_same(idlewave, bursts, folder):
    compare_with_programs(idlewave, bursts, folder, "tracefs")


def perf_tells_the_same(idlewave, bursts, folder):
    compare_with_programs(idlewave, bursts, folder, "perf")


def compare_with_programs(idlewave, bursts, folder, rung):
    """The fall-back beside the programs, on a thread that never sleeps."""
    cpu = last_cpu()

    def attempt():
        with Job(1, "spin(60)", cpu) as job:
            job.start()
            time.sleep(0.2)
            watcher = Watcher(idlewave, folder, pid_option(job))
            other = subprocess.Popen([idlewave, "watch", "--no-config", *pid_option(job), "--attribution", rung, "--duration", "4s",
                                      "--format", "json", "-o", folder / "events.h5"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            time.sleep(1)  # until it watches
            Bursts(bursts, folder, cpu, 400, (50, 1000), (3000, 6000)).run()
            text, errors = other.communicate()
            result = watcher.end()
        if other.returncode != 0:
            raise Skip(errors.strip().splitlines()[-1])
        told, seen = json.loads(text), result["watch"]
        assert told["rung"] == rung, told["rung"]
        burst_s = [sum(source["time_ns"] for source in watch["sources"] if source["name"] == BURSTS_NAME) / 1e9
                   for watch in (seen, told["watch"])]
        print(f"bursts by programs {burst_s[0]:.4f} s, by {rung} {burst_s[1]:.4f} s")
        wanted_s = told["watch"]["totals"]["wanted_ns"] / 1e9
        # events tell of a thread from the first switch of its CPU on, which is at the latest that to the first burst
        assert wanted_s > 2.9, f"of 4 s it wanted {wanted_s:.3f}"
        assert abs(burst_s[1] / burst_s[0] - 1) < 0.05, burst_s

    attempts(3, attempt)


if __name__ == "__main__":
    sys.exit(run_checks(__doc__, [agrees_with_schedstat, finds_bursts_and_names_them, what_is_met_on_waking_is_no_noise,
                                  finds_timer_interrupts, finds_softirqs, detours_lie_in_those_of_the_probe,
                                  trace_events_tell_the_same, perf_tells_the_same]))
