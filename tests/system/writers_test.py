#!/usr/bin/env python3
"""Everything that writes, where others have been first: links, pipes and folders of another user are refused, and nothing of
them is changed.

SPDX-License-Identifier: BSD-3-Clause

Usage: writers_test.py IDLEWAVE [MPI...]
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

IDLEWAVE, MPIS = sys.argv[1], sys.argv[2:]  # MPIs that it has a tracer for
MPI = MPIS[0] if MPIS else ""
NOBODY, SKIPPED = 65534, 77
SECONDS = 60  # a pipe that is opened would stop the command for ever
STUDY = "name: small\nsystems: [{name: one, net: chic}]\npatterns: [{pattern: barrier}]\nranks: [4]\ntrials: 1\n"
SIMULATE = ["simulate", "--pattern", "barrier", "--ranks", "4", "--noise", "poisson:100Hz,fixed:10us"]
INDEX = "format: idlewave.collection/1\nentries:\n- {name: mine, kind: noise, spec: 'poisson:1Hz,fixed:1us', about: a, licence: l, origin: o, made: m}\n"

# Each has PATH where it is to write.
FILES = {
    "recording": ["noise", "synth", "thread/a=poisson:20Hz,exp:300us", "--duration", "1s", "-o", "PATH"],
    "measured": ["record", "--duration", "100ms", "-o", "PATH"],
    "timeline": [*SIMULATE, "--timeline", "PATH"],
    "page": ["report", "recording.h5", "-o", "PATH"],
    "picture": [*SIMULATE, "--trials", "3", "--plot", "PATH"],
    "schedule": ["schedule", "--pattern", "barrier", "--ranks", "4", "-o", "PATH"],
}
FOLDERS = {
    "study": ["study", "small.yaml", "-o", "PATH"],
    "merged study": ["study", "merge", "done", "-o", "PATH"],
    "figures": ["report", "done", "--format", "gnuplot", "-o", "PATH"],
    "checkpoint": [*SIMULATE, "--checkpoint", "PATH"],
    "steps": ["report", "timeline.h5", "--format", "otf2", "-o", "PATH"],
    "trace": ["trace", "--mpi", MPI, "--show", "-o", "PATH", "true"],
    "cleared trace": ["trace", "--mpi", MPI, "--show", "--overwrite", "-o", "PATH", "true"],
    "collection": ["get", "mine", "--from", "offered"],
}
if not MPIS:
    print("SKIPPED: traces: there is no tracer")
    del FOLDERS["trace"], FOLDERS["cleared trace"]
# In each folder: a name that its writer opens.
NAMES = {"study": ("claims", "results.jsonl", "results-p7.jsonl", "study.yaml"), "checkpoint": ("idlewave-lock", "idlewave-point"),
         "cleared trace": ("traces", "spool", "traces.otf2")}
ONLY_READ = ("study.yaml", "results-p7.jsonl")


class Writers(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="iw_writers_")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.folder.chmod(0o755)
        self.shared = self.folder / "shared"  # as /tmp is
        self.shared.mkdir()
        self.shared.chmod(0o1777)
        (self.folder / "small.yaml").write_text(STUDY, encoding="utf-8")
        (self.folder / "offered").mkdir()
        (self.folder / "offered/index.yaml").write_text(INDEX, encoding="utf-8")
        for command in (["noise", "synth", "thread/a=poisson:20Hz,exp:300us", "--duration", "1s", "-o", "recording.h5"],
                        ["study", "small.yaml", "-o", "done"], [*SIMULATE, "--timeline", "timeline.h5"]):
            done = self.run_command(command, None)
            self.assertEqual(done.returncode, 0, done.stderr)

    def run_command(self, command, path):
        command = [str(path) if word == "PATH" else word for word in command]
        return subprocess.run([IDLEWAVE, *command], cwd=self.folder, timeout=SECONDS, capture_output=True, text=True, check=False,
                              env={**os.environ, "XDG_DATA_HOME": str(path)})

    def target(self):
        """What the other user is after: files of ours that have the names of each writer."""
        target = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        for name in ("traces.otf2", "traces.def", "idlewave-lock", "idlewave-point", "notes.svg"):
            (target / name).write_text("mine", encoding="utf-8")
        for name in ("traces/0.evt", "traces/notes", "spool/0.0"):
            (target / name).parent.mkdir(exist_ok=True)
            (target / name).write_text("mine", encoding="utf-8")
        return target

    def assert_refused(self, command, path, watched, *sentences):
        before = state(watched)
        done = self.run_command(command, path)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertTrue(any(sentence in done.stderr for sentence in sentences), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertEqual(state(watched), before)

    def link(self, name, to):
        link = self.shared / name
        link.symlink_to(to)
        os.lchown(link, NOBODY, NOBODY)
        self.addCleanup(link.unlink)
        return link

    def test_links_of_others_to_files(self):
        target = self.target()
        link = self.link("link.svg", target / "notes.svg")
        for name, command in FILES.items():
            with self.subTest(name):
                self.assert_refused(command, link, target, "'link.svg' on the way, made by user 65534, is not trusted")

    def test_links_of_others_to_folders(self):
        target = self.target()
        link = self.link("link", target)
        for name, command in {**FILES, **FOLDERS}.items():
            for path in (link, link / "new") if name in FOLDERS else (link / "new.svg", link / "notes.svg"):
                with self.subTest(name, path=path):
                    self.assert_refused(command, path, target, "'link' on the way, made by user 65534, is not trusted")

    def test_folders_of_others(self):
        foreign = self.shared / "foreign"
        foreign.mkdir()
        os.chown(foreign, NOBODY, NOBODY)
        for name, command in FOLDERS.items():
            if name != "collection":  # it goes one folder deeper
                with self.subTest(name):
                    self.assert_refused(command, foreign, foreign, "it belongs to user 65534, in a folder where everyone may write",
                                        "File exists")

    def test_files_of_others(self):
        foreign = self.shared / "foreign.svg"
        foreign.write_text("theirs", encoding="utf-8")
        os.chown(foreign, NOBODY, NOBODY)
        for name, command in FILES.items():
            with self.subTest(name):
                self.assert_refused(command, foreign, self.shared, "it belongs to user 65534, in a folder where everyone may write")

    def test_pipes_and_links_in_the_place_of_files(self):
        for name, file, what in [(name, file, what) for name in NAMES.keys() & FOLDERS.keys() for file in NAMES[name]
                                 for what in ("pipe", "link") if what == "pipe" or file not in ONLY_READ]:
            with self.subTest(name, file=file, what=what):
                folder, target = pathlib.Path(tempfile.mkdtemp(dir=self.folder)), self.target()
                if what == "pipe":
                    os.mkfifo(folder / file)
                else:
                    (folder / file).symlink_to(target / ("traces" if file in ("traces", "spool") else "notes.svg"))
                self.assert_refused(FOLDERS[name], folder, target, "not a regular file", "was not written by idlewave; nothing was removed",
                                    "Invalid argument", "Too many levels of symbolic links", "damaged")
                self.assertTrue((folder / file).is_symlink() or (folder / file).is_fifo())

    @unittest.skipUnless(MPIS, "there is no tracer")
    def test_an_old_trace_goes_but_nothing_else(self):
        target = self.target()
        self.assert_refused(FOLDERS["cleared trace"], target, target, "'traces/notes' in it was not written by idlewave")
        (target / "traces/notes").unlink()
        done = self.run_command(FOLDERS["cleared trace"], target)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(path.name for path in target.iterdir()), ["idlewave-lock", "idlewave-point", "notes.svg"])

    def test_links_of_our_own_are_followed(self):
        for name, command in FOLDERS.items():
            with self.subTest(name):
                folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
                link = self.folder / f"own-{folder.name}"
                link.symlink_to(folder)
                done = self.run_command(command, link / "new")
                self.assertEqual(done.returncode, 0, done.stderr)


def state(folder):
    """Of all below it: kind, owner, content."""
    found = {}
    for path in sorted([folder, *folder.rglob("*")]):
        facts = path.lstat()
        is_file = path.is_file() and not path.is_symlink()
        found[str(path)] = (facts.st_mode, facts.st_uid, facts.st_ino, path.read_bytes() if is_file else None)
    return found


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("SKIPPED: writers_test: only root can act as another user")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1], verbosity=1)
