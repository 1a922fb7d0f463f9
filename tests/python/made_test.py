#!/usr/bin/env python3
"""tools/make_python.py and make_formats.py: what they make of schemas, and of what is kept.

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
    return {**thing(**properties, schema={"const": f"idlewave.{name}/1"}, version={"type": "string"}), "description": f"Some {name}"}


SPOT = thing(**{"class": {"enum": ["a", "b"]}, "at_ns": {"type": "number"}})
KINDS = {
    "first": kind("first", spot=SPOT, list={"type": "array", "items": thing(ranks={"type": "integer"})}),
    "second-one": kind("second-one", spot=SPOT, now=ESTIMATE, list={"type": "array", "items": thing(name={"type": "string"})},
                       quantiles={"type": "object", "properties": {"p50": NUMBER, "p99.9": NUMBER}},
                       maybe={"anyOf": [thing(is_right={"type": "boolean"}), {"type": "null"}]}),
}


def option(name, type_, value="", choices=(), help_="Some help"):
    return {"name": name, "type": type_, "group": "Group" if type_ != "flag" else "Flags", "value": value, "choices": choices, "help": help_}


OPTIONS = {"ask": [option("format", "choice", choices=["text", "json"])],
           "ask twice": [option("from", "time", "TIME"), option("per-node", "count", "N", help_="a long help " * 12), option("set", "string", "X"),
                         option("L", "per-byte", "TIME"), option("scale", "factor", "F"), option("many", "list", "A|B"),
                         option("way", "choice", choices=["up", "down"]), option("quiet", "flag"), option("dry-run", "flag")]}
VERBS = '''
@declared_as(signatures.ask)
def ask(name: str, place: int = 3, *more: Path, **options: Option) -> kinds.First:
    """Asks."""
    return run_as(kinds.First, ["ask", "once", name], options)


@overload
def _ask_twice(*, only: None = None, **options: Option) -> int: ...
@overload
def _ask_twice(*, only: str, **options: Option) -> str: ...


def _ask_twice(*, only: Optional[str] = None, **options: Option) -> object:
    """Asks twice."""
    return run_as(kinds.First, ["ask", "twice"], {"quiet": True, "set": 1, **options})


def run(**options: Option) -> str: ...
'''


class Made(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="iw_made_")
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        for path in ("tools/make_python.py", "tools/make_formats.py", "src/kit/figure/palette.c"):
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(SOURCE / path, self.root / path)
        shutil.copytree(SOURCE / "python", self.root / "python")
        self.schemas, self.made = self.root / "schemas", self.root / "made"
        self.package = self.made / "src" / "idlewave"
        self.write_schemas(KINDS)
        self.options = self.root / "options.json"
        self.options.write_text(json.dumps(OPTIONS), encoding="utf-8")
        (self.root / "python/src/idlewave/verbs.py").write_text(VERBS, encoding="utf-8")
        (self.root / "python/src/idlewave/noise.py").write_text("", encoding="utf-8")
        self.assertEqual(self.make(), (0, ""))

    def write_schemas(self, kinds):
        shutil.rmtree(self.schemas, ignore_errors=True)
        self.schemas.mkdir()
        for name, schema in kinds.items():
            (self.schemas / f"{name}.schema.json").write_text(json.dumps(schema), encoding="utf-8")

    def make(self):
        done = subprocess.run([sys.executable, "-B", self.root / "tools/make_python.py", self.schemas, self.options, self.made],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return done.returncode, done.stdout

    def text(self, name):
        return (self.package / "kinds" / name).read_text(encoding="utf-8")

    def test_what_is_kept_is_copied(self):
        for name in ("pyproject.toml", "src/idlewave/__init__.py", "src/idlewave/py.typed"):
            self.assertEqual((self.made / name).read_bytes(), (SOURCE / "python" / name).read_bytes())

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

    def test_a_kind_that_changed_and_one_that_is_gone(self):
        self.write_schemas({"first": kind("first", new={"type": "boolean"})})
        self.assertEqual(self.make(), (0, ""))
        self.assertIn("    new: bool\n", self.text("first.py"))
        self.assertFalse((self.package / "kinds" / "second_one.py").exists())

    def test_colours_are_those_of_the_c_sources(self):
        path = self.root / "src/kit/figure/palette.c"
        path.write_text(path.read_text(encoding="utf-8").replace("0xd97700", "0xd97701"), encoding="utf-8")
        self.assertEqual(self.make(), (0, ""))
        self.assertEqual(json.loads((self.package / "palette.json").read_text(encoding="utf-8"))["light"]["noise"], "#d97701")

    def test_functions_have_the_options_of_their_verb(self):
        text = (self.package / "signatures.py").read_text(encoding="utf-8")
        self.assertIn("def ask(\n    name: str,\n    place: int = 3,\n    *more: Path,\n) -> kinds.First:\n", text)
        options = ("    from_: Optional[Time] = None,\n    per_node: Optional[Count] = None,\n    L: Optional[Time] = None,\n"
                   "    scale: Optional[Factor] = None,\n    many: Optional[Scalars] = None,\n"
                   '    way: Optional[Literal["up", "down"]] = None,\n    quiet: Optional[bool] = None,\n')
        self.assertIn(f"@overload\ndef ask_twice(\n    *,\n    only: str,\n{options}) -> str: ...\n", text)
        self.assertIn(f"\n\n\ndef ask_twice(\n    *,\n    only: Optional[str] = None,\n{options}) -> object:\n", text)
        self.assertEqual(text.count("\ndef "), 4)

    def test_docstrings_have_the_help_of_options(self):
        text = (self.package / "signatures.py").read_text(encoding="utf-8")
        self.assertIn('    """Asks twice.\n\n    Options of `idlewave ask twice`:\n\n    Group:\n        from_=TIME: Some help\n', text)
        self.assertRegex(text, r"        per_node=N: (a long help ?){7}\n            (a long help ?){5}\n")
        self.assertIn("        way=up|down: Some help\n\n    Flags:\n        quiet=True: Some help\n    \"\"\"\n", text)

    def test_a_function_without_a_verb_is_an_error(self):
        self.options.write_text("{}", encoding="utf-8")
        code, said = self.make()
        self.assertEqual(code, 1)
        self.assertIn("ask(): the command has no options of 'ask once'", said)

    def test_no_schemas_are_an_error(self):
        self.write_schemas({})
        code, said = self.make()
        self.assertEqual(code, 1)
        self.assertIn("build idlewave first", said)

    def test_a_palette_of_another_form_is_an_error(self):
        (self.root / "src/kit/figure/palette.c").write_text("int palette;\n", encoding="utf-8")
        code, said = self.make()
        self.assertEqual(code, 1)
        self.assertIn("palette.c no longer looks as expected", said)

    def test_pages_have_keys_with_types_and_meanings(self):
        told = dict(KINDS["second-one"], properties=dict(KINDS["second-one"]["properties"], maybe=dict(
            KINDS["second-one"]["properties"]["maybe"], description="if a|b")))
        self.write_schemas({"second-one": dict(told, title="idlewave.second-one/1")})
        subprocess.run([sys.executable, "-B", self.root / "tools/make_formats.py", self.schemas, self.root / "pages"], check=True)
        page = (self.root / "pages/second-one.md").read_text(encoding="utf-8")
        for line in ("Some second-one. ", "| `spot` | [object](#spot) |  |", "| `now` | estimate |  |", "| `list` | list of [object](#list) |  |",
                     "| `quantiles` | number for each of `p50`, `p99.9` |  |", "| `maybe` | [object](#maybe) or null | if a\\|b |",
                     "## `spot`\n", '| `class` | `"a"`, `"b"` |  |', "| `is_right` | true or false |  |"):
            self.assertIn(line, page)


if __name__ == "__main__":
    unittest.main()
