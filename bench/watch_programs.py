"""MPI programs that do blocks of work while something is switched on and off beside them: a halo exchange, LAMMPS, hpcc.

SPDX-License-Identifier: BSD-3-Clause
"""

import contextlib
import os
import pathlib
import re
import signal
import subprocess
import time

LAUNCH = ("mpirun", "--allow-run-as-root", "--bind-to", "core", "-n", "2")
BLOCK_S = 0.1


@contextlib.contextmanager
def ahead_of_it():
    """This process finds a CPU while a program at real-time priority has all of them."""
    os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(2))
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


class Launched:
    """At real-time priority: it meets interrupts, not the load of others. Who spins between blocks has to be stopped meanwhile."""

    def __init__(self, command, folder, **options):
        self.process = subprocess.Popen([*LAUNCH, "chrt", "--fifo", "1", *command], cwd=folder, text=True, **options)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.signal(signal.SIGCONT)
        self.end()
        self.process.wait()

    def signal(self, number):
        """To all ranks."""
        for pid in pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text(encoding="ascii").split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), number)

    @contextlib.contextmanager
    def going_on(self):
        self.signal(signal.SIGCONT)
        yield
        self.signal(signal.SIGSTOP)


class Asked(Launched):
    """A program that reads what to do from its input."""

    def __init__(self, command, folder):
        super().__init__(command, folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def end(self):
        self.process.stdin.close()
        self.process.stdout.read()

    def ask(self, text, answer):
        """Its first line that has the answer."""
        self.process.stdin.write(text)
        self.process.stdin.flush()
        for line in self.process.stdout:
            if found := re.search(answer, line):
                return found
        raise SystemExit(f"{self.process.args} has ended")


class Halo(Asked):
    """It sleeps between blocks."""

    def __init__(self, program, folder):
        super().__init__([program], folder)
        self.steps = 640
        for _ in range(3):
            self.steps = max(64, int(self.steps * BLOCK_S / self.block()[0]) // 64 * 64)

    def block(self):
        """Seconds, and the share that interruptions take."""
        found = self.ask(f"{self.steps}\n", r"(\d+) (\d+) (\d+) (\d+)")
        wall_ns, plain_ns, beyond_ns, _ = map(int, found.groups())
        return wall_ns * 1e-9, beyond_ns / plain_ns


# A melt of 4,000 atoms, without steps.
LAMMPS_MELT = """units lj
lattice fcc 0.8442
region box block 0 10 0 10 0 10
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
fix 1 all nve
thermo 100000
"""


class Lammps(Asked):
    def __init__(self, folder):
        super().__init__(["stdbuf", "-oL", "lmp", "-log", "none"], folder)
        self.process.stdin.write(LAMMPS_MELT)
        self.steps = 50
        for _ in range(3):
            self.steps = max(10, int(self.steps * BLOCK_S / self.block()))

    def block(self):
        """Seconds of its loop, as it says, after a short one in which caches become warm."""
        with self.going_on():
            self.run(self.steps // 5)
            return self.run(self.steps)

    def run(self, steps):
        return float(self.ask(f"run {steps} post no\n", r"Loop time of ([\d.]+)")[1])


INPUT = """HPLinpack benchmark input file
made by bench/watch_programs.py
HPL.out      output file name (if any)
8            device out (6=stdout,7=stderr,file)
20           # of problems sizes (N)
{sizes}
20           # of NBs
{widths}
0            PMAP process mapping (0=Row-,1=Column-major)
1            # of process grids (P x Q)
1            Ps
2            Qs
16.0         threshold
1            # of panel fact
2            PFACTs (0=left, 1=Crout, 2=Right)
10           # of recursive stopping criterium
4 4 4 4 4 4 4 4 4 4    NBMINs (>= 1)
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs (0=left, 1=Crout, 2=Right)
1            # of broadcast
1            BCASTs (0=1rg,1=1rM,2=2rg,3=2rM,4=Lng,5=LnM)
1            # of lookahead depth
1            DEPTHs (>=0)
2            SWAP (0=bin-exch,1=long,2=mix)
64           swapping threshold
0            L1 in (0=transposed,1=no-transposed) form
0            U  in (0=transposed,1=no-transposed) form
1            Equilibration (0=no,1=yes)
8            memory alignment in double (> 0)
##### This line (no. 32) is ignored (it serves as a separator). ######
0            Number of additional problem sizes for PTRANS
1200         values of N
0            number of additional blocking sizes for PTRANS
40           values of NB
"""


class Hpcc(Launched):
    """Its part HPL, which solves the same system again and again and says after each how fast it was. It does not wait for anybody."""

    SIDE, WIDTH = 1100, 80  # of the matrix, and of its blocks

    def __init__(self, folder):
        self.output = folder / "hpccoutf.txt"
        self.output.unlink(missing_ok=True)
        (folder / "hpccinf.txt").write_text(INPUT.format(sizes=" ".join(20 * [str(self.SIDE)]), widths=" ".join(20 * [str(self.WIDTH)])),
                                            encoding="ascii")
        super().__init__(["hpcc"], folder, stderr=subprocess.DEVNULL, env={**os.environ, "OMP_NUM_THREADS": "1"})
        while not self.output.exists():
            time.sleep(0.01)
        self.lines = self.output.open(encoding="ascii")
        self.rest = ""

    def end(self):
        self.signal(signal.SIGKILL)
        self.lines.close()

    def next_line(self):
        while "\n" not in self.rest:
            self.rest += self.lines.read()
            if self.process.poll() is not None:
                raise SystemExit("hpcc has ended")
            time.sleep(0.01)
        line, self.rest = self.rest.split("\n", 1)
        return line

    def solve(self):
        """Seconds that the next solution took."""
        operations = 2 / 3 * self.SIDE**3 + 3 / 2 * self.SIDE**2
        while not (found := re.match(r"WR.* ([\d.e+-]+)$", self.next_line())):
            pass
        return operations / (1e9 * float(found[1]))

    def block(self):
        """Seconds of the first solution that begins from now on."""
        self.rest = ""
        self.lines.seek(0, os.SEEK_END)
        with ahead_of_it(), self.going_on():
            self.solve()
            return self.solve()
