#!/usr/bin/env python3
"""Assemble the Python package: what is in python/, and what the C sources say of results, options and colours.

SPDX-License-Identifier: BSD-3-Clause

Usage: make_python.py SCHEMAS OPTIONS FOLDER
    SCHEMAS                              a folder of KIND.schema.json, which the build makes: BUILD/cli/schemas
    OPTIONS                              the options of all verbs, which the build makes: BUILD/cli/options.json
    FOLDER                               gets a copy of python/; FOLDER/src/idlewave is replaced if it is there
    FOLDER/src/idlewave/kinds/           one module for each kind of result, from its schema
    FOLDER/src/idlewave/signatures.py    the functions of verbs.py and noise.py with all options of their verbs, by name, type and meaning
    FOLDER/src/idlewave/palette.json     from src/kit/figure/palette.c
"""

import argparse
import ast
import collections
import json
import keyword
import pathlib
import re
import shutil
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[1]
COLUMNS = 120
BASE = ("schema", "version", "verdict", "notes")  # fields of Result
ESTIMATE = ["value", "low", "high"]
SCALARS = {"integer": "int", "number": "float", "string": "str", "boolean": "bool"}
# Classes that several keys share, by their first keys; all others have the name of theirs.
NAMES = {
    ("a", "b", "difference"): "Difference", ("bytes", "is_at_most"): "Limit", ("count", "left_out", "cut_ns"): "Laws",
    ("count", "min", "q1"): "Sample", ("distance", "by_chance"): "Distance", ("growth", "phase_ns"): "Chain",
    ("kind", "name", "removes"): "Change", ("min", "q1", "median"): "Spread", ("name", "probe", "rung", "quantum_ns"): "Side",
    ("number", "source", "trials"): "Place", ("phases", "phase_ns"): "Phases", ("refusal", "workers"): "Split",
    ("right", "can_tell"): "Checked", ("value", "low", "high", "quantile_ns"): "Quantiles",
}
HEAD = '''"""{title}

SPDX-License-Identifier: BSD-3-Clause
Made by tools/make_python.py from the C sources.
"""
'''


def camel(name):
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[-_]", name))


def is_map(schema):
    """Objects whose keys are values, such as percentiles: all may be missing, and all are alike."""
    members = list(schema.get("properties", {}).values())
    return "additionalProperties" in schema or (not schema.get("required") and all(member == members[0] for member in members))


def class_name(schema, name):
    keys = tuple(schema["properties"])
    return next((known for first, known in NAMES.items() if keys[:len(first)] == first), camel(name))


def is_class(schema):
    return bool(schema.get("properties")) and not is_map(schema) and list(schema["properties"]) != ESTIMATE


def classes_in(schema, name):
    """Name and schema of each class that a value needs which has this schema under the key NAME; no NAME: the kind itself."""
    if name and is_class(schema):
        yield class_name(schema, name), json.dumps(schema, sort_keys=True)
    parts = [*schema.get("properties", {}).items(), *((name, part) for part in schema.get("anyOf", ()))]
    parts += [(f"{name}_row", schema["items"])] if "items" in schema else []
    for key, part in parts:
        yield from classes_in(part, key)


def shared_classes(schemas):
    """Classes that several kinds have: {name: schema}; where two of a name differ, the one that more kinds have."""
    counts = collections.Counter(pair for schema in schemas for pair in set(classes_in(schema, "")))
    found = {}
    for (name, text), count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        if count > 1:
            found.setdefault(name, text)
    return found


class Module:
    """The classes of one kind, whose own is TOP."""

    def __init__(self, top, shared, wanted):
        """SHARED: the module of classes that several kinds have, None in itself; WANTED: what shared_classes() found."""
        self.top, self.shared, self.wanted = top, shared, wanted
        self.imports = set()
        self.texts = {}  # of the other classes by name, in the order in which they are needed

    def type_of(self, schema, name, parent):
        if "anyOf" in schema:
            kinds = [self.type_of(option, name, parent) for option in schema["anyOf"] if option != {"type": "null"}]
            return kinds[0] if kinds[0].startswith("Optional[") else f"Optional[{kinds[0]}]"
        if "enum" in schema:
            return f"Literal[{', '.join(json.dumps(word) for word in schema['enum'])}]"
        words = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        kind = words[0]
        if kind in SCALARS:
            return f"Optional[{SCALARS[kind]}]" if "null" in words else SCALARS[kind]
        if kind == "array":
            return f"List[{self.type_of(schema['items'], name + '_row', parent)}]"
        if is_map(schema):
            inner = schema.get("additionalProperties") or next(iter(schema["properties"].values()))
            return f"Dict[str, {self.type_of(inner, name, parent)}]"
        if list(schema["properties"]) == ESTIMATE:
            return "Estimate"
        return self.add_class(schema, name, parent)

    def add_class(self, schema, name, parent):
        own = class_name(schema, name)
        is_wanted = self.wanted.get(own) == json.dumps(schema, sort_keys=True)
        if self.shared and is_wanted and own != self.top and own not in self.texts:
            self.shared.add_class(schema, name, "")
            self.imports.add(own)
            return own
        body = self.fields(schema, own)
        is_taken = own == self.top or own in self.imports or (not is_wanted and own in self.wanted and not self.shared)
        if is_taken or self.texts.get(own, body) != body:
            own = parent + own
        if self.texts.setdefault(own, body) != body:
            raise ValueError(f"two classes '{own}'")
        return own

    def fields(self, schema, name):
        lines = []
        for key, member in schema["properties"].items():
            if name == self.top and key in BASE:
                continue
            kind = self.type_of(member, key, name)
            if key not in schema.get("required", ()) and not kind.startswith("Optional["):
                kind = f"Optional[{kind}]"
            lines.append(field_line(key, kind))
            if "description" in member:
                lines.append(f'    """{member["description"]}"""')
        return "\n".join(lines)


def field_line(key, kind):
    """Python's own words get an underscore, as in `class_`; decode() knows."""
    line = f"    {key}_: {kind}" if keyword.iskeyword(key) else f"    {key}: {kind}"
    if len(line) > COLUMNS:  # only lists of words are that long
        begin, inner, end = re.fullmatch(r"(.*Literal\[)(.*?)(\].*)", line).groups()
        line = f"{begin}\n        " + ",\n        ".join(inner.split(", ")) + f",\n    {end}"
    return line


def classes_text(module):
    return "".join(f"\n\n@dataclass(frozen=True)\nclass {name}:\n{body}\n" for name, body in module.texts.items())


def head_text(title, code, imports):
    names = ", ".join(word for word in ("ClassVar", "Dict", "List", "Literal", "Optional") if re.search(rf"\b{word}\[", code))
    return (HEAD.format(title=title) + "\nfrom __future__ import annotations\n\nfrom dataclasses import dataclass\n"
            f"from typing import {names}\n\n{imports}" + code)


def module_text(kind, schema, shared, wanted):
    top = camel(kind)
    module = Module(top, shared, wanted)
    fields = module.fields(schema, top)
    const = schema["properties"]["schema"]["const"]
    code = classes_text(module)
    code += f'\n\n@dataclass(frozen=True, repr=False)\nclass {top}(Result):\n    """{schema["description"]}."""\n\n'
    code += f'    SCHEMA: ClassVar[str] = "{const}"\n\n{fields}\n'
    bases = "Estimate, Result" if re.search(r"\bEstimate\b", code) else "Result"
    imports = f"from ..result import {bases}\n"
    if module.imports:
        imports += f"from .shared import {', '.join(sorted(module.imports))}\n"
    return head_text(f"Results of the kind `{kind}`: {const}.", code, imports)


def index_text(kinds):
    imports = "\n".join(f"from .{kind.replace('-', '_')} import {camel(kind)}" for kind in sorted(kinds))
    names = ",\n    ".join(f'"{camel(kind)}"' for kind in sorted(kinds, key=camel))
    return HEAD.format(title="The kinds of results, one module each.") + f"\n{imports}\n\n__all__ = [\n    {names},\n]\n"


# ---- signatures ----

TYPES = {"flag": "bool", "time": "Time", "count": "Count", "per-byte": "Time", "factor": "Factor", "string": "Scalar", "list": "Scalars"}
NOT_TAKEN = re.compile(r".* (format|dry-run)|report output")  # "VERB OPTION" that says how a result is shown, or makes another one
SIGNATURES_HEAD = HEAD.format(title="What functions of verbs take: each option of the command, by name.") + """
from __future__ import annotations

from typing import Literal, Optional, overload

from . import kinds
from .command import Count, Factor, Launcher, Progress, Scalar, Scalars, Time
from .result import Path, Result
from .study import Study
"""


def is_overload(function):
    return any(getattr(decorator, "id", "") == "overload" for decorator in function.decorator_list)


def verb_of(function, tables):
    """The verb that a function runs, "noise show", and the options that it sets itself: from its call of run_as() or run_command()."""
    call = next(node for node in ast.walk(function) if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("run_as", "run_command"))
    words = [node.value for node in next(node for node in ast.walk(call) if isinstance(node, ast.List)).elts if isinstance(node, ast.Constant)]
    verb = next((verb for verb in (" ".join(words[:2]), words[0]) if verb in tables), None)
    if verb is None:
        raise ValueError(f"{function.name}(): the command has no options of '{' '.join(words)}'")
    own = {key.value for node in ast.walk(call) if isinstance(node, ast.Dict) for key in node.keys if key is not None}
    return verb, own - {"quiet"}


def python_name(name):
    name = name.replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


def option_type(option):
    if option["type"] == "choice":
        return f"Literal[{', '.join(json.dumps(word) for word in option['choices'])}]"
    return TYPES[option["type"]]


def parameters(function, options):
    """Each on a line: those of the function, then options that it does not have."""
    args = function.args
    named = args.args + args.kwonlyargs
    defaults = dict(zip([arg.arg for arg in args.args[::-1]], args.defaults[::-1]))
    defaults.update((arg.arg, default) for arg, default in zip(args.kwonlyargs, args.kw_defaults) if default is not None)
    texts = [ast.unparse(arg) + (f" = {ast.unparse(defaults[arg.arg])}" if arg.arg in defaults else "") for arg in named]
    texts.insert(len(args.args), f"*{ast.unparse(args.vararg)}" if args.vararg else "*")
    texts += [f"{python_name(option['name'])}: Optional[{option_type(option)}] = None" for option in options]
    return "".join(f"    {text},\n" for text in texts)


def told(function, verb, options):
    """The docstring: what the function does, and its options as the help of the verb has them."""
    lines, group = [ast.get_docstring(function), "", f"Options of `idlewave {verb}`:"], ""
    for option in options:
        if option["group"] != group:
            group = option["group"]
            lines += ["", f"{group}:"]
        value = "|".join(option["choices"]) or option["value"] or "True"
        lines += textwrap.wrap(f"{python_name(option['name'])}={value}: {option['help']}", COLUMNS - 20, initial_indent="    ",
                               subsequent_indent="        ", break_long_words=False, break_on_hyphens=False)
    text = "\n".join(lines).replace("\\", "\\\\")
    return textwrap.indent(f'"""{text}\n"""', "    ", lambda line: line.strip()) + "\n    raise NotImplementedError\n"


def signature(function, verb, own, table):
    taken = {arg.arg for arg in function.args.args + function.args.kwonlyargs} | own
    options = [option for option in table if not NOT_TAKEN.fullmatch(f"{verb} {option['name']}") and python_name(option["name"]) not in taken]
    head = f"def {function.name.lstrip('_')}(\n{parameters(function, options)}) -> {ast.unparse(function.returns)}:"
    return f"\n\n@overload\n{head} ...\n" if is_overload(function) else f"\n\n{head}\n{told(function, verb, options)}"


def signatures_text(tables):
    found = []
    for name in ("verbs.py", "noise.py"):
        tree = ast.parse((ROOT / "python/src/idlewave" / name).read_text(encoding="utf-8"))
        for function in tree.body:
            # run() and call() take options of any verb
            if isinstance(function, ast.FunctionDef) and function.args.kwarg and function.name not in ("run", "call"):
                found.append(function)
    verbs = {function.name: verb_of(function, tables) for function in found if not is_overload(function)}
    return SIGNATURES_HEAD + "".join(signature(function, *verbs[function.name], tables[verbs[function.name][0]]) for function in found)


def palette_text():
    source = (ROOT / "src/kit/figure/palette.c").read_text(encoding="utf-8")
    rows = re.findall(r'\{"--([\w-]+)", 0x(\w{6}), 0x(\w{6}), \d+, \d+\}', source)
    usual = re.search(r"usual\[IWI_SERIES_INKS\] = \{(.*?)\};", source, re.DOTALL)
    if not rows or usual is None:
        raise ValueError("palette.c no longer looks as expected")
    colours = {"light": {name: f"#{light}" for name, light, _ in rows}, "dark": {name: f"#{dark}" for name, _, dark in rows},
               "usual_sources": re.findall(r'"(\w+)"', usual.group(1))}
    return json.dumps(colours, indent=2) + "\n"


def contents(folder, tables):
    names = {path.name.removesuffix(".schema.json"): path for path in sorted(folder.glob("*.schema.json"))}
    schemas = {kind: json.loads(path.read_text(encoding="utf-8")) for kind, path in names.items()}
    if not schemas:
        sys.exit(f"error: no *.schema.json in '{folder}': build idlewave first")
    wanted = shared_classes(schemas.values())
    shared = Module("", None, wanted)
    files = {f"kinds/{kind.replace('-', '_')}.py": module_text(kind, schema, shared, wanted) for kind, schema in schemas.items()}
    files["kinds/shared.py"] = head_text("Parts that several kinds of results have.", classes_text(shared), "from ..result import Estimate\n")
    files["kinds/__init__.py"] = index_text(schemas)
    files["signatures.py"] = signatures_text(json.loads(tables.read_text(encoding="utf-8")))
    files["palette.json"] = palette_text()
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("schemas", type=pathlib.Path)
    parser.add_argument("options", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    files = contents(options.schemas, options.options)
    package = options.folder / "src" / "idlewave"
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(ROOT / "python", options.folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "build"))
    (package / "kinds").mkdir(exist_ok=True)
    for name, text in files.items():
        (package / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
