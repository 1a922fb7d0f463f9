#!/usr/bin/env python3
"""Health checks on a real Slurm: nodes are drained while they are noisy, by HealthCheckProgram and by the prolog; and by Ansible.

SPDX-License-Identifier: BSD-3-Clause

Usage: slurm_health_test.py --idlewave PATH     skipped (77) without Slurm's daemons or root; see slurm_cluster.py

What `idlewave` finds on a node is made: a recording, and the files of a node. All else is as on a cluster.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import run_mpi
import slurm_cluster

SOURCE = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = SOURCE / "examples"
PATIENCE_SECONDS = 60
NOISE = {"good": "thread/sshd=poisson:5Hz,exp:20us", "noisy": "thread/collectd=poisson:20Hz,exp:2ms"}

# the node's name tells which files `idlewave` sees there
PRETENDED = """#!/bin/bash
verb=$1; shift
node={folder}/${{SLURMD_NODENAME:-n0}}
if [ "$verb" = check ]; then
  exec {idlewave} check "$@" --jobs none --sysroot $node.root $node.h5
fi
exec {idlewave} "$verb" "$@" --sysroot $node.root
"""
STARTED = """#!/bin/bash
export IDLEWAVE={folder}/idlewave LOGGER=/bin/true IDLEWAVE_PROFILE=/nowhere IDLEWAVE_WITHIN=20s SLURM_CONF={conf}
exec {script}
"""


class Case(unittest.TestCase):
    cluster = None
    folder = None
    idlewave = None

    @classmethod
    def pretend(cls, node, noise, root="plain"):
        """From now on `node` has this noise, and these settings."""
        shutil.copy(cls.folder / f"{noise}.h5", cls.folder / f"{node}.new")
        os.replace(cls.folder / f"{node}.new", cls.folder / f"{node}.h5")
        link = cls.folder / f"{node}.link"
        link.symlink_to(SOURCE / "tests/data/nodes" / root)
        os.replace(link, cls.folder / f"{node}.root")

    def setUp(self):
        for node in ("n0", "n1"):
            self.pretend(node, "good")
        self.addCleanup(self.pretend, "n0", "good")
        self.addCleanup(self.pretend, "n1", "good")

    def node(self, name):
        return self.cluster.run(["scontrol", "--oneliner", "show", "node", name]).stdout

    def wait(self, name, is_right, what):
        limit = time.monotonic() + PATIENCE_SECONDS
        while not is_right(self.node(name)):
            self.assertLess(time.monotonic(), limit, f"{name} is not {what}: {self.node(name)}\n{self.cluster.logs()}")
            time.sleep(0.2)

    def wait_until_drained(self, name, reason):
        self.wait(name, lambda text: "DRAIN" in text and f"Reason={reason}" in text, f"drained by '{reason}'")

    def wait_until_idle(self, name):
        self.wait(name, lambda text: "State=IDLE " in text and "Reason=" not in text, "idle")


class Health(Case):
    def test_a_noisy_node_is_drained_until_it_is_good_again(self):
        self.pretend("n1", "noisy")
        self.wait_until_drained("n1", "idlewave: NOISY login1: CPU time lost: 4.22 %")
        self.wait_until_idle("n0")
        self.pretend("n1", "good")
        self.wait_until_idle("n1")

    def test_a_busy_node_stays_as_it_is(self):
        self.wait_until_idle("n1")
        self.pretend("n1", "busy", root=self.folder / "busy-root")
        found = subprocess.run([self.folder / "idlewave", "check", "--quiet"], env=dict(os.environ, SLURMD_NODENAME="n1"),
                               capture_output=True, text=True, check=False)
        self.assertEqual(found.returncode, 5, found.stdout + found.stderr)
        time.sleep(5)  # longer than the interval
        self.wait_until_idle("n1")

    def test_what_somebody_else_has_drained_stays_drained(self):
        self.cluster.run(["scontrol", "update", "NodeName=n1", "State=DRAIN", "Reason=fan"])
        self.addCleanup(self.cluster.run, ["scontrol", "update", "NodeName=n1", "State=RESUME"])
        self.pretend("n1", "noisy")
        time.sleep(4)
        self.pretend("n1", "good")
        time.sleep(4)
        self.wait_until_drained("n1", "fan")


class Prolog(Case):
    def test_a_node_at_odds_with_its_settings_gets_no_job(self):
        self.wait_until_idle("n1")
        done = self.cluster.run(["srun", "-w", "n1", "echo", "ran"])
        self.assertEqual(done.stdout, "ran\n", done.stderr)
        self.pretend("n1", "good", root="tick")
        job = self.cluster.run(["sbatch", "--parsable", "-w", "n1", "--output=/dev/null", "--wrap", "true"]).stdout.strip()
        self.addCleanup(self.cluster.run, ["scontrol", "update", "NodeName=n1", "State=RESUME"])
        self.addCleanup(self.cluster.run, ["scancel", job])
        self.wait("n1", lambda text: "DRAIN" in text, "drained by its prolog")


class Ansible(Case):
    def play(self, *variables):
        playbook = self.folder / "play.yml"
        playbook.write_text(json.dumps([{"hosts": "all", "gather_facts": False, "roles": [
            {"role": "idlewave", "idlewave_command": str(self.folder / "idlewave"), "idlewave_folder": str(self.folder / "etc"),
             "idlewave_results": str(self.folder / "results")}]}]), encoding="utf-8")
        words = [word for variable in variables for word in ("-e", variable)]
        environment = dict(os.environ, ANSIBLE_ROLES_PATH=str(EXAMPLES / "ansible/roles"), HOME=str(self.folder))
        return subprocess.run(["ansible-playbook", "-i", "n0,", "-c", "local", "-e", f"ansible_python_interpreter={sys.executable}",
                               *words, playbook], capture_output=True, text=True, check=False, env=environment)

    def test_the_role_learns_a_profile_and_fails_where_it_is_missed(self):
        if shutil.which("ansible-playbook") is None:
            self.skipTest("there is no ansible-playbook (apt-get install ansible-core)")
        profile = self.folder / "learned.json"
        done = self.play(f"idlewave_profile={profile}", '{"idlewave_learn": true}')
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        done = self.play(f"idlewave_profile={profile}")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("GOOD login1", done.stdout)
        self.pretend("n0", "noisy")
        done = self.play(f"idlewave_profile={profile}")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("NOISY login1: CPU time lost 4.22 % (limit 0.05 %)", done.stdout)
        result = json.loads((self.folder / "results/n0/check.json").read_text(encoding="utf-8"))
        self.assertEqual(result["outcome"], "noisy")
        self.assertTrue((self.folder / "results/n0/check.html").exists())


def prepare(folder, idlewave):
    """Recordings, and programs that stand for those of a node; lines for slurm.conf."""
    for name, spec in NOISE.items():
        subprocess.run([idlewave, "noise", "synth", spec, "--cpus", "2", "--duration", "20s", "-o", folder / f"{name}.h5"],
                       check=True, stdout=subprocess.DEVNULL)
    subprocess.run([idlewave.parent / "iw_make_recording", "busy", folder / "busy.h5"], check=True)
    shutil.copytree(SOURCE / "tests/data/nodes/plain", folder / "busy-root", ignore=shutil.ignore_patterns("later"))
    hostname = folder / "busy-root/proc/sys/kernel/hostname"
    hostname.unlink()
    hostname.write_text("node07\n", encoding="utf-8")  # as the recording has it
    (folder / "idlewave").write_text(PRETENDED.format(folder=folder, idlewave=idlewave), encoding="utf-8")
    scripts = {"health": "check-health.sh", "prolog": "verify-prolog.sh"}
    for name, script in scripts.items():
        (folder / name).write_text(STARTED.format(folder=folder, script=EXAMPLES / "slurm" / script,
                                                  conf=folder / "slurm/slurm.conf"), encoding="utf-8")
    for name in ("idlewave", *scripts):
        (folder / name).chmod(0o755)
    return (f"HealthCheckProgram={folder}/health\nHealthCheckInterval=2\nHealthCheckNodeState=ANY\n"
            f"Prolog={folder}/prolog\nPrologFlags=Alloc\n")


class Watch(Case):
    """What a job of Slurm loses, by its number."""

    def test_a_job_is_watched_by_its_number(self):
        if not self.cluster.has_groups:
            self.skipTest("no freezer of control groups, version 1")
        with subprocess.Popen(["srun", "-n", "2", "sh", "-c", "while :; do :; done"], env=self.cluster.environment,
                              stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            try:
                result = self.watch(self.number_of_running_job())
            finally:
                process.terminate()
        self.assertIn("slurm_n", result["watch"]["job"])
        totals = result["watch"]["totals"]
        # two loops want CPUs all the time: one each, or one for both
        self.assertGreater(totals["wanted_ns"], 0.8 * result["watch"]["watched_ns"])
        self.assertGreater(totals["run_ns"], 0)

    def number_of_running_job(self):
        limit = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < limit:
            words = self.cluster.run(["squeue", "-h", "-t", "RUNNING", "-o", "%i"]).stdout.split()
            if words and list(slurm_cluster.FREEZER.glob(f"slurm_n*/uid_*/job_{words[0]}/step_0")):
                time.sleep(0.5)  # until it spins
                return words[0]
            time.sleep(0.1)
        self.fail(f"the job does not run\n{self.cluster.logs()}")

    def watch(self, job):
        done = self.cluster.run([self.idlewave, "watch", "--no-config", "--job", job, "--duration", "1s", "--format", "json",
                                 "-o", self.folder / "watched.h5"])
        if "cannot watch by programs" in done.stderr or "watching needs" in done.stderr:
            self.skipTest(done.stderr.strip())
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--idlewave", required=True, type=pathlib.Path)
    parser.add_argument("tests", nargs="*")
    arguments = parser.parse_args()
    slurm_cluster.require()
    slurm_cluster.enter_namespace()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="iw_health_"))
    try:
        Case.idlewave, Case.folder = arguments.idlewave.resolve(), folder
        more = prepare(folder, Case.idlewave)
        for node in ("n0", "n1"):
            Case.pretend(node, "good")
        with slurm_cluster.Cluster(folder / "slurm", 2, more, wants_groups=True) as Case.cluster:
            runner = unittest.TextTestRunner(resultclass=run_mpi.Result, verbosity=2)
            done = unittest.main(argv=[sys.argv[0], *arguments.tests], exit=False, testRunner=runner)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0 if done.result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
