"""Timelines: what each rank did when, step by step and as a raster.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING, Any

from .errors import FileError, needed
from .hdf5 import open_file, text
from .result import Path

if TYPE_CHECKING:
    import pandas
    import xarray

    from matplotlib.figure import Figure

    from .kinds import Wave

FORMAT = "idlewave.timeline/1"
STATES = ("delay", "compute", "noise", "comm", "wait")  # in the order in which a step is drawn
FULL = 65535  # all of a cell's time


class Timeline:
    """A timeline. Facts are attributes; `steps()` and `raster()` read the rest."""

    def __init__(self, path: Path) -> None:
        self.path = pathlib.Path(path)
        with open_file(path, FORMAT) as file:
            self.origin = text(file.attrs["origin"])
            self.title = text(file.attrs["title"])
            self.ranks = int(file.attrs["ranks"])
            self.end_ps = int(file.attrs["end_ps"])
            self.noiseless_ps = int(file.attrs.get("noiseless_ps", 0))
            self.total_steps = int(file.attrs["steps"])
            self.levels = len(file["raster"])

    def __repr__(self) -> str:
        return f"<Timeline '{self.path}': {self.ranks} ranks, {self.end_ps / 1e12:.4g} s, {self.origin}>"

    def waves(self, **options: Any) -> "Wave":
        """Find the idle waves in it, by `idlewave wave`."""
        from .verbs import wave

        return wave(self.path, **options)

    def _repr_html_(self) -> str:
        return self.waves()._repr_html_()

    def steps(self) -> "pandas.DataFrame":
        """The exact steps: `rank`, `step`, `begin_ps`, and the time in each state, `wait_ps`. Steps count from 0."""
        pandas, numpy = needed("pandas", "the steps of a timeline"), needed("numpy", "the steps of a timeline")
        with open_file(self.path, FORMAT) as file:
            exact = file["exact"]
            start = exact["start"][:].astype("int64")
            counts = numpy.diff(start)
            ranks = (int(exact.attrs["first_rank"]) + numpy.arange(len(counts))) % self.ranks
            first = exact["first_step"][:].astype("int64")
            columns = {"rank": numpy.repeat(ranks, counts),
                       "step": numpy.repeat(first - start[:-1], counts) + numpy.arange(start[-1])}
            columns.update((name, exact[name][:]) for name in ("begin_ps", *(f"{state}_ps" for state in STATES)))
        return pandas.DataFrame(columns)

    def raster(self, level: int = 0) -> "xarray.Dataset":
        """Shares of time in each state (`mean_wait`, `max_wait`) over `rank` (the first of a row) and `time` (begin of a column, in s)."""
        numpy, xarray = needed("numpy", "a raster"), needed("xarray", "a raster")
        with open_file(self.path, FORMAT) as file:
            if f"raster/{level}" not in file:
                raise FileError(f"'{self.path}' has no level {level} of the raster: it has 0 to {self.levels - 1}")
            group = file[f"raster/{level}"]
            shape = (int(group.attrs["rows"]), int(group.attrs["columns"]))
            bin_ps, ranks_per_row = int(group.attrs["bin_ps"]), int(group.attrs["ranks_per_row"])
            shares = {name: (("rank", "time"), group[name][:].reshape(shape) / FULL)
                      for state in STATES for name in (f"mean_{state}", f"max_{state}")}
        times = numpy.arange(shape[1]) * (bin_ps / 1e12)
        return xarray.Dataset(shares, {"rank": numpy.arange(shape[0]) * ranks_per_row, "time": ("time", times, {"units": "s"})},
                              {"bin_s": bin_ps / 1e12, "ranks_per_row": ranks_per_row})

    def plot(self, **settings: Any) -> "Figure":
        """Draw ranks over time (idlewave.figures.timeline)."""
        from .figures import timeline

        return timeline(self, **settings)
