#!/usr/bin/env python3
"""Random programs, patterns and graphs: every engine ends each rank when the reference simulator does, to the picosecond.

SPDX-License-Identifier: BSD-3-Clause

Usage: reference_test.py --cases reference_cases [--first SEED] [--count N] [--show N]

reference_cases makes the cases and runs the engines, reference.py follows docs/explanation/semantics.md. Prints what the
cases had, and of each case that differs its seed, engine, rank and both times. One case alone: --first SEED --count 1 --show 1.
"""

import argparse
import collections
import json
import subprocess
import sys
import time

import reference


def features(case):
    """What a case has that could go wrong."""
    ops = [op for rank in case["ops"] for op in rank]
    levels, sends = case["net"]["levels"], [op for op in ops if op["kind"] == "send"]
    has = {
        case["form"]: True,
        "o_s = 0": any(level["o_s"] == 0 for level in levels),
        "o_r = 0": any(level["o_r"] == 0 for level in levels),
        "o = 0 and O = 0": any(level["o_s"] * level["o_r"] == 0 and level["O"] == 0 for level in levels),
        "levels": len(levels) > 1,
        "segments": any(level["segments"] for level in levels),
        "device": any(level["device"] for level in levels),
        "rendezvous " + case["rendezvous"]: any(op["sync"] or op["n"] > case["net"]["S"] for op in sends),
        "synchronous": any(op["sync"] for op in sends),
        "wildcards": any(op["kind"] == "recv" and None in (op["peer"], op["tag"]) for op in ops),
        "several CPUs": any(op["cpu"] for op in ops),
        "several NICs": any(op["nic"] for op in ops),
        "not in order": not case["in_order"],
        "irequires": any(op["irequires"] for op in ops),
        "waits for several": any(op["kind"] == "wait" and len(op["requires"]) > 1 for op in ops),
        "network noise, quantiles": any(any(parts) for delays in case["delays"] for parts in delays),
        "network noise, series": case["series"] is not None,
        "detours": any(case["detours"]),
        "extra work": any(extra for rank in case["extra"] for extra in rank),
    }
    return [name for name, is_there in has.items() if is_there]


def difference(expected, got):
    """Of an engine, or None if it agrees or cannot run the case."""
    if got == "ERR_UNSUPPORTED":
        return None
    if expected is None or isinstance(got, str):
        expected = "ERR_DEADLOCK" if expected is None else "ends"
        got = got if isinstance(got, str) else "ends"
        return None if expected == got else f"reference {expected}, engine {got}"
    for rank, (ours, theirs) in enumerate(zip(expected, got)):
        if ours != theirs:
            which = f"rank {rank}" if rank < len(expected) - 1 else "without noise"
            return f"{which}: reference {ours}, engine {theirs} ps"
    return None


def simulate(case):
    """The end of each rank, then that of the last one without noise and delays; None if one of the two is a deadlock."""
    ends = reference.simulate(case)
    quiet = {"detours": [[]] * case["ranks"], "extra": [[0] * len(extra) for extra in case["extra"]],
             "delays": [[(0, 0, 0)] * len(delays) for delays in case["delays"]], "series": None}
    noiseless = reference.simulate({**case, **quiet})
    return None if ends is None or noiseless is None else ends + [max(noiseless)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", required=True)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--show", type=int, default=10, help="differences")
    args = parser.parse_args()
    made = subprocess.Popen([args.cases, str(args.first), str(args.count)], stdout=subprocess.PIPE, text=True)
    seen, different, noisy, ran = (collections.Counter() for _ in range(4))
    cases = operations = deadlocks = differing = 0
    began = time.monotonic()
    for line in made.stdout:
        case = json.loads(line)
        names = features(case)
        expected = simulate(case)
        cases, operations, deadlocks = cases + 1, operations + sum(map(len, case["ops"])), deadlocks + (expected is None)
        seen.update(names)
        if any(name.startswith("network noise") for name in names):
            noisy.update(names)
            ran.update(f"{engine} with network noise" for engine, ends in case["ends"].items() if ends != "ERR_UNSUPPORTED")
        found = {engine: difference(expected, ends) for engine, ends in case["ends"].items()}
        ran.update(engine for engine, ends in case["ends"].items() if ends != "ERR_UNSUPPORTED")
        if any(found.values()):
            differing += 1
            different.update(names)
            for engine, text in found.items():
                if text and differing <= args.show:
                    print(f"seed {case['seed']}, {engine}: {text} ({', '.join(names)})")
    if made.wait() != 0:
        sys.exit(f"{args.cases} failed")
    print(f"{cases} cases, {operations} operations, {deadlocks} deadlocks; "
          + ", ".join(f"{count} by {engine}" for engine, count in ran.items()) + f"; {time.monotonic() - began:.0f} s")
    print("  cases with network noise")
    for name, count in seen.most_common():
        print(f"{count:7} {noisy[name]:9} {name}" + (f" ({different[name]} differ)" if different[name] else ""))
    print(f"{differing} cases differ")
    sys.exit(differing > 0 or cases != args.count)


if __name__ == "__main__":
    main()
