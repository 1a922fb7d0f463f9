"""The folder of a study: its cells as a DataFrame and as an array.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import json
import pathlib
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

from .errors import FileError, needed
from .result import Path

if TYPE_CHECKING:
    import pandas
    import xarray

    from matplotlib.figure import Figure

    from .kinds import StudyRun

CELL_SCHEMA = "idlewave.cell/2"
COORDINATES = ("system", "work", "ranks", "bytes", "sync", "net_scale")
NEEDED = (*COORDINATES, "trials", "noiseless_ns", "makespan_ns")
NEEDED_TIMES = ("mean", "mean_low", "mean_high", "median")


def _lines(path: pathlib.Path) -> List[str]:
    """Without a last line that was cut off."""
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def _cell(text: str, where: str) -> Dict[str, Any]:
    try:
        cell = json.loads(text)
    except ValueError as error:
        raise FileError(f"{where}: invalid JSON: {error}") from error
    if not isinstance(cell, dict) or cell.get("schema") != CELL_SCHEMA:
        raise FileError(f"{where}: the schema is not '{CELL_SCHEMA}', which this package reads; run the study again, into a new folder")
    missing = [key for key in NEEDED if key not in cell] + [key for key in NEEDED_TIMES if key not in cell.get("makespan_ns", {})]
    if missing:
        raise FileError(f"{where}: key '{missing[0]}' is missing")
    return cell


class Study:
    """The folder of a study. It is read anew by each call: others may be running it."""

    def __init__(self, folder: Path) -> None:
        self.folder = pathlib.Path(folder)
        self.run: "Optional[StudyRun]" = None  # what the call that returned it did
        if not (self.folder / "study.yaml").is_file():
            raise FileError(f"'{folder}' is not the folder of a study, because study.yaml is missing; 'idlewave study FILE.yaml -o DIR' creates one")

    def __repr__(self) -> str:
        return f"<Study '{self.folder}': {len(self.cells())} cells>"

    def _repr_html_(self) -> str:
        from .display import study_html

        return study_html(self)

    def cells(self) -> List[Dict[str, Any]]:
        """The finished cells as in results.jsonl, in the order in which they ended; of one that was run twice the last, also where
        the study has changed meanwhile."""
        found: Dict[Tuple[Any, ...], Dict[str, Any]] = {}
        for path in sorted(self.folder.glob("results*.jsonl")):
            for number, text in enumerate(_lines(path), 1):
                cell = _cell(text, f"'{path}', line {number}")
                found[(*(cell[key] for key in COORDINATES), cell.get("settings"))] = cell
        return list(found.values())

    def _place(self, cell: Dict[str, Any]) -> Tuple[Any, ...]:
        """For sorting: as study.yaml first mentions system and work, then by numbers."""
        text = (self.folder / "study.yaml").read_text(encoding="utf-8")
        names = [(text.find(name) % (len(text) + 1), name) for name in (cell["system"], cell["work"])]
        return (*names, cell.get("settings", ""), cell["bytes"], cell["sync"], cell["net_scale"], cell["ranks"])

    def frame(self) -> "pandas.DataFrame":
        """One row per cell, in the order of the study: its names and numbers, `median_ns`, `mean_ns_low`, ..., and the slowdowns T/T0 - 1."""
        pandas = needed("pandas", "the frame of a study")
        return pandas.DataFrame([_row(cell) for cell in sorted(self.cells(), key=self._place)])

    def xarray(self) -> "xarray.Dataset":
        """Slowdowns and times over system, work, ranks, bytes, sync and net_scale, and settings where they vary; NaN where there is no
        cell."""
        needed("xarray", "the array of a study")
        frame = self.frame()
        if frame.empty:
            raise FileError(f"'{self.folder}' has no finished cells yet")
        numbers = [name for name in frame.columns if name.endswith("_ns") or "_ns_" in name or "slowdown" in name]
        coordinates = [*COORDINATES, *(["settings"] if frame["settings"].notna().any() else [])]
        return frame.fillna({"settings": ""}).set_index(coordinates)[numbers].to_xarray()

    def report(self) -> str:
        """Return what `idlewave report` prints, as text."""
        from .verbs import call

        return call("report", self.folder, format="text")

    def plot(self, **settings: Any) -> "Figure":
        """Draw the slowdown over ranks (idlewave.figures.study)."""
        from .figures import study

        return study(self, **settings)


def _row(cell: Dict[str, Any]) -> Dict[str, Any]:
    """A cell as a row; names as `idlewave report DIR --format csv` has them."""
    row = {key: value for key, value in cell.items() if key not in ("schema", "makespan_ns", "recording", "digest")}
    times = cell["makespan_ns"]
    for name, value in times.items():
        if name == "count":
            continue
        base, _, end = name.partition("_")
        row[f"{base}_ns_{end}" if end else f"{base}_ns"] = value
        if base in ("mean", "median"):
            row[f"{base}_slowdown_{end}" if end else f"{base}_slowdown"] = _slowdown(value, cell["noiseless_ns"])
    recording = cell.get("recording") or {}
    row.setdefault("settings", float("nan"))
    row["is_bound"] = bool(recording.get("is_bound", False))
    return row


def _slowdown(makespan_ns: Any, noiseless_ns: float) -> Any:
    return None if makespan_ns is None or not noiseless_ns else makespan_ns / noiseless_ns - 1.0
