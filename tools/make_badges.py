#!/usr/bin/env python3
"""Writes the badges of README.md from what the tree says: its version, its licence, the languages it is for.

SPDX-License-Identifier: BSD-3-Clause

Usage: make_badges.py [--check]
    --check   change nothing; exit 1 if a badge does not say what the tree says
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "pictures"
WIDTH_PX = 6.6  # of a character
BADGE = """<svg xmlns="http://www.w3.org/2000/svg" width="{all}" height="20" role="img" aria-label="{left}: {right}">
<rect width="{all}" height="20" rx="3" fill="#555"/>
<path d="M{split} 0h{bare}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-{bare}z" fill="#1f6fb2"/>
<g fill="#fff" font-family="DejaVu Sans, Verdana, sans-serif" font-size="11">
<text x="6" y="14" textLength="{left_px}">{left}</text>
<text x="{text}" y="14" textLength="{right_px}">{right}</text>
</g>
</svg>
"""


def first(path, pattern):
    return re.search(pattern, (ROOT / path).read_text(encoding="utf-8"), re.M | re.S).group(1)


def facts():
    """What each badge says."""
    return {
        "version": ("version", first("CMakeLists.txt", r"^project\(.*?\bVERSION\s+([\d.]+)")),
        "licence": ("licence", first("CITATION.cff", r"^license: (\S+)")),
        "language": ("C", first("cmake/IdlewaveHelpers.cmake", r"CMAKE_C_STANDARD (\d+)")),
        "python": ("Python", first("python/pyproject.toml", r'requires-python = "([^"]+)"').replace(">=", "from ")),
    }


def badge(left, right):
    left_px, right_px = round(WIDTH_PX * len(left)), round(WIDTH_PX * len(right))
    split = left_px + 12
    return BADGE.format(left=left, right=right, left_px=left_px, right_px=right_px, split=split, text=split + 6,
                        all=split + right_px + 12, bare=right_px + 9)


def main(arguments):
    wrong = []
    for name, (left, right) in facts().items():
        path, text = FOLDER / f"badge-{name}.svg", badge(left, right)
        if arguments == ["--check"]:
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                wrong.append(path.name)
        else:
            path.write_text(text, encoding="utf-8")
    if wrong:
        print(f"error: {', '.join(wrong)}: not what the tree says; run tools/make_badges.py", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
