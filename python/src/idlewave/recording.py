"""Noise files: the detours of the CPUs of a node, as DataFrames.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple

from .errors import FileError, needed
from .hdf5 import open_file, text
from .result import Path

if TYPE_CHECKING:
    import pandas
    import xarray

    from matplotlib.figure import Figure

    from .kinds import Noise

FORMAT = "idlewave.noise/1"
CLASSES = ("unknown", "thread", "irq", "softirq", "nmi", "hardware")
DETOURS, PARTS, SAMPLES = 0, 1, 2  # places in `written`


class Recording:
    """A noise file. Facts are attributes; `detours()`, `parts()`, `samples()` and `lost()` read its columns."""

    def __init__(self, path: Path) -> None:
        self.path = pathlib.Path(path)
        with open_file(path, FORMAT) as file:
            self.probe = text(file.attrs["probe"])
            self.rung = text(file.attrs["rung"])
            self.quantum_ns = int(file.attrs["quantum_ns"])
            self.origin: Dict[str, str] = {name: text(value) for name, value in file["origin"].attrs.items()}
            self.sources = _sources(file["sources"])
            self.cpus = [int(name) for name in file["cpu"]]
            self.length_ns = {cpu: int(file[f"cpu/{cpu}"].attrs["length_ns"]) for cpu in self.cpus}

    def __repr__(self) -> str:
        return f"<Recording '{self.path}': {len(self.cpus)} CPUs of {self.origin.get('host', '?')}, {self.seconds:.4g} s>"

    def _repr_html_(self) -> str:
        return self.show()._repr_html_()

    @property
    def seconds(self) -> float:
        """Watched time of the CPU that was watched least."""
        return min(self.length_ns.values()) / 1e9

    def show(self) -> "Noise":
        """Return the result of `idlewave noise show`."""
        from .noise import show

        return show(self.path)

    def _table(self, columns: Dict[str, str], place: int) -> "pandas.DataFrame":
        """Columns of all CPUs, below each other."""
        pandas = needed("pandas", "the frame of a recording")
        frames = []
        with open_file(self.path, FORMAT) as file:
            for cpu in self.cpus:
                group = file[f"cpu/{cpu}"]
                rows = _rows(group, next(iter(columns)), place)
                frame = pandas.DataFrame({name: group[column][:rows] for column, name in columns.items()})
                frame.insert(0, "cpu", cpu)
                frames.append(frame)
        return pandas.concat(frames, ignore_index=True)

    def _named(self, frame: "pandas.DataFrame") -> "pandas.DataFrame":
        """The numbers of sources as their classes and names."""
        numbers = frame["source"].to_numpy()
        if len(numbers) and numbers.max() >= len(self.sources):
            raise FileError(f"'{self.path}' is damaged: source {numbers.max()} of {len(self.sources)}")
        frame.insert(frame.columns.get_loc("source"), "class", [self.sources[number][0] for number in numbers])
        frame["source"] = [self.sources[number][1] for number in numbers]
        return frame

    def detours(self) -> "pandas.DataFrame":
        """One row per detour: `cpu`, `start_ns`, `duration_ns`, and `class` and `source` of its largest part."""
        return self._named(self._table({"start_ns": "start_ns", "duration_ns": "duration_ns", "source": "source"}, DETOURS))

    def parts(self) -> "pandas.DataFrame":
        """Of detours with several sources: `cpu`, `detour` (its row on that CPU), `class`, `source`, `part_ns`."""
        return self._named(self._table({"part_detour": "detour", "part_source": "source", "part_ns": "part_ns"}, PARTS))

    def samples(self) -> "pandas.DataFrame":
        """Quanta of FWQ and FTQ: `cpu`, `start_ns`, and `sample` (FWQ: its time in ns; FTQ: the work done)."""
        return self._table({"sample_start_ns": "start_ns", "sample": "sample"}, SAMPLES)

    def by_source(self) -> "pandas.DataFrame":
        """Time of each source: `class`, `source`, `time_ns`, and its `share` of the time watched; largest first."""
        times = _source_times(self.detours(), self.parts()).sort_values(ascending=False)
        frame = times[times > 0].rename("time_ns").reset_index()
        frame["share"] = frame["time_ns"] / sum(self.length_ns.values())
        return frame

    def lost(self, bin_s: Optional[float] = None) -> "xarray.DataArray":
        """Share of time that detours took, over `cpu` and `time` (begin of the bin, in s), in bins of BIN_S (a hundredth)."""
        numpy, xarray = needed("numpy", "lost()"), needed("xarray", "lost()")
        width_ns = self.seconds * 1e7 if bin_s is None else bin_s * 1e9
        count = int(self.seconds * 1e9 / width_ns + 1e-9)
        if count < 1:
            raise FileError(f"bins of {bin_s} s exceed the recording of {self.seconds} s")
        edges = numpy.arange(count + 1) * width_ns
        detours = self.detours()
        shares = numpy.empty((len(self.cpus), count))
        for row, cpu in enumerate(self.cpus):
            own = detours[detours["cpu"] == cpu]
            shares[row] = numpy.diff(_lost_until(own["start_ns"].to_numpy(), own["duration_ns"].to_numpy(), edges)) / width_ns
        return xarray.DataArray(shares, dims=("cpu", "time"), name="share",
                                coords={"cpu": self.cpus, "time": ("time", edges[:-1] / 1e9, {"units": "s"})})

    def plot(self, **settings: Any) -> "Figure":
        """Draw detours over time, by source (idlewave.figures.recording)."""
        from .figures import recording

        return recording(self, **settings)


def _sources(dataset: Any) -> List[Tuple[str, str]]:
    count = int(dataset.attrs["written"]) if "written" in dataset.attrs else len(dataset)
    return [(CLASSES[int(row["class"])], text(bytes(row["name"]))) for row in dataset[:count]]


def _rows(group: Any, column: str, place: int) -> int:
    return int(group.attrs["written"][place]) if "written" in group.attrs else len(group[column])


def _source_times(detours: "pandas.DataFrame", parts: "pandas.DataFrame") -> "pandas.Series[Any]":
    """Time by class and source: parts have theirs as far as their detour lasts; what they leave open is its own source's."""
    numbers = detours.groupby("cpu").cumcount().rename("detour")
    joined = parts.merge(detours.assign(detour=numbers)[["cpu", "detour", "duration_ns"]], on=["cpu", "detour"], how="left")
    ends = joined.groupby(["cpu", "detour"])["part_ns"].cumsum()
    joined["own_ns"] = ends.clip(upper=joined["duration_ns"]) - (ends - joined["part_ns"]).clip(upper=joined["duration_ns"])
    covered = joined.groupby(["cpu", "detour"])["own_ns"].sum().rename("covered_ns").reset_index()
    left = detours.assign(detour=numbers).merge(covered, on=["cpu", "detour"], how="left")
    left["own_ns"] = left["duration_ns"] - left["covered_ns"].fillna(0)
    keys = ["class", "source"]
    return left.groupby(keys)["own_ns"].sum().add(joined.groupby(keys)["own_ns"].sum(), fill_value=0)


def _lost_until(starts_ns: Any, durations_ns: Any, edges_ns: Any) -> Any:
    """Time in detours before each edge: detours ascend and do not overlap."""
    numpy = needed("numpy", "lost()")
    sums = numpy.concatenate([[0], numpy.cumsum(durations_ns)])
    before = numpy.searchsorted(starts_ns, edges_ns, side="right")
    last = numpy.maximum(before - 1, 0)
    if len(starts_ns) == 0:
        return numpy.zeros(len(edges_ns))
    beyond = numpy.maximum(starts_ns[last] + durations_ns[last] - edges_ns, 0)
    return sums[before] - numpy.where(before > 0, beyond, 0)
