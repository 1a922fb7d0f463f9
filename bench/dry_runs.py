#!/usr/bin/env python3
"""Compares what --dry-run forecasts with the CPU time that the same commands take, over cases drawn at random.

SPDX-License-Identifier: BSD-3-Clause

Usage: dry_runs.py [--build BUILD] [--seed N] [--cases N] [--most SECONDS]
  --seed    which cases (1)
  --cases   how many of them (50)
  --most    cases that are forecast to take longer are drawn again (20)

A line for each case: forecast, CPU time (user and system, mean of two runs), user time, ratios to both, CPU time of --dry-run. Ends with
1 if fewer than 90 % of the forecasts are within 1.5 times of CPU time. Times depend on who else uses the machine.
"""

import argparse
import json
import os
import pathlib
import random
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", IDLEWAVE_CONFIG="")
WITHIN, SHARE = 1.5, 0.9

# Most ranks (a power of 2, of which a quarter at least is drawn to 2^4 times fewer) and bytes, repetitions at most.
PATTERNS = {
    "barrier:dissemination": (18, 1, 50), "barrier:tree": (16, 1, 50), "bcast:binomial": (17, 65536, 100), "bcast:chain": (11, 65536, 20),
    "reduce:rabenseifner": (14, 65536, 20), "allreduce:recursive-doubling": (17, 8, 50), "allreduce:ring": (13, 1 << 20, 2),
    "allreduce:rabenseifner": (14, 65536, 20), "allreduce:double-tree": (12, 65536, 10), "allreduce:node-rings": (9, 1 << 20, 2),
    "allreduce:two-level": (14, 1024, 20), "allgather:bruck": (14, 64, 10), "allgather:ring": (11, 64, 2), "alltoall:linear": (9, 64, 2),
    "alltoall:pairwise": (10, 64, 2), "alltoall:bruck": (12, 64, 4), "gather:linear": (14, 64, 4), "halo1d": (15, 8192, 200),
    "halo2d": (14, 8192, 200), "halo3d": (14, 8192, 100), "sweep2d": (13, 1024, 50), "halo2d+allreduce": (14, 1024, 50),
}
NOISE = ["none", "periodic:1kHz,16us", "periodic:10Hz,500us", "poisson:100Hz,exp:50us", "poisson:1kHz,fixed:5us", "node.h5",
         "node.h5 --extrapolate"]
SCHEDULES = ["barrier:dissemination", "bcast:binomial", "halo2d", "sweep2d", "alltoall:linear", "allreduce:ring"]
NETS = ["chic", "hdr-fat-tree", "altix"]


def pattern(draw, most_log=99):
    name, (ranks_log, most_bytes, repeats) = draw.choice(list(PATTERNS.items()))
    ranks = 1 << min(most_log, draw.randint(ranks_log - 4, ranks_log))
    return (f"--pattern {name} --ranks {ranks} --bytes {draw.choice([1, most_bytes])} --repeat {draw.randint(1, repeats)} "
            f"--compute {draw.choice(['0', '100us', '1ms'])}")


def how(draw):
    """Noise, trials and threads."""
    return f"--noise {draw.choice(NOISE)} --net {draw.choice(NETS)} --trials {draw.choice([1, 4, 8, 20, 50])} --threads {draw.choice([1, 2])}"


def of_pattern(draw, folder, number):
    return [], f"simulate {pattern(draw)} {how(draw)} --quiet"


def of_explanation(draw, folder, number):
    return [], f"simulate {pattern(draw, 12)} {how(draw)} --explain --quiet"


def of_schedule(draw, folder, number):
    form = draw.choice(["goal", "goal-bin"])
    prepare = (f"schedule --pattern {draw.choice(SCHEDULES)} --ranks {1 << draw.randint(6, 9)} --repeat {draw.randint(1, 5)} "
               f"--compute {draw.choice(['0', '100us'])} --format {form} -o {number}.{form}")
    return [prepare], f"simulate {number}.{form} {how(draw).replace(' --extrapolate', '')} --quiet"


def of_trace(draw, folder, number):
    ranks, explain = draw.choice([4, 64, 1024, 4096]), draw.choice(["", "", "--explain"])
    return [], f"simulate run --ranks {ranks} {how(draw)} {explain} --quiet"


def of_whatif(draw, folder, number):
    noise = draw.choice(["node.h5", "node.h5", "periodic:250Hz,3us --noise poisson:10Hz,exp:100us"])
    return [], f"whatif {pattern(draw, 11)} --noise {noise} --trials {draw.choice([8, 40])} --threads {draw.choice([1, 2])} --quiet"


def of_study(draw, folder, number):
    (name, (ranks_log, _, repeats)), noise = draw.choice(list(PATTERNS.items())), draw.choice(NOISE[1:6])
    most = 1 << min(ranks_log, 12)
    work = draw.choice([f"{{pattern: '{name}', repeat: {draw.randint(1, repeats)}, compute: 100us, ranks: [16, {most // 8}, {most}]}}",
                        "{trace: run, ranks: [64, 512]}", f"{{training: {ROOT}/examples/training-70b.yaml, steps: 5, ranks: [64, 256]}}"])
    noise = "periodic:1Hz,5ms" if "training" in work else noise
    (folder / f"{number}.yaml").write_text(f"trials: {draw.choice([6, 20, 100])}\nsystems:\n  - {{name: a, net: chic, noise: '{noise}'}}\n"
                                           f"  - {{name: b, net: altix, noise: 'periodic:10Hz,50us'}}\npatterns:\n  - {work}\n")
    return [], f"study {number}.yaml -o out{number} --threads {draw.choice([1, 2])} --quiet"


KINDS = [of_pattern] * 4 + [of_explanation, of_schedule, of_schedule, of_trace, of_trace, of_whatif, of_study]


def run(idlewave, command, folder):
    """Standard output, user and system seconds."""
    child = subprocess.Popen([idlewave, *shlex.split(command)], cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
    out, err = child.stdout.read(), child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 2, 3, 4, 5) and "--dry-run" not in command:
        raise SystemExit(f"'{command}' ends with {child.returncode}: {err.decode(errors='replace')}")
    return out, usage.ru_utime, usage.ru_stime


def forecast(idlewave, command, folder):
    """Its CPU seconds, and those that it took; None: there is no such case, as patterns that need nodes on a network without any."""
    out, *taken = run(idlewave, f"{command} --dry-run --format json", folder)
    if not out:
        return None, 0.0
    document = json.loads(out)
    return next(document[key] for key in ("cpu_s", "cpu_seconds", "core_seconds") if key in document), sum(taken)


def measured(idlewave, command, folder):
    """User seconds, and with those of the system. Results of a study are removed first: it would find them."""
    for results in folder.glob("out*"):
        shutil.rmtree(results)
    _, user, system = run(idlewave, command, folder)
    return user, user + system


def prepare(idlewave, folder):
    run(idlewave, "noise synth irq/local_timer=periodic:250Hz,3us irq/eno1=poisson:40Hz,exp:25us thread/collectd=poisson:1Hz,fixed:1ms "
                  "--cpus 4 --duration 2min -o node.h5", folder)
    subprocess.run(["mpicc", "-O2", ROOT / "examples" / "mpi" / "heat.c", "-o", folder / "heat"], check=True)
    subprocess.run(["mpirun", "--oversubscribe", "-n", "4", idlewave, "trace", "--overwrite", "-o", "run", "--", "./heat", "400"], cwd=folder,
                   env=ENVIRONMENT, check=True, stdout=subprocess.DEVNULL)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=50)
    parser.add_argument("--most", type=float, default=20.0)
    options = parser.parse_args(arguments)
    draw, right, number, attempt = random.Random(options.seed), 0, 0, 0
    with tempfile.TemporaryDirectory(prefix="idlewave-bench-") as scratch:
        folder, idlewave = pathlib.Path(scratch), options.build.resolve() / "cli" / "idlewave"
        prepare(idlewave, folder)
        print("forecast     CPU    user  : CPU : user  dry-run   command")
        while number < options.cases:
            attempt += 1
            steps, command = draw.choice(KINDS)(draw, folder, attempt)
            for step in steps:
                run(idlewave, step, folder)
            expected, dry = forecast(idlewave, command, folder)
            if expected is None or expected > options.most:
                continue
            user, cpu = (sum(seconds) / 2 for seconds in zip(measured(idlewave, command, folder), measured(idlewave, command, folder)))
            ratio, number = expected / cpu, number + 1
            right += 1 / WITHIN <= ratio <= WITHIN
            print(f"{expected:8.3f} {cpu:7.3f} {user:7.3f} {ratio:6.2f} {expected / max(user, 1e-3):6.2f} {dry:8.3f}   {command}", flush=True)
    print(f"{right} of {number} forecasts are within {WITHIN} times of CPU time")
    return 0 if right >= SHARE * number else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
