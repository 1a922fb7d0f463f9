#!/usr/bin/env python3
"""Messages through one shared link: idlewave's NICs against SimGrid's max-min fairness, where both must agree.

SPDX-License-Identifier: BSD-3-Clause

Usage: shared_link_test.py --idlewave COMMAND --program shared_link [--smpirun COMMAND]

N ranks, each on a node of its own, send one message each to N ranks of one node (an incast), or N ranks of one node to N
nodes (one to many). All messages cross one link. SimGrid gives each flow its part of it; with equal messages all end when
the last byte has passed, L + N k / bandwidth. That is max-rate's answer, and the end of the last message with queues.
"""

import argparse
import os
import subprocess
import sys
import tempfile

BANDWIDTH = 25e9  # bytes/s
LATENCY_US = 1.5
BYTES = 10_000_000  # o and g are 0, and (k-1) G is k G but for a byte
TOLERANCE = 1e-5


def platform(pairs):
    hosts = "\n".join(f'<host id="h{i}" speed="1Gf"/>' for i in range(2 * pairs))
    routes = "\n".join(
        f'<route src="h{a}" dst="h{b}"><link_ctn id="nic"/></route>'
        for a in range(2 * pairs)
        for b in range(a + 1, 2 * pairs)
    )
    return f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="all" routing="Full">
{hosts}
<link id="nic" bandwidth="{BANDWIDTH}Bps" latency="{LATENCY_US}us" sharing_policy="SHARED"/>
{routes}
</zone></platform>
"""


def simgrid_us(args, folder, pairs):
    with open(os.path.join(folder, "platform.xml"), "w", encoding="utf-8") as file:
        file.write(platform(pairs))
    with open(os.path.join(folder, "hosts"), "w", encoding="utf-8") as file:
        file.write("".join(f"h{i}\n" for i in range(2 * pairs)))
    config = ["network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:0", "smpi/simulate-computation:0",
              "smpi/async-small-thresh:0", "smpi/send-is-detached-thresh:0", "network/weight-S:0"]
    command = [args.smpirun, "-np", str(2 * pairs), "-platform", "platform.xml", "-hostfile", "hosts"]
    command += [f"--cfg={entry}" for entry in config] + ["--log=root.thresh:error", args.program, str(BYTES)]
    return 1e6 * float(subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout)


def goal(pairs, is_incast):
    """Node 0 has ranks 0 to pairs - 1; of each other node only the first rank does anything."""
    far = [pairs * (1 + i) for i in range(pairs)]
    peers = {}
    for near, other in enumerate(far):
        sender, receiver = (other, near) if is_incast else (near, other)
        peers[sender] = f"l1: send {BYTES}b to {receiver}"
        peers[receiver] = f"l1: recv {BYTES}b from {sender}"
    ranks = pairs * (pairs + 1)
    body = "".join(f"rank {rank} {{\n{peers.get(rank, '')}\n}}\n" for rank in range(ranks))
    return f"num_ranks {ranks}\n{body}"


def idlewave_us(args, folder, pairs, is_incast, options):
    costs = "o: 0, g: 0, L: %gus, G: 0.001ns, S: 1GiB" % LATENCY_US
    with open(os.path.join(folder, "net.yaml"), "w", encoding="utf-8") as file:
        file.write(f"format: idlewave.net/2\nnics: {{count: 1, bandwidth: 25GB/s}}\nlevels:\n"
                   f"  - {{name: node, ranks: {pairs}, {costs}}}\n  - {{name: network, {costs}}}\n")
    with open(os.path.join(folder, "incast.goal"), "w", encoding="utf-8") as file:
        file.write(goal(pairs, is_incast))
    command = [args.idlewave, "simulate", "incast.goal", "--net", "net.yaml", "--format", "csv", *options]
    out = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
    return float(out.splitlines()[1].split(",")[1]) / 1e3


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--idlewave", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--smpirun", default="smpirun")
    args = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for pairs in (2, 3, 8):
            expected = simgrid_us(args, folder, pairs)
            for is_incast in (True, False):
                for options in ([], ["--nic-queues"]):
                    found = idlewave_us(args, folder, pairs, is_incast, options)
                    is_near = abs(found / expected - 1) < TOLERANCE
                    failures += not is_near
                    print(f"{pairs} pairs, {'incast' if is_incast else 'one to many'} {' '.join(options)}: "
                          f"SimGrid {expected:.4f} us, idlewave {found:.4f} us{'' if is_near else '  DIFFERS'}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
