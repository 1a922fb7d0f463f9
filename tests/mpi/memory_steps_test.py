"""Two real ranks that move data, in step and taking turns, against rule 14 with the numbers of `bench memory`.

SPDX-License-Identifier: BSD-3-Clause

Where memory saturates, ranks in step take longer than ranks that take turns, and the simulation says by how much; where two
cores do not saturate it (which is printed), both take nearly the same. What is compared is the ratio of the two, in one run.
"""

import json
import re
import subprocess
import sys

import net_support
import run_mpi

PHASE_S = 0.003  # of one core alone
BLOCKS, STEPS = 75, 4
LEAST_PHASES = 40  # of each rank and kind, undisturbed
WITHIN, TIMES_WITHIN = 0.15, 0.25  # ratios are of one run, times of two that others may disturb differently


def measured_memory(arguments):
    done = subprocess.run([arguments.idlewave, "bench", "memory", "--duration", "3s", "--format", "json"], capture_output=True, text=True,
                          check=True)
    return json.loads(done.stdout)


def real_phases(arguments, phase_bytes, array_bytes):
    program = arguments.programs / "memory_steps"
    done = run_mpi.launch(arguments.mpi, 2, [program, phase_bytes, array_bytes, PHASE_S, BLOCKS, STEPS], timeout=120)
    assert done.returncode == 0, done.stderr
    found = re.findall(r"^(in-step|turns) ([\d.]+) (\d+)$", done.stdout, re.MULTILINE)
    assert min(int(count) for _, _, count in found) >= LEAST_PHASES, f"others had the CPUs: {found}"
    return {kind: float(seconds) for kind, seconds, _ in found}


def simulated_phases(arguments, phase_bytes, memory):
    """The same by `simulate`: a pause that moves nothing, then bytes; rank 1 begins at once or a pause later, and waits for nobody."""
    shared = f"ranks={memory['ranks']},domain={memory['domain_bytes_per_s']}B/s,core={memory['core_bytes_per_s']}B/s"
    pause = f"{PHASE_S * 1e6:.0f}us"
    line = [arguments.idlewave, "simulate", "--pattern", "halo1d", "--ranks", "2", "--direction", "uni", "--boundary", "open", "--net", "none",
            "--repeat", str(STEPS), "--compute-bytes", str(phase_bytes), "--memory", shared, "--noise", f"bernoulli:1,{pause}", "--format", "json"]
    phases = {}
    for kind, delay_s in (("in-step", 0.0), ("turns", PHASE_S)):
        delay = ["--delay", f"rank=1,time={pause}"] if delay_s else []
        done = subprocess.run([*line, *delay], capture_output=True, text=True, check=True)
        phases[kind] = (json.loads(done.stdout)["makespan_ns"]["mean"] * 1e-9 - delay_s) / STEPS - PHASE_S
    return phases


def check(arguments):
    bench = measured_memory(arguments)
    assert not bench["is_disturbed"], bench["verdict"]
    assert bench["cores"] >= 2, "two ranks need two cores of one NUMA node"
    memory = dict(bench["memory"])
    if bench["saturation"] != "saturates":
        print(f"two ranks are not seen to saturate memory here: {bench['verdict']}")
    phase_bytes = round(PHASE_S * memory["core_bytes_per_s"])
    real = real_phases(arguments, phase_bytes, bench["array_bytes"] // 2)
    simulated = simulated_phases(arguments, phase_bytes, memory)
    ratios = [phases["in-step"] / phases["turns"] for phases in (real, simulated)]
    print(f"a phase of {phase_bytes / 1e6:.1f} MB: in step {1e3 * real['in-step']:.3f} ms (simulated {1e3 * simulated['in-step']:.3f}), "
          f"taking turns {1e3 * real['turns']:.3f} ms (simulated {1e3 * simulated['turns']:.3f}); "
          f"ratio {ratios[0]:.3f} (simulated {ratios[1]:.3f})", flush=True)
    assert abs(ratios[0] / ratios[1] - 1) <= WITHIN, f"ratios of in step to taking turns: {ratios}"
    off = {kind: real[kind] / simulated[kind] for kind in real if abs(real[kind] / simulated[kind] - 1) > TIMES_WITHIN}
    assert not off, f"measured over simulated times: {off}"


def main():
    arguments = run_mpi.test_arguments(__doc__)
    if net_support.cores() < 2:
        run_mpi.skip("two ranks that move data", "two ranks need two cores")
    check(arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
