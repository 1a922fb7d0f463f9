"""Results in notebooks: the verdict first, then the numbers, then how sure they are.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import dataclasses
import html
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Tuple

from .frames import MAIN_LISTS, flat
from .palette import colours
from .result import Estimate, Result
from .units import label, value_text

if TYPE_CHECKING:
    from .study import Study

ROWS = 10  # of a list; the frame has all

# What to show first of each kind; of the others all numbers.
NUMBERS: Dict[str, Sequence[str]] = {
    "Simulate": ("slowdown", "makespan_ns", "noiseless_ns", "ranks", "messages", "trials", "seed"),
    "Whatif": ("now", "sum_of_sources", "noiseless_ns", "ranks", "trials", "redraws", "seed"),
    "Model": ("work_ns", "latency_ns", "half_ranks", "first_doubled", "last_doubled"),
    "Noise": ("share", "rate_hz", "median_ns", "p99_ns", "max_ns", "count", "watched_ns"),
    "Record": ("share", "rate_hz", "median_ns", "p99_ns", "max_ns", "count", "watched_ns"),
    "Wave": ("makespan_ns", "period_ns", "exec_ns", "comm_ns", "delays", "quiet_delays"),
}
BLOCK = "border-left:4px solid {rule};padding:.2em 0 .2em .8em;margin:.4em 0;max-width:60em"
CELL = "text-align:left;padding:.1em 1.2em .1em 0"


def _ends(name: str, low: Optional[float], high: Optional[float]) -> str:
    if low is None and high is None:
        return ""
    return f"{value_text(name, low)} to {value_text(name, high)}"


def number_row(name: str, value: Any) -> Optional[Tuple[str, str, str]]:
    """Name, value and 95 % interval, or None for what is no number."""
    if isinstance(value, Estimate):
        is_exact = value.low == value.high
        return label(name), value_text(name, value.value), "" if is_exact else _ends(name, value.low, value.high)
    if dataclasses.is_dataclass(value) and hasattr(value, "mean_low"):
        sample: Any = value
        return f"{label(name)}, mean", value_text(name, sample.mean), _ends(name, sample.mean_low, sample.mean_high)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return label(name), value_text(name, value), ""
    return None


def number_rows(result: Result) -> List[Tuple[str, str, str]]:
    names = NUMBERS.get(type(result).__name__) or [
        member.name for member in dataclasses.fields(result) if member.name not in ("raw", "exit_code")]
    rows = [number_row(name, getattr(result, name)) for name in names]
    return [row for row in rows if row is not None]


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def line(tag: str, cells: Sequence[str]) -> str:
        return "<tr>" + "".join(f'<{tag} style="{CELL}">{html.escape(cell)}</{tag}>' for cell in cells) + "</tr>"

    return f"<table><thead>{line('th', head)}</thead><tbody>{''.join(line('td', row) for row in rows)}</tbody></table>"


def _list_html(result: Result) -> str:
    """The main list, folded."""
    name = MAIN_LISTS.get(type(result).__name__, "")
    items = getattr(result, name, None)
    if not items:
        return ""
    rows = [flat(item) for item in items[:ROWS]]
    names = [key for key, value in rows[0].items() if not isinstance(value, (list, dict))]
    cells = [[_cell(key, row.get(key)) for key in names] for row in rows]
    more = f"{len(items)}, first {ROWS} shown; .frame() has all" if len(items) > ROWS else f"{len(items)}"
    return f"<details><summary>{html.escape(label(name))} ({more})</summary>{table(names, cells)}</details>"


def _cell(name: str, value: Any) -> str:
    base = name[:-4] if name.endswith("_low") else name[:-5] if name.endswith("_high") else name
    return "" if value is None else value_text(base, value)


def _certainty(result: Result) -> List[str]:
    """How sure the numbers are: how many trials, and the notes."""
    trials = getattr(result, "trials", None)
    said = []
    if isinstance(trials, int):
        few = " Too few for intervals: at least 6 are needed." if trials < 6 else " Intervals are 95 % CI."
        said.append(f"{trials:,} {'trial' if trials == 1 else 'trials'}.{few}")
    recording = getattr(result, "recording", None)
    if getattr(recording, "is_bound", False):
        said.append("The slowdown is a lower limit: the recording is too short to show all noise that so large a job meets.")
    return said + list(result.notes)


def block(verdict: str, inner: str, sure: Sequence[str]) -> str:
    notes = "".join(f"<li>{html.escape(note)}</li>" for note in sure)
    how_sure = f"<p style='margin:.4em 0 0'>How sure:</p><ul style='margin:0'>{notes}</ul>" if notes else ""
    style = BLOCK.format(rule=colours()["series-0"])
    return f'<div style="{style}"><p style="margin:0 0 .4em"><strong>{html.escape(verdict)}</strong></p>{inner}{how_sure}</div>'


def result_html(result: Result) -> str:
    rows = number_rows(result)
    columns = 3 if any(row[2] for row in rows) else 2
    numbers = table(("", "value", "95 % interval")[:columns], [row[:columns] for row in rows]) if rows else ""
    return block(result.verdict, numbers + _list_html(result), _certainty(result))


def study_html(study: "Study") -> str:
    """The folder of a study: the slowdown of each system on the most ranks."""
    largest: Dict[Tuple[str, str], Dict[str, Any]] = {}
    cells = study.cells()
    for cell in cells:
        key = (cell["system"], cell["work"])
        if key not in largest or cell["ranks"] > largest[key]["ranks"]:
            largest[key] = cell
    rows = [[cell["system"], cell["work"], f"{cell['ranks']:,}", *_slowdown_cells(cell)] for cell in largest.values()]
    least = min((cell["trials"] for cell in cells), default=0)
    sure = [f"At least {least:,} trials in each cell."] if cells else ["No cell is finished yet."]
    head = ("system", "work", "ranks", "mean slowdown", "95 % interval")
    return block(f"Study {study.folder}: {len(cells)} cells are finished.", table(head, rows), sure)


def _slowdown_cells(cell: Dict[str, Any]) -> List[str]:
    times, noiseless = cell["makespan_ns"], cell["noiseless_ns"]
    mean, low, high = (None if times[key] is None or not noiseless else times[key] / noiseless - 1.0
                       for key in ("mean", "mean_low", "mean_high"))
    return [value_text("slowdown", mean), _ends("slowdown", low, high)]
