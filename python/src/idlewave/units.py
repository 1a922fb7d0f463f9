"""Numbers for people: times, shares, counts.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

from typing import Any, Optional

TIMES = ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns"), (1e-3, "ps"))


def time_text(ns: float) -> str:
    """12345 is "12.35 us"."""
    for size, unit in TIMES:
        if abs(ns) >= size:
            return f"{ns / size:.4g} {unit}"
    return "0" if ns == 0 else f"{ns:.3g} ns"


def share_text(share: float) -> str:
    """0.0123 is "1.23 %", 146.8 is "14,680 %"."""
    percent = 100.0 * share
    return f"{percent:.3g} %" if abs(percent) < 1000.0 else f"{percent:,.0f} %"


def number_text(number: float) -> str:
    return f"{number:,.0f}" if isinstance(number, int) or abs(number) >= 1000.0 else f"{number:.4g}"


def value_text(name: str, value: Any) -> str:
    """A value by the unit that its name ends with; the names are those of the JSON."""
    if value is None:
        return "unknown"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, (int, float)):
        return str(value)
    unit = _unit(name)
    if unit == "ns":
        return time_text(value)
    if unit == "s":
        return time_text(1e9 * value)
    if unit == "share":
        return share_text(value)
    return f"{number_text(value)} {unit}" if unit else number_text(value)


def _unit(name: str) -> Optional[str]:
    if name.endswith("_ns"):
        return "ns"
    if name.endswith("_hz"):
        return "Hz"
    if name.endswith("bytes_per_s"):
        return "B/s"
    if name.endswith(("_seconds", "seconds")) or name.endswith("_s") and "_per_" not in name:
        return "s"
    if name.endswith(("share", "saving", "misfit", "slowdown")) or name in ("now", "target", "sum_of_sources", "unseen"):
        return "share"
    return None


def label(name: str) -> str:
    """The name of a value without its unit: "noiseless_ns" is "noiseless"."""
    for end in ("_ns", "_hz", "_s", "_seconds"):
        if name.endswith(end) and "_per_" not in name:
            name = name[:-len(end)]
    return name.replace("_", " ")
