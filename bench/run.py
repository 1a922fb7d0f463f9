#!/usr/bin/env python3
"""Measures what users wait for, as a table; with --against, two commits by turns.

SPDX-License-Identifier: BSD-3-Clause

Usage: run.py [--build BUILD] [--against COMMIT] [--loggopsim PROGRAM] [--tries N] [--folder FOLDER] [--large] [--list] [ROW ...]
  --build      a release build of this tree (build/release)
  --against    builds COMMIT below build/against and runs both by turns
  --loggopsim  an own build of LogGOPSim, run on the same schedules
  --large      also the rows that take minutes or gigabytes
  ROW          only rows that begin so (--list names them)

A figure is the least user time of N tries of the whole command, or what a row derives from several commands or from what they print;
memory is the largest resident set. Times depend on the machine: compare columns of one run.
"""

import argparse
import collections
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", IDLEWAVE_CONFIG="")
TARGETS = ("cli/idlewave", "bench/window_bench")
MPIS = ("openmpi", "mpich")

# Commands are one text each: {idlewave}, {window_bench}, {iw_make_digests}, {heat}, {ring_openmpi}, {ring_mpich} and {loggopsim} are
# programs. A row's value is derived from the user seconds of its commands, in their order, or, if it is `printed`, from the first number
# that each of them prints; `other` is what LogGOPSim does in place of the last command.
Row = collections.namedtuple("Row", "name work prepare commands unit derive other large printed", defaults=(False, False))

NODE = ("{idlewave} noise synth irq/local_timer=periodic:250Hz,3us irq/eno1=poisson:40Hz,exp:25us thread/collectd=poisson:1Hz,fixed:1ms "
        "--cpus 4 --duration 10min -o node.h5")
TRACE = "mpirun --oversubscribe -n 4 {idlewave} trace --overwrite -o run -- {heat} 4000"
ALLREDUCE = "--pattern allreduce --repeat 20 --compute 1ms --net hdr-fat-tree"


def whole(seconds):
    return seconds[-1]


def ratio(seconds):
    """How many times as long as the first command the second takes."""
    return seconds[1] / seconds[0]


def per_message(messages):
    """Nanoseconds for each message that the second command has more than the first."""
    return lambda seconds: (seconds[1] - seconds[0]) * 1e9 / messages


def schedule(name, options):
    file = f"{name}.bin"
    return Row(f"file-{name}", f"`simulate` of `schedule {options}`", [f"{{idlewave}} schedule {options} --format goal-bin -o {file}"],
               [f"{{idlewave}} simulate {file} --net chic --quiet"], "s", whole, f"{{loggopsim}} -f {file}")


def messages_of(ranks, repeats):
    """Of a dissemination on a power of 2."""
    return ranks * (ranks.bit_length() - 1) * repeats


def noise_per_message(name, noise, prepare):
    ranks, trials = 16384, 16  # few beside those that check what the recording may have missed
    commands = [f"{{idlewave}} simulate --pattern barrier:dissemination --ranks {ranks} --compute 1ms --repeat {repeats} --net chic "
                f"--noise {noise} --trials {trials} --threads 1 --quiet" for repeats in (5, 25)]
    return Row(f"noise-{name}", f"a message under {name} noise", prepare, commands, "ns", per_message(messages_of(ranks, 20) * trials), None)


def tracing(mpi, kind, calls_per_step):
    """What a traced call of a ring of 8-byte messages costs: while two ranks run; with writing the archive, of one rank, which waits
    for no other; and on the disk."""
    steps = 200000
    calls = steps * calls_per_step
    plain = f"{{ring_{mpi}}} {kind} {steps}"
    traced = f"{{idlewave}} trace --overwrite --mpi {mpi} -o ring -- {plain}"
    name, work = f"call-{mpi}-{kind}", f"tracing a call, {mpi}, {'MPI_Irecv, Isend, Wait, Wait' if kind == 'isend' else 'MPI_Sendrecv'}"
    return [Row(f"{name}-ns", f"{work}: added while it runs", [], [f"mpirun.{mpi} -n 2 {traced} compare"], "ns", whole, None, printed=True),
            Row(f"{name}-cpu", f"{work}: with writing the archive", [], [plain, traced], "ns", per_message(calls), None),
            Row(f"{name}-bytes", f"{work}: the archive", [], [traced, "du -sb ring"], "B", lambda printed: printed[-1] / calls, None, printed=True)]


ROWS = [
    schedule("dissemination", "--pattern barrier:dissemination --ranks 65536"),
    schedule("binomial", "--pattern bcast:binomial --ranks 65536"),
    schedule("sweep", "--pattern sweep2d --ranks 4096 --repeat 235"),
    schedule("alltoall", "--pattern alltoall:linear --ranks 512"),
    schedule("halo", "--pattern halo2d --ranks 4096 --repeat 50"),
    Row("irregular-1", "`window_bench`: making and running a graph of 10^6 operations, one thread", [], ["{window_bench} 1000000 4096 1 0"], "s", whole, None),
    Row("irregular-2", "the same, on one thread and on two", [], ["{window_bench} 1000000 4096 2 0"], "s", whole, None),
    Row("explain", "`simulate --explain`, 65,536 ranks, recorded noise: times as long as without", [NODE],
        [f"{{idlewave}} simulate {ALLREDUCE} --ranks 65536 --noise node.h5 --trials 2 --quiet",
         f"{{idlewave}} simulate {ALLREDUCE} --ranks 65536 --noise node.h5 --trials 2 --explain --quiet"], "x", ratio, None),
    noise_per_message("periodic", "periodic:1000Hz,16us", []),
    noise_per_message("recorded", "node.h5", [NODE]),
    Row("trace", "a trace of 4 ranks on 32,768, 6 noisy trials", [TRACE],
        ["{idlewave} simulate run --ranks 32768 --net chic --noise periodic:1kHz,16us --trials 6 --quiet"], "s", whole, None),
    Row("trace-explain", "the trace on 4,096 ranks, recorded noise, 20 trials, `--explain`", [NODE, TRACE],
        ["{idlewave} simulate run --ranks 4096 --net chic --noise node.h5 --trials 20 --explain --quiet"], "s", whole, None),
    Row("whatif", "`whatif`, 4,096 ranks, three sources", [NODE],
        [f"{{idlewave}} whatif {ALLREDUCE} --ranks 4096 --noise node.h5 --quiet"], "s", whole, None),
    Row("training", "the bill of README's training job, 16,384 GPUs", [],
        ["{idlewave} training --model llama3-405b --tp 8 --pp 16 --dp 128 --chunks 8 --microbatches 16 --step-rate 400TFLOP/s "
         "--noise python-gc --trials 6 --quiet"], "s", whole, None, True),
    Row("ranks-2^20", "a noisy barrier on 2^20 ranks", [],
        ["{idlewave} simulate --pattern barrier:dissemination --ranks 1Mi --net chic --noise periodic:0.375Hz,5.6ms --trials 1 --quiet"],
        "s", whole, None),
    Row("ranks-2^28", "a noisy barrier on 2^28 ranks", [],
        ["{idlewave} simulate --pattern barrier:dissemination --ranks 2^28 --net chic --noise periodic:0.375Hz,5.6ms --trials 1 --quiet"],
        "s", whole, None, True),
    Row("fleet", "`fleet` of 10,000 digests of 128 CPUs", ["{iw_make_digests} fleet.digest 10000 128 50"],
        ["{idlewave} fleet fleet.digest"], "s", whole, None),
    Row("fleet-large", "`fleet` of 100,000 digests of 128 CPUs", ["{iw_make_digests} large.digest 100000 128 50"],
        ["{idlewave} fleet large.digest"], "s", whole, None, True),
    Row("hour", "`noise show` of an hour on 128 CPUs", ["{idlewave} noise synth irq/local_timer=poisson:10Hz,exp:3us "
        "thread/daemon=poisson:1Hz,exp:300us --cpus 128 --duration 1h -o hour.h5"],
        ["{idlewave} noise show hour.h5"], "s", whole, None, True),
    *[row for mpi in MPIS for kind, calls in (("isend", 4), ("sendrecv", 1)) for row in tracing(mpi, kind, calls)],
]


def run(command, folder):
    """(user seconds, MiB, what it prints) of a command, which must pass or give a verdict (exit codes 2 to 5)."""
    with tempfile.TemporaryFile(mode="w+", errors="replace") as printed:
        child = subprocess.Popen(shlex.split(command), cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=printed, stderr=subprocess.PIPE)
        message = child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        printed.seek(0)
        text = printed.read(1000)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 2, 3, 4, 5):
        raise SystemExit(f"'{command}' ends with {child.returncode}: {message.decode(errors='replace')}")
    return usage.ru_utime, usage.ru_maxrss / 1024, text


def measure(row, sides, folder, tries):
    """{side: (value, MiB)}: the sides run by turns, so that a machine that changes its speed changes it for all."""
    best = {side: [float("inf")] * len(row.commands) for side in sides}
    memory = dict.fromkeys(sides, 0.0)
    for _ in range(tries):
        for side, programs in sides.items():
            commands = [*row.commands[:-1], row.other] if side == "LogGOPSim" else row.commands
            for number, command in enumerate(commands):
                seconds, mebibytes, text = run(command.format(**programs), folder)
                value = float(text.split()[0]) if row.printed and text else seconds
                best[side][number] = min(best[side][number], value)
                memory[side] = max(memory[side], mebibytes)
    return {side: (row.derive(best[side]), memory[side]) for side in sides}


def build_of(commit, targets):
    """A release build of another commit, kept for the next time."""
    name = subprocess.run(["git", "rev-parse", "--short=10", f"{commit}^{{commit}}"], cwd=ROOT, capture_output=True, text=True,
                          check=True).stdout.strip()
    source = ROOT / "build" / "against" / name
    if not source.exists():
        subprocess.run(["git", "worktree", "add", "--detach", source, name], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--preset", "release"], cwd=source, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", "--preset", "release", "--target", *targets], cwd=source, check=True, stdout=subprocess.DEVNULL)
    return name, source / "build" / "release"


def programs_of(build, inputs):
    return dict(inputs, idlewave=build / "cli" / "idlewave", window_bench=build / "bench" / "window_bench")


def compiled_heat(folder):
    program = folder / "heat"
    subprocess.run(["mpicc", "-O2", ROOT / "examples" / "mpi" / "heat.c", "-o", program], check=True)
    return program


def table_line(row, figures, sides):
    """Figures of all sides, how many times the first one's each of them is, and the first one's memory."""
    (first, memory), *_ = figures.values()
    values = [f"{figures[side][0]:.3g} {row.unit}" if side in figures else "-" for side in sides]
    ratios = [f"{figures[side][0] / first:.2f}" if side in figures else "-" for side in sides[1:]]
    return f"| {' | '.join([row.name, row.work, *values, *ratios, f'{memory:.0f} MiB'])} |"


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release")
    parser.add_argument("--against", metavar="COMMIT")
    parser.add_argument("--loggopsim", type=pathlib.Path)
    parser.add_argument("--tries", type=int, default=3)
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("rows", nargs="*")
    options = parser.parse_args(arguments)
    rows = [row for row in ROWS if (row.name.startswith(tuple(options.rows)) if options.rows else options.large or not row.large)]
    if options.list:
        print("\n".join(f"{row.name:20} {row.work}" for row in rows))
        return 0
    with tempfile.TemporaryDirectory(prefix="idlewave-bench-") as scratch:
        folder = (options.folder or pathlib.Path(scratch)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        build = options.build.resolve()
        needed = set(re.findall(r"\{(\w+)\}", " ".join(text for row in rows for text in [*row.prepare, *row.commands])))
        inputs = {"iw_make_digests": build / "cli" / "iw_make_digests"}
        if "heat" in needed:
            inputs["heat"] = compiled_heat(folder)
        traced = [mpi for mpi in MPIS if f"ring_{mpi}" in needed]
        inputs.update((f"ring_{mpi}", build / "tests" / "mpi" / "bin" / mpi / "trace_ring") for mpi in traced)
        sides = {"this": programs_of(build, inputs)}
        if options.against:
            name, other = build_of(options.against, [*TARGETS, *(f"iw_plugin_trace_{mpi}" for mpi in traced)])
            sides[name] = programs_of(other, inputs)
        if options.loggopsim:
            sides["LogGOPSim"] = {"loggopsim": options.loggopsim.resolve()}
        heads = ["row", "work", *sides, *(f"{side} : this" for side in list(sides)[1:]), "memory"]
        print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}", flush=True)
        prepared = set()
        for row in rows:
            for command in row.prepare:
                if command not in prepared:
                    run(command.format(**sides["this"]), folder)
                    prepared.add(command)
            able = {side: programs for side, programs in sides.items() if row.other or side != "LogGOPSim"}
            print(table_line(row, measure(row, able, folder, options.tries), list(sides)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
