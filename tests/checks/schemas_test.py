#!/usr/bin/env python3
"""Every kind of result writes JSON that its schema allows, and is the same when it comes back from that file.

SPDX-License-Identifier: BSD-3-Clause

Usage: schemas_test.py IDLEWAVE SOURCE_DIR NAME=ON,NAME=OFF,...     the parts of the build, as run_case.py has them
A new kind needs a row in EXAMPLES and a small file in tests/data/results; its numbers need descriptions.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import jsonschema

COMMAND, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
LACKING = {part.removesuffix("=OFF") for part in sys.argv[3].split(",") if part.endswith("=OFF")}
SAMPLES = SOURCE / "tests/data/results"

NODE = "idlewave noise synth irq/tick=periodic:100Hz,20us thread/daemon=poisson:5Hz,exp:300us --duration 5s --cpus 2 -o node.h5"
JOB = f"{NODE} >/dev/null && idlewave whatif --noise node.h5 --pattern allreduce --ranks 64 --compute 1ms --trials 8 --redraws 4 -q"

# How to get one of each kind, as words of a shell; None: it takes more than this machine may have, the sample must do.
EXAMPLES = {
    "bench": None,
    "check": f"{NODE.replace('5s', '60s')} >/dev/null && idlewave check --sysroot $SOURCE/tests/data/nodes/plain node.h5 --jobs barrier --ranks 16 --trials 4 "
             "--slowdown-limit 100%",
    "coincidence": "rm -rf together; mkdir together; for i in 1 2 3; do { echo '# origin start_wall_ns: 1700000000000000000'; "
                   "echo cpu,start_ns,duration_ns,class,source; for k in {1..40}; do "
                   "echo 0,$((k * 1500000000 + i * 100000)),50000,thread,cron; done; } > node.csv; "
                   "idlewave noise convert --length 62s node.csv together/$i.h5 >/dev/null; done; idlewave fleet coincidence together",
    "explain": None,  # an MPI, and the rights to see kernel events
    "explanation": "idlewave explain $SOURCE/tests/data/traces/slow-rank",
    "fit": f"{NODE} >/dev/null && idlewave noise fit node.h5",
    "digest": "idlewave noise synth irq/tick=poisson:100Hz,exp:20us --duration 5s -o n1.h5 >/dev/null && "
              "idlewave fleet digest n1.h5 -o n1.digest && idlewave fleet show n1.digest",
    "fleet": "mkdir -p nodes && for i in {1..12}; do idlewave noise synth irq/tick=poisson:100Hz,exp:20us --duration 5s "
             "--seed $i -o nodes/$i.h5 >/dev/null; done && idlewave fleet nodes",
    "forecast": "idlewave simulate --pattern allreduce --ranks 64 --dry-run",
    "fidelity": "idlewave replay --noise periodic:100Hz,500us --calibrate 50ms --self-check --duration 500ms",
    "history": None,  # weeks of a fleet
    "machine": "idlewave net show slingshot-dragonfly",
    "memory": "idlewave bench memory --duration 50ms --size 2MiB",
    "model": "idlewave model --noise exp:10% --compute 1ms --net none --L 2us --ranks '3..3000 step x10' --check --check-ranks 300",
    "net": None,  # an MPI
    "waits": "idlewave explain --only waits $SOURCE/tests/data/traces/slow-rank",
    "wave": "idlewave simulate --pattern halo1d --ranks 9 --repeat 8 --compute 3ms --exchange split "
            "--delay rank=5,time=13.5ms --timeline run.h5 >/dev/null && idlewave wave run.h5",
    "trace": "idlewave report $SOURCE/tests/data/traces/liballprof-openmpi",
    "training": "idlewave training --model llama3-8b --tp 2 --pp 2 --dp 2 --microbatches 4 --rate 400TFLOP/s --noise python-gc --trials 6 --steps 3 --cost 2 -q",
    "stragglers": "python3 $SOURCE/tests/data/straggler/make_timeline.py --replicas 2 --stages 2 --microbatches 2 --slow 0,1,2 > t.json && "
                  "idlewave explain --only stragglers t.json",
    "study-run": "idlewave study $SOURCE/tests/data/study/two-systems/study.yaml -o run",
    "study-estimate": "idlewave study $SOURCE/tests/data/study/two-systems/study.yaml --dry-run",
    "noise": f"{NODE} >/dev/null && idlewave noise show node.h5",
    "noise-compare": f"{NODE} >/dev/null && {NODE.replace('300us', '900us').replace('node.h5', 'other.h5')} >/dev/null && idlewave noise compare node.h5 other.h5",
    "noise-edit": NODE,
    "noise-spectrum": f"{NODE} >/dev/null && idlewave noise spectrum node.h5",
    "profile": None,  # `check --learn` writes it
    "record": None,
    "watch": None,  # needs CAP_BPF
    "simulate": "idlewave simulate --pattern allreduce --ranks 64 --noise periodic:100Hz,200us --trials 8 --explain",
    "whatif": JOB,
    "whatif-plan": f"{JOB} --dry-run",
    "verify": "idlewave verify --sysroot $SOURCE/tests/data/nodes/container",
}
NEEDS = {"explanation": "part-otf2", "stragglers": "part-yajl", "waits": "part-otf2"}
VARYING = {"forecast", "fidelity", "memory", "simulate", "study-estimate", "study-run", "whatif-plan"}  # what they print depends on the machine

# Numbers need a description unless their key has the unit or belongs to a set that explains itself.
UNITS = re.compile(r"_(ns|s|seconds|hz|bytes|per_\w+|shares?|ranks?)$|^(share|slowdown|share_\w+)$")
PLAIN = re.compile(r"value|low|high|min|max|mean|median|mean_high|median_high|q\d|p[\d.]+|a|b|ns|baseline|before|after|now|quiet|noisy")


def numbers_without_words(schema, place=""):
    """Places of numbers of which nobody can tell what they are."""
    for key, value in schema.get("properties", {}).items():
        kinds = value.get("anyOf", [value])[0]
        where = f"{place}.{key}"
        if list(kinds.get("properties", ())) == ["value", "low", "high"] or "number" in kinds.get("type", ()):
            if "description" not in value and not UNITS.search(key) and not PLAIN.fullmatch(key):
                yield where
        else:
            yield from numbers_without_words(kinds.get("items", kinds), where)


def shell(command, folder):
    path = f"{COMMAND.parent}:{os.environ['PATH']}"
    for calibrate in ("50ms", "500ms", "5s"):  # on a busy machine what looks at the CPU needs longer
        line = command.replace("--calibrate 50ms", f"--calibrate {calibrate}")
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=folder, check=False,
                              env=dict(os.environ, PATH=path, SOURCE=str(SOURCE), LC_ALL="C.UTF-8"))
        if "the CPU is too busy" not in done.stderr:
            break
        print(f"\nRETRIED: a calibration of {calibrate}: the CPU was too busy", flush=True)
    if done.returncode not in (0, 2):  # 2 is a negative verdict
        raise AssertionError(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout


class Schemas(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="iw_schemas_")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.schemas = {kind: json.loads(shell(f"idlewave __schema {kind}", cls.folder))
                       for kind in shell("idlewave __schema", cls.folder).split()}

    def validate(self, kind, text):
        jsonschema.Draft202012Validator(self.schemas[kind]).validate(json.loads(text))

    def test_schemas_are_schemas(self):
        for kind, schema in self.schemas.items():
            with self.subTest(kind):
                jsonschema.Draft202012Validator.check_schema(schema)

    def test_every_kind_has_an_example_and_a_sample(self):
        self.assertEqual(sorted(self.schemas), sorted(EXAMPLES))
        self.assertEqual(sorted(self.schemas), sorted(path.stem for path in SAMPLES.glob("*.json")))

    def test_keys_are_explained(self):
        for kind, schema in self.schemas.items():
            with self.subTest(kind):
                self.assertRegex(schema["description"], r"^[A-Z].*[^.]$")
                self.assertEqual(list(numbers_without_words(schema)), [])

    def test_samples_are_valid(self):
        for kind in self.schemas:
            with self.subTest(kind):
                self.validate(kind, (SAMPLES / f"{kind}.json").read_text(encoding="utf-8"))

    def test_what_commands_print_is_valid_and_comes_back(self):
        for kind, example in EXAMPLES.items():
            if example is None or kind not in self.schemas:
                continue
            if NEEDS.get(kind) in LACKING:
                print(f"SKIPPED: {kind}: this build has no {NEEDS[kind]}", flush=True)
                continue
            with self.subTest(kind):
                text = shell(f"{example} --format json", self.folder)
                self.validate(kind, text)
                (self.folder / "result.json").write_text(text, encoding="utf-8")
                said = shell("idlewave report result.json", self.folder)
                if kind not in VARYING:
                    self.assertEqual(said, shell(example, self.folder))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
