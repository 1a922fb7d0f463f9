#!/usr/bin/env python3
"""Makes the corpora of the fuzz targets that read what idlewave itself writes.

SPDX-License-Identifier: BSD-3-Clause

Usage: make_corpus.py BUILD_DIR [CORPUS...]
Needs a build with the command and the parts for Open MPI. Replaces the files real-* of these corpora (of
all that it knows, if none is named); files of other names show defects that were found, and stay.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
DATA = HERE.parent / "data"
COMMAND = pathlib.Path(sys.argv[1]).resolve() / "cli/idlewave"
ENVIRONMENT = dict(os.environ, ASAN_OPTIONS="detect_leaks=0", OMPI_ALLOW_RUN_AS_ROOT="1",
                   OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1")

STUDY = """title: Small
trials: 3
systems:
  - {name: chic, net: chic, noise: 'periodic:1kHz,10us'}
  - {name: own, net: {L: 2us, o: 0.5us, g: 0.3us, G: 0.1ns}, noise: ['poisson:10Hz,exp:200us']}
patterns:
  - barrier:tree
  - {name: ring, pattern: allreduce:ring, bytes: [8, 64]}
ranks: [2, 4]
"""
STUDY_FILES = ["study.yaml", "origin.json", "results.jsonl", "results-1-of-2.jsonl", "results-2-of-2.jsonl",
               "results-p2.jsonl", "timings.jsonl", "claims"]
LOCATIONS = [0, 1, 2, 1 << 32, 536870911, 1073741822, 1610612733]
TRACE_FILES = [".otf2", ".def"] + [f"/{location}.{ending}" for location in LOCATIONS for ending in ("evt", "def")]


def run(arguments, launcher=(), folder=None):
    """Runs the command; what it prints."""
    return subprocess.run([*launcher, COMMAND, *arguments], check=True, env=ENVIRONMENT, cwd=folder,
                          stdout=subprocess.PIPE).stdout


def store(corpus, name, data):
    """One input."""
    (HERE / "corpus" / corpus / f"real-{name}").write_bytes(data)


def pack(paths):
    """The files that there are as fuzz_folder.h wants them."""
    return b"".join(f"\n@@{'0123456789abcdefghijklmnopqrstuvwxyz'[i]}\n".encode() + path.read_bytes()
                    for i, path in enumerate(paths) if path.is_file())


def make_studies(scratch):
    """Folders of a study: whole, in parts, cut off."""
    study = scratch / "small.yaml"
    study.write_text(STUDY, encoding="utf-8")

    def store_folder(name, folder):
        store("study_folder", name, pack([folder / file for file in STUDY_FILES]))

    run(["study", study, "-o", scratch / "whole"])
    store_folder("whole", scratch / "whole")
    for shard in "12":
        run(["study", study, "-o", scratch / "shards", "--shard", f"{shard}/2"])
    store_folder("shards", scratch / "shards")
    results = scratch / "whole/results.jsonl"
    lines = results.read_bytes().splitlines(keepends=True)
    results.write_bytes(b"".join(lines[:2]) + lines[2][:50])
    (scratch / "whole/results-p2.jsonl").write_bytes(lines[0] + lines[4])
    store_folder("cut", scratch / "whole")
    store_folder("data", DATA / "study/two-systems")


def make_traces(scratch):
    """Archives of EZTrace, of our own tracer, and of a timeline."""
    def store_archive(name, anchor):
        packed = pack([pathlib.Path(str(anchor)[:-len(".otf2")] + file) for file in TRACE_FILES])
        # libotf2 clears a chunk of memory for each file: the smallest will do (two numbers of the anchor)
        place = packed.index(b"OTF2\0") + 10
        store("trace_otf2", name, packed[:place] + 2 * (1 << 18).to_bytes(8, "little") + packed[place + 16:])

    for mpi in ("openmpi", "mpich"):
        store_archive(f"eztrace-{mpi}", DATA / f"traces/eztrace-{mpi}/eztrace_log.otf2")
    program = COMMAND.parent.parent / "tests/mpi/bin/openmpi/trace_mpifh"  # writes into its folder, too
    run(["trace", "-o", scratch / "traced", "--", program], ["mpirun", "-n", "2"], scratch)
    store_archive("traced", next((scratch / "traced").glob("*.otf2")))
    run(["simulate", "--pattern", "halo1d", "--ranks", "3", "--repeat", "2", "--compute", "1ms", "--timeline",
         scratch / "timeline.h5"])
    run(["report", scratch / "timeline.h5", "--format", "otf2", "-o", scratch / "timeline"])
    store_archive("timeline", next((scratch / "timeline").glob("*.otf2")))


def make_digests(scratch):
    """What is between the head and the checksum of a digest."""
    node = scratch / "node.h5"
    run(["noise", "synth", "periodic:100Hz,10us", "poisson:5Hz,exp:1ms", "--duration", "20s", "-o", node])
    run(["fleet", "digest", node, "-o", scratch / "node.digest"])
    store("digest", "node", (scratch / "node.digest").read_bytes()[12:-8])


MAKERS = {"study_folder": make_studies, "trace_otf2": make_traces, "digest": make_digests}


def main():
    """Old ones go first."""
    for corpus in sys.argv[2:] or MAKERS:
        (HERE / "corpus" / corpus).mkdir(parents=True, exist_ok=True)
        for old in (HERE / "corpus" / corpus).glob("real-*"):
            old.unlink()
        with tempfile.TemporaryDirectory() as scratch:
            MAKERS[corpus](pathlib.Path(scratch))


main()
