#!/usr/bin/env python3
"""Writes a timeline of pipelined training (1F1B) in the form of StragglerAnalysis, with known stragglers.

SPDX-License-Identifier: BSD-3-Clause

Usage: make_timeline.py [--replicas R] [--stages P] [--microbatches M] [--steps N] [--slow REPLICA,STAGE,FACTOR]
                        [--slow-stage STAGE,FACTOR] [--long FACTOR] [--gzip] > timeline.json
    A forward takes 10 ms and a backward 20 ms, transfers and all else nothing.
    --slow         one worker takes so many times as long
    --slow-stage   all workers of a stage do
    --long         in each step one replica, in turn, has one micro-batch that is so many times as long
"""

import argparse
import gzip
import json
import sys

FORWARD_US, BACKWARD_US = 10_000.0, 20_000.0
LANES = 5
ONCE = ["params-all-gather", "gc", "layernorm-grads-all-reduce", "embedding-grads-all-reduce", "grads-reduce-scatter",
        "optimizer-clip-main-grad", "optimizer"]


def order_of(stage, stages, microbatches):
    """1F1B: (is_forward, micro-batch) as a stage computes them."""
    warm = min(stages - 1 - stage, microbatches)
    turns = [(True, q) for q in range(warm)]
    for i in range(microbatches - warm):
        turns += [(True, warm + i), (False, i)]
    return turns + [(False, q) for q in range(microbatches - warm, microbatches)]


def factor_of(options, step, replica, stage, microbatch):
    """By how much a computation takes longer."""
    factor = 1.0
    if options.slow:
        of_replica, of_stage, slow = options.slow.split(",")
        if (replica, stage) == (int(of_replica), int(of_stage)):
            factor *= float(slow)
    if options.slow_stage:
        of_stage, slow = options.slow_stage.split(",")
        if stage == int(of_stage):
            factor *= float(slow)
    if options.long and replica == step % options.replicas and microbatch == options.microbatches // 2:
        factor *= options.long
    return factor


def run_replica(options, step, replica, ends):
    """Fills ends[(stage, is_forward, micro-batch)] = (begin, length)."""
    orders = [order_of(stage, options.stages, options.microbatches) for stage in range(options.stages)]
    free, done = [0.0] * options.stages, [0] * options.stages
    while any(done[stage] < len(orders[stage]) for stage in range(options.stages)):
        for stage in range(options.stages):
            while done[stage] < len(orders[stage]):
                is_forward, q = orders[stage][done[stage]]
                giver = stage - 1 if is_forward else stage + 1
                ready = free[stage]
                if 0 <= giver < options.stages:
                    if (giver, is_forward, q) not in ends:
                        break
                    ready = max(ready, sum(ends[giver, is_forward, q]))
                length = (FORWARD_US if is_forward else BACKWARD_US) * factor_of(options, step, replica, stage, q)
                ends[stage, is_forward, q] = (ready, length)
                free[stage] = ready + length
                done[stage] += 1
    return max(free)


def event(name, replica, rank, lane, begin, length, step, sequence):
    """One operation."""
    return {"name": name, "cat": name, "pid": replica, "tid": rank * LANES + lane, "ts": begin, "dur": length, "ph": "X",
            "args": {"step": step, "model_chunk": 0, "mb_id": sequence, "seq_id": sequence}}


def events_of(options, step, replica, ends, start, end):
    """All operations of a replica in a step."""
    for (stage, is_forward, q), (begin, length) in ends.items():
        rank, way = stage * options.replicas + replica, "forward" if is_forward else "backward"
        yield event(f"{way}-compute", replica, rank, 0, start + begin, length, step, q)
        if 0 <= (stage - 1 if is_forward else stage + 1) < options.stages:
            yield event(f"{way}-recv", replica, rank, 1, start + begin, 0.0, step, q)
        if 0 <= (stage + 1 if is_forward else stage - 1) < options.stages:
            yield event(f"{way}-send", replica, rank, 1, start + begin + length, 0.0, step, q)
    for stage in range(options.stages):
        for name in ONCE:
            if name != "embedding-grads-all-reduce" or stage in (0, options.stages - 1):
                begin = 0.0 if name == "params-all-gather" else end
                yield event(name, replica, stage * options.replicas + replica, 3, start + begin, 0.0, step, 0)


def main():
    """Options, steps, output."""
    parser = argparse.ArgumentParser(add_help=True)
    for name, number in (("replicas", 4), ("stages", 4), ("microbatches", 8), ("steps", 2)):
        parser.add_argument(f"--{name}", type=int, default=number)
    parser.add_argument("--slow")
    parser.add_argument("--slow-stage")
    parser.add_argument("--long", type=float)
    parser.add_argument("--gzip", action="store_true")
    options = parser.parse_args()
    events = [{"name": "process_name", "pid": 0, "ph": "M", "args": {"name": "DP rank [0]"}}]
    start = 0.0
    for step in range(options.steps):
        longest = 0.0
        for replica in range(options.replicas):
            ends = {}
            end = run_replica(options, step, replica, ends)
            events += events_of(options, step, replica, ends, start, end)
            longest = max(longest, end)
        start += longest
    data = json.dumps(events).encode()
    sys.stdout.buffer.write(gzip.compress(data, mtime=0) if options.gzip else data)


if __name__ == "__main__":
    main()
