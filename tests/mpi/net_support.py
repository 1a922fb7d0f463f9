"""What the tests of `idlewave net` share: networks to choose, runs of it, two "hosts" made of network namespaces.

SPDX-License-Identifier: BSD-3-Clause
"""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import run_mpi

GRACE_SECONDS = 5
# As users run it: one rank a core, no yielding. Debian's MPICH talks over UCX.
QUIET = {"OMPI_MCA_mpi_yield_when_idle": "0", "OMPI_MCA_hwloc_base_binding_policy": "core"}
BINDING = {"openmpi": [], "mpich": ["-bind-to", "core"]}
NETWORKS = {  # name: for each MPI options and environment
    "shm": {"openmpi": ([], {}), "mpich": ([], {})},
    "tcp": {"openmpi": (["--mca", "btl", "self,tcp"], {}), "mpich": ([], {"UCX_TLS": "tcp,self"})},
}


def cores():
    return len(os.sched_getaffinity(0))


def may_use_fifo():
    """Does this machine let us?"""
    try:
        policy, parameter = os.sched_getscheduler(0), os.sched_getparam(0)
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        os.sched_setscheduler(0, policy, parameter)
        return True
    except OSError:
        return False


def idle_share(seconds):
    """Of all CPUs, in the next so many seconds."""
    def read():
        fields = [int(field) for field in pathlib.Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()[1:]]
        return fields[3] + fields[4], sum(fields[:8])
    idle, whole = read()
    time.sleep(seconds)
    idle_after, whole_after = read()
    return (idle_after - idle) / max(whole_after - whole, 1)


def wait_until_quiet(most_seconds=2, share=0.9):
    """Waits until others leave the machine alone, but not long. Returns whether they do."""
    end = time.monotonic() + most_seconds
    while time.monotonic() < end:
        if idle_share(0.4) >= share:
            return True
        time.sleep(0.5)
    return False


def before_others(command):
    """What each rank runs, with the highest ordinary priority, where we may have it: what else runs disturbs less. Kernels
    that group tasks by session share CPUs out among sessions first, and MPICH's launcher makes one for each rank."""
    raised = "echo -20 2>/dev/null >/proc/$$/autogroup; exec nice -n -20 \"$0\" \"$@\""
    return ["sh", "-c", raised, *command] if os.geteuid() == 0 else command


def run_until(line, env, is_complete, timeout):
    """Runs a command until it ends, or until some time after its output is complete: MPICH over TCP (UCX 1.13) at times
    hangs in MPI_Finalize, of any program. Returns (exit code or None, stdout, stderr)."""
    with tempfile.TemporaryDirectory(prefix="iw_out_") as name:
        folder = pathlib.Path(name)
        # read by their names: the program's place in its output must not move
        with open(folder / "out", "wb") as out, open(folder / "err", "wb") as err, subprocess.Popen(
                line, env=run_mpi.environment(env), stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                start_new_session=True) as process:
            end = time.monotonic() + timeout
            complete_at = None
            try:
                while process.poll() is None and time.monotonic() < end:
                    if complete_at is None and is_complete((folder / "out").read_text(errors="replace")):
                        complete_at = time.monotonic()
                    if complete_at is not None and time.monotonic() > complete_at + GRACE_SECONDS:
                        break
                    time.sleep(0.05)
            finally:
                code = process.poll()
                if code is None:
                    os.killpg(process.pid, signal.SIGKILL)
        text = (folder / "out").read_text(errors="replace")
        if code is None and is_complete(text):
            code = 0
        return code, text, (folder / "err").read_text(errors="replace")


def is_json(text):
    return text.rstrip().endswith("\n}")


def has_rows(text, rows):
    return text.count("\n") >= rows


def net_line(mpi, ranks, idlewave, yaml, duration, network="shm", extra=()):
    """The command line and environment of `idlewave net`, JSON on its standard output."""
    options, env = NETWORKS[network][mpi]
    line = [run_mpi.launcher(mpi), *BINDING[mpi], *options, "-n", str(ranks),
            *before_others([str(idlewave), "net", "-o", str(yaml), "--duration", duration, "--format", "json", *extra])]
    return line, dict(QUIET, **env)


def launches_line(mpi, ranks, idlewave, yaml, duration, network="shm", extra=(), launches=5):
    """The same of several launches, each of that duration."""
    options, env = NETWORKS[network][mpi]
    line = [str(idlewave), "net", "-o", str(yaml), "--duration", duration, "--format", "json", "--launches", str(launches),
            *extra, "--", run_mpi.launcher(mpi), *BINDING[mpi], *options, "-n", str(ranks), *before_others([])]
    return line, dict(QUIET, **env)


def measure(mpi, ranks, idlewave, yaml, duration="3s", network="shm", extra=(), timeout=200, launches=1):
    """The JSON of a run of `idlewave net`."""
    line, env = (net_line(mpi, ranks, idlewave, yaml, duration, network, extra) if launches == 1 else
                 launches_line(mpi, ranks, idlewave, yaml, duration, network, extra, launches))
    code, out, err = run_until(line, env, is_json, timeout)
    assert code == 0, f"{' '.join(line)} ended with {code}:\n{out}\n{err}"
    return json.loads(out)


def level_of(result, name):
    return next(level for level in result["levels"] if level["name"] == name)


def overlap(a, b):
    """Do the intervals of two runs of several launches meet? What is unknown has none, and lies apart from nothing."""
    if a["value"] is None or b["value"] is None:
        return True
    return a["low"] <= b["high"] and b["low"] <= a["high"]


def attempts(count, attempt):
    """Calls attempt() until it does not fail: the machine is shared, its noise may hide what is tested."""
    for number in range(count):
        try:
            return attempt()
        except AssertionError as fault:
            if number + 1 == count:
                raise
            print(f"attempt {number + 1}: {fault}", flush=True)
    return None


# ---- two hosts ----

PREFIX = "iwt"
CABLE = "iwt0"  # the same name on both ends: MPICH's launcher looks for it on each host
# UCX must not use memory that all "hosts" of one machine could share: System V memory is told apart by --ipc.
HOSTS_ENVIRONMENT = {"openmpi": {}, "mpich": {"UCX_TLS": "tcp,self,sysv"}}
AGENT = """#!/bin/sh
# stands for rsh: runs a command on one of the "hosts"
while [ "${1#-}" != "$1" ]; do shift; done
host=$1
shift
exec ip netns exec "$host" unshare --uts --ipc sh -c "hostname $host && mount --bind %(hosts)s /etc/hosts && $*"
"""


def ip(*arguments, check=True):
    return subprocess.run(["ip", *arguments], check=check, capture_output=True, text=True)


def namespaces():
    return [line.split()[0] for line in ip("netns", "list", check=False).stdout.splitlines() if line.strip()]


def remove_namespace(name):
    for pid in ip("netns", "pids", name, check=False).stdout.split():
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(pid), signal.SIGKILL)
    ip("netns", "del", name, check=False)


def remove_stale():
    """Namespaces of tests that were killed: their names have the test's process id."""
    for name in namespaces():
        pid = name.removeprefix(PREFIX)[1:]
        if name.startswith(PREFIX) and pid.isdigit() and not pathlib.Path(f"/proc/{pid}").exists():
            remove_namespace(name)


def can_have_hosts():
    return os.geteuid() == 0 and shutil.which("ip") is not None and ip("netns", "list", check=False).returncode == 0


class Hosts:
    """Two network namespaces with host names of their own and a cable between them; removed on leaving, also by
    SIGTERM and SIGINT, and by the next test after a SIGKILL. The cable is the kernel's (veth), or a process with a delay
    and a rate: (program, microseconds, Mbit/s), see cable.c."""

    def __init__(self, slow_cable=None):
        self.slow_cable = slow_cable
        self.carrier = None

    def __enter__(self):
        remove_stale()
        self.folder = tempfile.TemporaryDirectory(prefix="iw_hosts_")
        self.names = [f"{PREFIX}{letter}{os.getpid()}" for letter in "ab"]
        self.handlers = {number: signal.signal(number, self.on_signal) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            self.connect()
        except subprocess.CalledProcessError as fault:
            self.__exit__(None, None, None)
            run_mpi.skip("two hosts", f"no network namespaces can be made here: {fault.stderr.strip()}")
        return self

    def on_signal(self, number, _frame):
        sys.exit(128 + number)  # unwinds, and so comes to __exit__

    def connect(self):
        folder = pathlib.Path(self.folder.name)
        (folder / "hosts").write_text("127.0.0.1 localhost\n" + "".join(
            f"10.77.0.{i + 1} {name}\n" for i, name in enumerate(self.names)), encoding="utf-8")
        self.agent = folder / "agent"
        self.agent.write_text(AGENT % {"hosts": folder / "hosts"}, encoding="utf-8")
        self.agent.chmod(0o755)
        for name in self.names:
            ip("netns", "add", name)
        if self.slow_cable is None:
            ip("link", "add", CABLE, "netns", self.names[0], "type", "veth", "peer", "name", CABLE, "netns", self.names[1])
        else:
            self.start_carrier()
        for i, name in enumerate(self.names):
            ip("-n", name, "addr", "add", f"10.77.0.{i + 1}/24", "dev", CABLE)
            ip("-n", name, "link", "set", CABLE, "up")
            ip("-n", name, "link", "set", "lo", "up")
        end = time.monotonic() + 10
        while time.monotonic() < end and not all(self.is_ready(name) for name in self.names):
            time.sleep(0.1)

    def start_carrier(self):
        program, *numbers = self.slow_cable
        self.carrier = subprocess.Popen([program, CABLE, *self.names, *map(str, numbers)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        if self.carrier.stdout.readline() != "ready\n":
            raise subprocess.CalledProcessError(1, program, stderr="the cable is not ready")
        for name in self.names:
            ip("-n", name, "link", "set", CABLE, "mtu", "9000")
            # a pause between two messages is not what slows the second one down
            subprocess.run(["ip", "netns", "exec", name, "sysctl", "-qw", "net.ipv4.tcp_slow_start_after_idle=0"], check=False)

    @staticmethod
    def is_ready(name):
        """UCX does not use a cable whose IPv6 address is still being checked for duplicates."""
        shown = ip("-n", name, "addr", "show", "dev", CABLE, check=False).stdout
        return ("state UP" in shown or "LOWER_UP" in shown) and "tentative" not in shown

    def __exit__(self, *_):
        if self.carrier is not None:
            self.carrier.communicate()
        for name in self.names:
            remove_namespace(name)
        for number, handler in self.handlers.items():
            signal.signal(number, handler)
        self.folder.cleanup()

    def line(self, mpi, ranks_per_host, command):
        """The command line that starts `command` on both hosts, from within the first."""
        where = ",".join(f"{name}:{ranks_per_host}" for name in self.names)
        launcher = run_mpi.launcher(mpi)
        if mpi == "openmpi":
            options = ["--mca", "plm", "rsh", "--mca", "plm_rsh_agent", str(self.agent), "--mca", "oob_tcp_if_include",
                       "10.77.0.0/24", "--mca", "btl", "self,vader,tcp", "--mca", "btl_tcp_if_include", "10.77.0.0/24",
                       "-host", where]
        else:
            options = ["-launcher", "rsh", "-launcher-exec", str(self.agent), "-iface", CABLE, "-hosts", where]
        ranks = ["-n", str(2 * ranks_per_host)]
        return [str(self.agent), self.names[0], launcher, *options, *ranks, *map(str, command)]


@contextlib.contextmanager
def hosts():
    """Two hosts for a test, which is skipped where they cannot be had; nothing of them is left behind."""
    if not can_have_hosts():
        run_mpi.skip("two hosts", "network namespaces need root and iproute2")
    with Hosts() as made:
        yield made
    left = [name for name in namespaces() if name in made.names]
    assert not left, f"left behind: {left}"
