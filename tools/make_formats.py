#!/usr/bin/env python3
"""Write a page for each kind of result, from its JSON Schema: keys, their types, what they mean.

SPDX-License-Identifier: BSD-3-Clause

Usage: make_formats.py SCHEMAS FOLDER
    SCHEMAS   a folder of KIND.schema.json, which the build makes: BUILD/cli/schemas
    FOLDER    gets KIND.md for each; what else is there goes
"""

import argparse
import json
import pathlib
import re
import shutil
import sys

sys.dont_write_bytecode = True
from make_python import ESTIMATE, is_map  # the same idea of estimates, and of objects whose keys are values

CONVENTIONS = ("schema", "version", "verdict", "notes")  # json.md has them
WORDS = {"integer": "integer", "number": "number", "string": "text", "boolean": "true or false"}


class Page:
    """One kind. Objects with keys of their own get a section each, named by all places that have the same object."""

    def __init__(self, kind, schema):
        self.kind, self.schema = kind, schema
        self.places = {}  # {object as text: [place, ...]}, in the order of the sections

    def text(self):
        self.body()  # finds the places, which names of sections and links to them need
        return self.body()

    def body(self):
        parts = [f"# `{self.kind}` as JSON: schema `{self.schema['title']}`\n\n{self.schema['description']}. "
                 "[Results as JSON](../json.md) has what all kinds share.\n",
                 self.table(self.schema, "")]
        done = set()
        while todo := [text for text in self.places if text not in done]:  # tables find more
            parts.append(f"## {heading(self.places[todo[0]])}\n")
            parts.append(self.table(json.loads(todo[0]), self.places[todo[0]][0]))
            done.add(todo[0])
        return "\n".join(parts)

    def table(self, schema, place):
        lines = ["| key | type | meaning |", "|---|---|---|"]
        for key, value in schema["properties"].items():
            if place or key not in CONVENTIONS:
                kind = self.type_of(value, f"{place}.{key}".lstrip("."))
                lacking = "" if key in schema.get("required", ()) else ", not always there"
                lines.append(f"| `{key}` | {kind}{lacking} | {meaning(value)} |")
        return "\n".join(lines) + "\n"

    def type_of(self, schema, place):
        if "anyOf" in schema:
            return " or ".join("null" if option == {"type": "null"} else self.type_of(option, place) for option in schema["anyOf"])
        if "enum" in schema:
            return ", ".join(f'`"{word}"`' for word in schema["enum"])
        if isinstance(schema["type"], list):
            return WORDS[schema["type"][0]]  # any number and some texts may be null: json.md says so
        if schema["type"] == "array":
            return f"list of {self.type_of(schema['items'], place)}"
        if schema["type"] != "object":
            return WORDS[schema["type"]]
        if list(schema.get("properties", ())) == ESTIMATE:
            return "estimate"
        return self.type_of_map(schema, place) if is_map(schema) else self.link(schema, place)

    def type_of_map(self, schema, place):
        keys = ", ".join(f"`{key}`" for key in schema.get("properties", ()))
        inner = self.type_of(schema.get("additionalProperties") or next(iter(schema["properties"].values())), place)
        return f"{inner} for each of {keys}" if keys else f"{inner} by name"

    def link(self, schema, place):
        text = json.dumps({key: value for key, value in schema.items() if key != "description"})
        places = self.places.setdefault(text, [])
        if place not in places:
            places.append(place)
        return f"[object](#{re.sub('[^a-z0-9_ -]', '', heading(places).lower()).replace(' ', '-')})"


def heading(places):
    return ", ".join(f"`{place}`" for place in places[:4]) + (" and others" if len(places) > 4 else "")


def meaning(schema):
    return schema.get("description", "").replace("|", "\\|")


def write_pages(schemas, folder):
    """Returns the kinds."""
    paths = {path.name.removesuffix(".schema.json"): path for path in sorted(schemas.glob("*.schema.json"))}
    if not paths:
        sys.exit(f"error: no *.schema.json in '{schemas}': build idlewave first")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for kind, path in paths.items():
        (folder / f"{kind}.md").write_text(Page(kind, json.loads(path.read_text(encoding="utf-8"))).text(), encoding="utf-8")
    return list(paths)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("schemas", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    write_pages(options.schemas, options.folder)


if __name__ == "__main__":
    main()
