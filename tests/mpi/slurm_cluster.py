"""A Slurm of its own for tests: munged, slurmctld and some slurmd on this machine, without systemd.

SPDX-License-Identifier: BSD-3-Clause

    slurm_cluster.require()                        ends the test with 77 if something is missing
    slurm_cluster.enter_namespace()                runs this script again where nothing can outlive it
    with slurm_cluster.Cluster(folder, nodes=4) as cluster:
        done = cluster.run(["srun", "-n", "2", "hostname"])

The nodes are virtual: all of them are this machine, with ports of their own. Everything runs in a PID namespace: however
the test ends, the kernel ends all that it has started, jobs too.
"""

import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time

SKIPPED = 77
PROGRAMS = ("munged", "slurmctld", "slurmd", "srun", "sbatch", "squeue", "sinfo", "unshare")
INSIDE = "IW_SLURM_NAMESPACE"
START_SECONDS = 60
FREEZER = pathlib.Path("/sys/fs/cgroup/freezer")  # of version 1: version 2 needs systemd

CONFIGURATION = """
ClusterName=iw
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/{proctrack}
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
MpiDefault=none
MailProg=/bin/true
ReturnToService=2
KillWait=2
InactiveLimit=0
SchedulerParameters=sched_interval=1,batch_sched_delay=0,defer_batch
NodeName=n[0-{last}] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{ports[1]}-{last_port}] CPUs=2 State=UNKNOWN
PartitionName=test Nodes=ALL Default=YES MaxTime=INFINITE OverSubscribe=NO State=UP
"""


def search_path():
    return os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])


def skip(why):
    print(f"SKIPPED: studies under Slurm: {why}", flush=True)
    sys.exit(SKIPPED)


def require():
    missing = [name for name in PROGRAMS if shutil.which(name, path=search_path()) is None]
    if missing:
        skip(f"there is no {', '.join(missing)} (apt-get install slurmctld slurmd slurm-client munge)")
    if os.geteuid() != 0:
        skip("only root may start Slurm's daemons")


def enter_namespace():
    """Returns inside of it; outside it ends with the exit code of the inner run."""
    if os.environ.get(INSIDE) is not None:
        return
    unshare = ["unshare", "--pid", "--mount-proc", "--fork", "--kill-child=KILL"]
    if subprocess.run([*unshare, "true"], check=False, stderr=subprocess.DEVNULL).returncode != 0:
        skip("no PID namespace can be made")
    line = [*unshare, sys.executable, "-B", *sys.argv]
    sys.exit(subprocess.run(line, check=False, env=dict(os.environ, **{INSIDE: "1"})).returncode)


def free_ports(count):
    """The first of so many ports in a row that nobody listens on."""
    for first in range(26810, 32000, count):
        sockets = []
        try:
            for port in range(first, first + count):
                sockets.append(socket.socket())
                sockets[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                sockets[-1].bind(("127.0.0.1", port))
            return list(range(first, first + count))
        except OSError:
            pass
        finally:
            for one in sockets:
                one.close()
    raise RuntimeError("no free ports")


class Cluster:
    """Runs from __enter__ to __exit__; all of its files are in `folder`."""

    def __init__(self, folder, nodes, more="", wants_groups=False):
        self.folder = pathlib.Path(folder)
        self.has_groups = wants_groups and FREEZER.is_dir()  # each job has a control group
        self.nodes = nodes
        self.more = more  # lines for slurm.conf
        self.daemons = []
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}
        self.environment.update(PATH=search_path(), SLURM_CONF=str(self.folder / "slurm.conf"))

    def configure(self):
        ports = free_ports(self.nodes + 1)
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "state").mkdir()
        (self.folder / "munge.key").write_bytes(os.urandom(128))
        (self.folder / "munge.key").chmod(0o600)
        text = CONFIGURATION.format(host=socket.gethostname().split(".", maxsplit=1)[0], ports=ports,
                                    last=self.nodes - 1, last_port=ports[-1], folder=self.folder,
                                    proctrack="cgroup" if self.has_groups else "linuxproc")
        (self.folder / "slurm.conf").write_text(text + self.more, encoding="utf-8")
        if self.has_groups:
            (self.folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n", encoding="utf-8")

    def start(self, *line):
        output = (self.folder / f"{len(self.daemons)}-{line[0]}.out").open("wb")
        with output:
            self.daemons.append(subprocess.Popen(line, env=self.environment, stdin=subprocess.DEVNULL, stdout=output,
                                                 stderr=subprocess.STDOUT, start_new_session=True))

    def wait_for(self, what, is_there):
        limit = time.monotonic() + START_SECONDS
        while not is_there():
            ended = [daemon.args[0] for daemon in self.daemons if daemon.poll() is not None]
            if ended or time.monotonic() > limit:
                raise RuntimeError(f"{what}: {', '.join(ended) or 'nothing'} has ended\n{self.logs()}")
            time.sleep(0.1)

    def logs(self):
        """The last lines of what all daemons said."""
        paths = sorted([*self.folder.glob("*.log"), *self.folder.glob("*.out")])
        texts = ((path.name, path.read_text(encoding="utf-8", errors="replace")) for path in paths)
        return "\n".join(f"{name}: {line}" for name, text in texts for line in text.splitlines()[-15:])

    def are_nodes_idle(self):
        states = self.run(["sinfo", "-h", "-N", "-o", "%N %T"]).stdout
        return len(re.findall(r"^n\d+ idle$", states, re.MULTILINE)) == self.nodes

    def __enter__(self):
        try:
            self.configure()
            own = {name: f"--{name}={self.folder}/munge.{name.split('-', maxsplit=1)[0]}"
                   for name in ("key-file", "pid-file", "log-file", "seed-file", "socket")}
            self.start("munged", "--foreground", "--force", "--num-threads=2", *own.values())
            self.wait_for("munged's socket", (self.folder / "munge.socket").exists)
            self.start("slurmctld", "-D")
            for node in range(self.nodes):
                self.start("slurmd", "-D", "-N", f"n{node}")
            self.wait_for("idle nodes", self.are_nodes_idle)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *_):
        for daemon in reversed(self.daemons):  # the namespace would end them too, but not in order
            daemon.terminate()
            try:
                daemon.wait(timeout=5)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        for node in range(self.nodes if self.has_groups else 0):
            for group in sorted(FREEZER.glob(f"slurm_n{node}/**/"), reverse=True):  # Slurm leaves the outermost
                group.rmdir()

    def run(self, line, timeout=300, env=None, cwd=None):
        """Runs one of Slurm's commands, or any other, as a user of the cluster would."""
        return subprocess.run([str(word) for word in line], env=dict(self.environment, **(env or {})), cwd=cwd,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=timeout, check=False)
