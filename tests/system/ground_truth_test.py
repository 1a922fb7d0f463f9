#!/usr/bin/env python3
"""Shows that `record` finds noise that we make ourselves: when, how long, nothing else, and its period.

SPDX-License-Identifier: BSD-3-Clause

Usage: ground_truth_test.py --idlewave PATH --bursts PATH

A burst is what the program `bursts` sees of itself. The CPU is away from the recorder for longer: an interrupt, two
context switches and timers to be set, 5 to 30 us on a virtual machine. Where tracefs is at hand, durations are
therefore compared with what the kernel says about the recorder's thread: from the interrupt before it lost the CPU
until it got it back. What remains is the way between the recorder's loop and the kernel's two trace points. Where
the interrupt itself came late, the hypervisor had taken the CPU already: the kernel knows nothing of that part.
"""

import bisect
import collections
import json
import re
import subprocess
import sys

from support import (BURSTS_NAME, Bursts, attempts, last_cpu, quantile, record_bursts, run_checks, share,
                     trace_instance, tracefs, with_tracefs)

BURSTS = 1000
LENGTHS_US = (50, 500)
GAPS_US = (1500, 3500)
SECONDS = 4
TOLERANCE_NS, TOLERANCE_SHARE = 5000, 0.05
MOST_ENTRY_NS = 10000  # from the loop into the kernel and back, in the median
MOST_WAKING_NS = 50000  # as much, and the switches and timers that the burst does not see itself

EVENT = re.compile(r"-\d+ +\[\d+\] \S+ +(\d+)\.(\d{6}): (\w+): (.*)")
SWITCH = re.compile(r"prev_pid=(\d+) .*==> next_comm=(.*) next_pid=(\d+) ")
INTERRUPT_NS = 50000  # an interrupt so long before a switch has been its cause
LATE_NS = 10000  # so long after it was due, an interrupt has been held back


def absences(trace, recorder):
    """Intervals [start, end] in which the recorder's measuring thread was away and the bursts' process ran."""
    events = []
    for line in trace.splitlines():
        match = EVENT.search(line)
        if match:
            events.append((int(match[1]) * 10**9 + int(match[2]) * 1000, match[3], match[4]))
    thread = measuring_thread(events, recorder)
    found, since, interrupt, has_burst = [], None, None, False
    for at_ns, name, text in events:
        switch = SWITCH.search(text) if name == "sched_switch" else None
        if name.endswith("_entry"):
            interrupt = at_ns
        elif switch and int(switch[1]) == thread:
            has_cause = interrupt is not None and at_ns - interrupt < INTERRUPT_NS
            since, has_burst = interrupt if has_cause else at_ns, False
        if switch and switch[2] == BURSTS_NAME:
            has_burst = True
        if switch and int(switch[3]) == thread and since is not None:
            if has_burst:
                found.append((since, at_ns))
            since = None
    return found


def measuring_thread(events, recorder):
    """Of the threads that bursts push aside the most frequent one, the recorder's first thread left out."""
    pushed = collections.Counter()
    for _, name, text in events:
        switch = SWITCH.search(text) if name == "sched_switch" else None
        if switch and switch[2] == BURSTS_NAME and int(switch[1]) not in (0, recorder):
            pushed[int(switch[1])] += 1
    assert pushed, "the kernel tells of no bursts"
    return pushed.most_common(1)[0][0]


def punctual(away, bursts):
    """Absences whose first burst was due when they began."""
    starts = [burst.start_ns for burst in bursts]
    kept = []
    for start_ns, end_ns in away:
        place = bisect.bisect_left(starts, start_ns)
        if place < len(bursts) and start_ns - bursts[place].due_ns < LATE_NS:
            kept.append((start_ns, end_ns))
    print(f"the hypervisor held back {len(away) - len(kept)} of {len(away)} interrupts")
    assert len(kept) >= 0.8 * len(away), "the hypervisor held back too many interrupts"
    return kept


def check_all_found(recording, bursts):
    found = share(recording.overlapping(*burst[:2]) for burst in bursts)
    print(f"found {found:.2%} of {len(bursts)} bursts")
    assert found >= 0.99, f"only {found:.2%} of the bursts were found"


def excesses(recording, intervals):
    """(interval's length, what its detour is longer by) in ns."""
    for start_ns, end_ns, *_ in intervals:
        detour = recording.overlapping(start_ns, end_ns)
        if detour:
            yield end_ns - start_ns, detour.end_ns - detour.start_ns - (end_ns - start_ns)


def check_durations(recording, intervals, most_constant_ns, name):
    """Durations agree but for a constant; it is small."""
    compared = list(excesses(recording, intervals))
    constant_ns = quantile([excess for _, excess in compared], 0.5)
    good = share(abs(excess - constant_ns) <= TOLERANCE_NS + TOLERANCE_SHARE * length for length, excess in compared)
    print(f"compared with {name}: {constant_ns / 1000:.1f} us longer in the median, {good:.2%} of {len(compared)} "
          f"within {TOLERANCE_NS / 1000:.0f} us + {TOLERANCE_SHARE:.0%} of that")
    assert 0 <= constant_ns <= most_constant_ns, f"detours are {constant_ns} ns longer than {name}"
    return good


def check_not_shorter(recording, bursts):
    """A burst lies inside its detour."""
    inside = share(excess >= 0 for _, excess in excesses(recording, bursts))
    assert inside >= 0.99, f"only {inside:.2%} of the detours are as long as their burst"


def check_none_invented(recording, bursts):
    """Detours outside of bursts: none with their name; where names are not known, not many of their length."""
    others = set(recording.detours) - {recording.overlapping(*burst[:2]) for burst in bursts}
    if any(detour.name == BURSTS_NAME for detour in recording.detours):
        invented = [detour for detour in others if detour.name == BURSTS_NAME
                    and detour.end_ns - detour.start_ns >= 50000
                    and bursts[0].start_ns <= detour.start_ns and detour.end_ns <= bursts[-1].end_ns]
        print(f"{len(invented)} invented bursts (by name)")
        assert not invented, f"{len(invented)} detours are said to be bursts, but there were none: {invented[:3]}"
    else:
        alike = sum(45000 <= detour.end_ns - detour.start_ns <= 600000 for detour in others)
        print(f"{alike} detours like bursts outside of bursts (without names)")
        assert alike <= len(bursts) / 2, f"{alike} detours as long as bursts outside of {len(bursts)} bursts"


def random_bursts_are_found(idlewave, bursts, folder):
    cpu = last_cpu()
    plan = Bursts(bursts, folder, cpu, BURSTS, LENGTHS_US, GAPS_US)
    options = ["--cpus", str(cpu)]

    def attempt():
        if tracefs() is None:
            run, away = record_bursts(idlewave, plan, options, SECONDS), None
        else:
            with trace_instance(cpu, ("sched/sched_switch", "irq_vectors", "irq/irq_handler_entry")) as instance:
                run = record_bursts(idlewave, plan, options, SECONDS)
                (instance / "tracing_on").write_text("0")
                away = absences((instance / "trace").read_text(), run.pid)
        check_all_found(run.recording, run.bursts)
        check_not_shorter(run.recording, run.bursts)
        check_none_invented(run.recording, run.bursts)
        check_durations(run.recording, run.bursts, MOST_WAKING_NS, "the bursts")
        if away is not None:
            good = check_durations(run.recording, punctual(away, run.bursts), MOST_ENTRY_NS, "the kernel's account")
            assert good >= 0.99, f"only {good:.2%} of the durations agree with the kernel's"

    attempts(3, attempt)


def periodic_bursts_give_a_line(idlewave, bursts, folder):
    cpu = last_cpu()
    plan = Bursts(bursts, folder, cpu, 2000, (20, 20), (980, 980))

    def attempt():
        run = record_bursts(idlewave, plan, ["--cpus", str(cpu)], 3)
        done = subprocess.run([idlewave, "noise", "spectrum", folder / "recording.h5", "--format", "json"],
                              capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"noise spectrum exits {done.returncode}: {done.stderr}"
        spectrum = json.loads(done.stdout)
        lines = spectrum["lines"]
        assert lines, "no lines at all"
        strongest = max(lines, key=lambda line: line["ratio"])
        names = [source["name"] for source in spectrum["sources"] if source["line"] == 1 + lines.index(strongest)]
        print(f"the strongest of {len(lines)} lines is at {strongest['frequency_hz']:.3f} Hz, of {', '.join(names)}")
        assert abs(strongest["frequency_hz"] - 1000) <= 5, f"the strongest line is at {strongest['frequency_hz']} Hz"
        if run.recording.rung in ("tracefs", "osnoise", "perf"):
            assert BURSTS_NAME in names, f"the line at 1000 Hz is said to be of {names}"

    attempts(3, attempt)


if __name__ == "__main__":
    with_tracefs()
    sys.exit(run_checks("Compares recordings with noise of known truth.",
                        (random_bursts_are_found, periodic_bursts_give_a_line)))
