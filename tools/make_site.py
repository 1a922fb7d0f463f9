#!/usr/bin/env python3
"""Builds the documentation as a site: HTML with search that needs no network, one folder for each version.

SPDX-License-Identifier: BSD-3-Clause

Usage: make_site.py [--root ROOT] SCHEMAS OUTPUT

SCHEMAS is a folder of KIND.schema.json, which the build makes: BUILD/cli/schemas. Each kind of result gets a page made of it.
OUTPUT/VERSION/ is the site of this tree's version; OUTPUT/index.html leads to the newest version there is, and OUTPUT/versions.js
lists all of them, for the menu of every page. Building another version into the same OUTPUT adds it.

The pages are those of docs/ and the Markdown files beside it; the order of the menu is that of docs/README.md. Links to files
that are no pages get the file itself. Needs Sphinx, MyST and Furo: on Debian python3-sphinx, python3-myst-parser, furo.
A warning of Sphinx is an error; so is a page that loads something from another host.
"""

import argparse
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import check_docs  # the same idea of links and of fenced blocks
import make_formats
import make_outputs

OUTSIDE_DOCS = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "SECURITY.md", "examples/README.md",
                "examples/slurm/README.md", "examples/notebooks/README.md", "python/README.md"]
LOADED = re.compile(r'<(?:script|img|iframe)\b[^>]*\bsrc="([^"]+)"|<link\b[^>]*\brel="(?:stylesheet|preload|icon)"[^>]*\bhref="([^"]+)"')


def version_of(root):
    found = re.search(r"^project\(.*?\bVERSION\s+([\d.]+)", (root / "CMakeLists.txt").read_text(encoding="utf-8"), re.M | re.S)
    return found.group(1)


# ---- pages ----

def pages_of(root):
    pages = [root / name for name in OUTSIDE_DOCS if (root / name).exists()]
    return pages + sorted((root / "docs").rglob("*.md"))


def stage_link(root, page, pages, staged, match):
    """A link as the site has it: pages by their name, files as downloads, folders as text."""
    text, target = match.groups()
    file, _, _ = target.partition("#")
    if re.match(r"[a-z]+:", target) or not file:
        return match.group(0)
    path = pathlib.Path(os.path.normpath(page.parent / file))
    if path in pages:
        return match.group(0)
    if path.is_dir():
        readme = path / "README.md"
        return f"[{text}]({target.rstrip('/')}/README.md)" if readme in pages else f"{text} (`{path.relative_to(root)}`)"
    if path.suffix == ".md":
        return f"{text} (`{path.relative_to(root)}`)"
    copy = staged / path.relative_to(root)
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, copy)
    return match.group(0)


def outside_blocks(text, change):
    """`change` of all that is not in a fenced block."""
    parts = re.split(r"(^\s*`{3,}.*?^\s*`{3,}\s*$)", text, flags=re.M | re.S)
    return "".join(part if number % 2 else change(part) for number, part in enumerate(parts))


def stage_page(root, page, pages, staged):
    text = re.sub(r"^<!-- prints$.*?^-->$\n?", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    text = re.sub(r"^(\s*```\w+) [\w ]+$", r"\1", text, flags=re.M)  # words that only our checks read
    text = outside_blocks(text, lambda part: re.sub(
        r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)", lambda match: stage_link(root, page, pages, staged, match), part))
    for image in re.findall(r"!\[[^\]]*\]\(([^)\s]+)\)", text):
        if not re.match(r"[a-z]+:", image):
            copy = staged / os.path.relpath(page.parent / image, root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(page.parent / image, copy)
    path = staged / page.relative_to(root)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


# ---- the menu ----

def menu_of(root):
    """(caption, [(text, page)]) of each section of docs/README.md, in its order; pages from the root on, without their ending."""
    sections = []
    for line in (root / "docs" / "README.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            sections.append((line[3:].partition(":")[0], []))
        link = re.match(r"- \[([^\]]*)\]\(([^)#]+\.md)\)", line)
        if link and sections:
            path = os.path.relpath(root / "docs" / link.group(2), root)
            sections[-1][1].append((link.group(1), path.removesuffix(".md")))
    return sections


def toctree(pages, caption=None):
    lines = ["", "```{toctree}", ":hidden:", ":maxdepth: 1"] + ([f":caption: {caption}"] if caption else [])
    return "\n".join(lines + [""] + pages + ["```", ""])


def add_to(page, text):
    page.write_text(page.read_text(encoding="utf-8") + text, encoding="utf-8")


def stage_menu(root, pages, staged):
    """README.md gets the menu; pages that it lacks go below the page that they belong to."""
    sections = menu_of(root)
    listed = {name for _, entries in sections for _, name in entries}
    home = staged / "README.md"
    add_to(home, toctree(["All pages </docs/README>", "Gallery </docs/gallery>"], "Start"))
    for caption, entries in sections:
        add_to(home, toctree([f"{text} </{name}>" for text, name in entries], caption))
    rest = [str(page.relative_to(root).with_suffix("")) for page in pages]
    rest = [name for name in rest if name not in listed | {"README", "docs/README", "docs/gallery"}]
    below = {"docs/decisions": "docs/decisions/README.md", "docs/validation/data": "docs/validation/README.md"}
    for folder, page in below.items():
        names = [name for name in rest if os.path.dirname(name) == folder]
        if names:
            add_to(staged / page, toctree(["/" + name for name in names]))
        rest = [name for name in rest if name not in names]
    if rest:
        add_to(home, toctree(["/" + name for name in rest], "The project"))


def stage_results(schemas, staged):
    """A page for each kind of result; json.md, which they belong to, lists them."""
    page = staged / "docs/reference/formats/json.md"
    kinds = make_formats.write_pages(schemas, page.parent / "results")
    add_to(page, "\n".join(["", "```{toctree}", ":maxdepth: 1", ""] + [f"results/{kind}" for kind in kinds] + ["```", ""]))


# ---- building ----

CONFIGURATION = """
project = "idlewave"
author = copyright = "the idlewave authors"
version = release = {version!r}
extensions = ["myst_parser"]
root_doc = "README"
myst_heading_anchors = 4
html_theme = "furo"
html_title = "idlewave {version}"
html_static_path = [{static!r}]
html_css_files = ["site.css"]
html_js_files = ["versions-menu.js"]
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # it would be fetched, which browsers refuse for file://
html_theme_options = {{"sidebar_hide_name": False, "footer_icons": []}}
pygments_style = "default"
pygments_dark_style = "monokai"
exclude_patterns = []
"""


def find_python():
    """A Python that has Sphinx: this one, else Debian's."""
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import furo, myst_parser, sphinx"], capture_output=True, check=False).returncode == 0:
            return python
    print("SKIPPED: the site: there is no Sphinx with MyST and Furo; on Debian: apt-get install furo python3-myst-parser python3-sphinx")
    sys.exit(77)


def build(python, staged, static, version, output):
    (staged / "conf.py").write_text(CONFIGURATION.format(version=version, static=str(static)), encoding="utf-8")
    command = [python, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-d", str(staged / ".doctrees"),
               str(staged), str(output)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{done.stdout.replace(str(staged) + '/', '')}error: Sphinx is not content with the pages")
    shutil.copyfile(output / "README.html", output / "index.html")
    for name in (".buildinfo", "objects.inv"):
        (output / name).unlink(missing_ok=True)


def mend_theme(static):
    """Debian's Furo takes a style from a web server's folder and its script from a module, which do not work from file://, and is dark
    on request only."""
    style, script, part = static / "styles" / "furo.css", static / "scripts" / "furo.js", static / "scripts" / "gumshoe-patched.js"
    text = style.read_text(encoding="utf-8")
    for line, path in re.findall(r"(@import url\(/javascript/([^)]+)\);)", text):
        text = text.replace(line, (pathlib.Path("/usr/share/javascript") / path).read_text(encoding="utf-8"))
    dark = re.search(r'body\[data-theme="dark"\] (\{[^}]*\})', text)
    if dark and "prefers-color-scheme" not in text:
        text += f'@media screen and (prefers-color-scheme: dark) {{ body:not([data-theme="light"]) {dark.group(1)} }}\n'
    style.write_text(text, encoding="utf-8")
    text, imports = re.subn(r"^import Gumshoe from .*$", "", script.read_text(encoding="utf-8"), flags=re.M)
    if imports and part.exists():
        script.write_text(part.read_text(encoding="utf-8") + "\n" + text, encoding="utf-8")


def check_alone(output):
    """Every page loads only what lies beside it, and so does every style."""
    for style in sorted(output.rglob("*.css")):
        for source in re.findall(r"""url\(['"]?([^'")]+)""", style.read_text(encoding="utf-8")):
            if re.match(r"/|[a-z]+://", source):
                sys.exit(f"error: {style.relative_to(output)} loads '{source}', which is not beside it")
    for page in sorted(output.rglob("*.html")):
        for match in LOADED.finditer(page.read_text(encoding="utf-8")):
            source = html.unescape(match.group(1) or match.group(2))
            path = page.parent / source.partition("?")[0].partition("#")[0]
            if source.startswith("data:"):
                continue
            if re.match(r"([a-z]+:)?//", source) or not path.exists():
                if os.path.basename(path) != "versions.js":
                    sys.exit(f"error: {page.relative_to(output)} loads '{source}', which is not beside it")


def by_number(version):
    return [int(part) for part in version.split(".")]


def write_versions(output):
    versions = sorted((path.name for path in output.iterdir() if re.fullmatch(r"\d+(\.\d+)+", path.name)), key=by_number, reverse=True)
    (output / "versions.js").write_text(f"window.idlewaveVersions = {json.dumps(versions)};\n", encoding="utf-8")
    (output / "index.html").write_text(
        f'<!doctype html><meta charset="utf-8"><title>idlewave</title><meta http-equiv="refresh" content="0; url={versions[0]}/index.html">'
        f'<a href="{versions[0]}/index.html">idlewave {versions[0]}</a>\n', encoding="utf-8")


def main(arguments):
    parser = argparse.ArgumentParser(description="Builds the documentation as a site.")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("schemas", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    options = parser.parse_args(arguments)
    root, version = options.root.resolve(), version_of(options.root)
    pages = pages_of(root)
    options.output.mkdir(parents=True, exist_ok=True)
    target = options.output.resolve() / version
    shutil.rmtree(target, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="idlewave-site-") as scratch:
        staged = pathlib.Path(scratch)
        for page in pages:
            stage_page(root, page, set(pages), staged)
        stage_menu(root, pages, staged)
        stage_results(options.schemas, staged)
        names = make_outputs.write_pages(root, staged / "docs/reference")
        add_to(staged / "docs/README.md", toctree([f"/docs/reference/{name}" for name in names]))
        build(find_python(), staged, root / "web" / "site", version, target)
    mend_theme(target / "_static")
    check_alone(target)
    write_versions(options.output)
    print(f"make_site: {len(pages)} pages of version {version}: {options.output / version / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
