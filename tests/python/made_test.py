#!/usr/bin/env python3
"""tools/make_python.py: what it makes of schemas, and that --check finds what is out of date.

SPDX-License-Identifier: BSD-3-Clause

Usage: made_test.py SOURCE_DIR
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
NUMBER = {"type": ["number", "null"]}
ESTIMATE = {"type": "object", "properties": {"value": NUMBER, "low": NUMBER, "high": NUMBER}, "required": ["value", "low", "high"]}


def thing(**properties):
    return {"type": "object", "properties": properties, "required": list(properties)}


def kind(name, **properties):
    return thing(**properties, schema={"const": f"idlewave.{name}/1"}, version={"type": "string"})


SPOT = thing(**{"class": {"enum": ["a", "b"]}, "at_ns": {"type": "number"}})
KINDS = {
    "first": kind("first", spot=SPOT, list={"type": "array", "items": thing(ranks={"type": "integer"})}),
    "second-one": kind("second-one", spot=SPOT, now=ESTIMATE, list={"type": "array", "items": thing(name={"type": "string"})},
                       quantiles={"type": "object", "properties": {"p50": NUMBER, "p99.9": NUMBER}},
                       maybe={"anyOf": [thing(is_right={"type": "boolean"}), {"type": "null"}]}),
}


class Made(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="iw_made_")
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        for path in ("tools/make_python.py", "src/kit/figure/palette.c"):
            (self.root / path).parent.mkdir(parents=True)
            shutil.copy(SOURCE / path, self.root / path)
        self.package = self.root / "python" / "src" / "idlewave"
        (self.package / "kinds").mkdir(parents=True)
        self.write_schemas(KINDS)
        self.assertEqual(self.make(), (0, ""))

    def write_schemas(self, kinds):
        """A command that prints these."""
        script = 'case "$2" in\n"") echo ' + " ".join(kinds) + " ;;\n"
        script += "".join(f"{name}) cat <<'END'\n{json.dumps(schema)}\nEND\n;;\n" for name, schema in kinds.items())
        (self.root / "idlewave").write_text(f"#!/bin/sh\n{script}esac\n", encoding="utf-8")
        (self.root / "idlewave").chmod(0o755)

    def make(self, *options):
        done = subprocess.run([sys.executable, "-B", self.root / "tools/make_python.py", self.root / "idlewave", *options],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout

    def text(self, name):
        return (self.package / "kinds" / name).read_text(encoding="utf-8")

    def test_what_is_made_is_up_to_date(self):
        self.assertEqual(self.make("--check"), (0, ""))

    def test_types_of_values(self):
        text = self.text("second_one.py")
        for line in ("class SecondOne(Result):", "    spot: Spot", "    now: Estimate", "    list: List[ListRow]", "    maybe: Optional[Maybe]",
                     "    quantiles: Dict[str, Optional[float]]", "from .shared import Spot", "from ..result import Estimate, Result"):
            self.assertIn(f"{line}\n", text)
        self.assertNotIn("version", text)

    def test_what_several_kinds_have_is_there_once(self):
        self.assertIn('class Spot:\n    class_: Literal["a", "b"]\n    at_ns: float\n', self.text("shared.py"))
        self.assertNotIn("class Spot", self.text("first.py"))
        self.assertIn("class ListRow:\n    ranks: int\n", self.text("first.py"))
        self.assertIn("class ListRow:\n    name: str\n", self.text("second_one.py"))

    def test_a_new_key_is_found(self):
        self.write_schemas({**KINDS, "first": kind("first", new={"type": "boolean"})})
        code, said = self.make("--check")
        self.assertEqual(code, 1)
        self.assertIn("python/src/idlewave/kinds/first.py is not what the C sources say; make it again: tools/make_python.py", said)
        self.assertEqual(self.make(), (0, ""))
        self.assertIn("    new: bool\n", self.text("first.py"))
        self.assertEqual(self.make("--check")[0], 0)

    def test_a_kind_that_is_gone_goes(self):
        self.write_schemas({"first": KINDS["first"]})
        self.assertIn("second_one.py", self.make("--check")[1])
        self.make()
        self.assertFalse((self.package / "kinds" / "second_one.py").exists())

    def test_a_new_colour_is_found(self):
        path = self.root / "src/kit/figure/palette.c"
        path.write_text(path.read_text(encoding="utf-8").replace("0xd97700", "0xd97701"), encoding="utf-8")
        self.assertIn("palette.json", self.make("--check")[1])
        self.make()
        self.assertEqual(json.loads((self.package / "palette.json").read_text(encoding="utf-8"))["light"]["noise"], "#d97701")

    def test_a_palette_of_another_form_is_an_error(self):
        (self.root / "src/kit/figure/palette.c").write_text("int palette;\n", encoding="utf-8")
        code, said = self.make()
        self.assertEqual(code, 1)
        self.assertIn("palette.c no longer looks as expected", said)


if __name__ == "__main__":
    unittest.main()
