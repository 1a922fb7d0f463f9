"""The colours of all pictures, as the command has them.

SPDX-License-Identifier: BSD-3-Clause

The build makes palette.json from src/kit/figure/palette.c. Orange ("noise") is noise and nothing else.
"""

from __future__ import annotations

import functools
import json
import pathlib
import re
from typing import Any, Dict, List, Sequence, Union

SERIES = 7


@functools.lru_cache(maxsize=None)
def _palette() -> Dict[str, Any]:
    text = (pathlib.Path(__file__).parent / "palette.json").read_text(encoding="utf-8")
    data: Dict[str, Any] = json.loads(text)
    return data


def colours(theme: str = "light") -> Dict[str, str]:
    """Return names and colours of a theme, "light" or "dark": `colours()["noise"]`."""
    found: Union[None, List[str], Dict[str, str]] = _palette().get(theme)
    if not isinstance(found, dict):
        raise ValueError(f"unknown theme '{theme}': use light or dark")
    return dict(found)


def series(theme: str = "light") -> List[str]:
    """The colours of lines, in their order."""
    named = colours(theme)
    return [named[f"series-{i}"] for i in range(SERIES)]


def _favourite(name: str) -> int:
    """FNV-1a of the name without numbers of CPUs and threads, as palette.c does it."""
    base = re.split(r"[/:0-9]", name, maxsplit=1)[0]
    usual: List[str] = _palette()["usual_sources"]
    if base in usual:
        return usual.index(base)
    hashed = 2166136261
    for byte in base.encode("utf-8"):
        hashed = ((hashed ^ byte) * 16777619) & 0xFFFFFFFF
    return hashed % SERIES


def source_colours(names: Sequence[str], theme: str = "light") -> List[str]:
    """Return a colour for each noise source: the same in all pictures, unless it is taken."""
    taken: Dict[int, bool] = {}
    inks = []
    for name in names:
        ink = _favourite(name)
        for _ in range(SERIES):
            if ink not in taken:
                break
            ink = (ink + 1) % SERIES
        taken[ink] = True
        inks.append(series(theme)[ink])
    return inks
