"""Figures by matplotlib, in idlewave's colours: noise is orange, series differ in marks and dashes too.

SPDX-License-Identifier: BSD-3-Clause

Each function returns a matplotlib Figure without opening a window; notebooks show it, `figure.savefig()` writes it, `figure.axes` can be changed.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Sequence

from . import kinds
from .errors import IdlewaveError, needed
from .palette import colours, series, source_colours
from .recording import Recording
from .study import Study
from .timeline import STATES, Timeline
from .units import time_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKS = "os^Dv<>"
DASHES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (3, 2)), (0, (8, 3)))
AT_LEAST = ">"  # the mark of an interval without an upper end
OWN_SOURCES = 6  # the largest sources have colours of their own
POINTS = 20000  # of detours that are drawn, the longest first


def style(theme: str = "light") -> Dict[str, Any]:
    """Return settings for matplotlib: `with matplotlib.rc_context(style()): ...`."""
    ink = colours(theme)
    cycler = needed("cycler", "a figure").cycler
    return {
        "figure.facecolor": ink["ground"], "axes.facecolor": ink["ground"], "savefig.facecolor": ink["ground"],
        "text.color": ink["ink"], "axes.labelcolor": ink["ink"], "axes.edgecolor": ink["faint"],
        "xtick.color": ink["faint"], "ytick.color": ink["faint"], "xtick.labelcolor": ink["ink"], "ytick.labelcolor": ink["ink"],
        "axes.grid": True, "grid.color": ink["rule"], "grid.linewidth": 0.6, "axes.axisbelow": True,
        "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False, "font.size": 9.0,
        "axes.titlesize": 10.0, "figure.titlesize": 10.0, "axes.titlelocation": "left", "lines.linewidth": 1.5, "lines.markersize": 4.0,
        "axes.prop_cycle": cycler(color=series(theme)), "svg.fonttype": "none",
    }


@functools.lru_cache(maxsize=None)
def _figure_class() -> Any:
    base = needed("matplotlib.figure", "a figure").Figure

    class ShownFigure(base):  # type: ignore[misc, valid-type]
        """Shows itself in a notebook, once, whether pyplot is there or not."""

        def _repr_png_(self) -> bytes:
            import io

            out = io.BytesIO()
            self.savefig(out, format="png", dpi=120)
            return out.getvalue()

    return ShownFigure


def _styled(draw: Callable[..., "Figure"]) -> Callable[..., "Figure"]:
    """A figure that is drawn by the rules of `style()`, whatever else is set."""

    @functools.wraps(draw)
    def styled(*arguments: Any, theme: str = "light", **settings: Any) -> "Figure":
        matplotlib = needed("matplotlib", "a figure")
        with matplotlib.rc_context(style(theme)):
            return draw(*arguments, theme=theme, **settings)

    return styled


def _new(width: float, height: float) -> "Figure":
    return _figure_class()(figsize=(width, height), layout="constrained")


def plot(result: Any, **settings: Any) -> "Figure":
    """Draw the figure of any result or file that has one."""
    for kind, draw in FIGURES.items():
        if isinstance(result, kind):
            return draw(result, **settings)
    raise IdlewaveError(f"{type(result).__name__} has no figure; "
                        f"figures exist for {', '.join(kind.__name__ for kind in FIGURES)}")


# ---- studies ----


@_styled
def study(folder: Study, work: Optional[str] = None, statistic: str = "median", theme: str = "light") -> "Figure":
    """Draw time with noise over time without, by ranks: one line per system, one panel per work; bands are 95 % intervals."""
    frame = folder.frame()
    if frame.empty:
        raise IdlewaveError(f"'{folder.folder}' has no finished cells yet")
    wanted = [name for name in frame["work"].unique() if work in (None, name)]
    if not wanted:
        raise IdlewaveError(f"unknown work '{work}' in '{folder.folder}': use {', '.join(frame['work'].unique())}")
    figure = _new(4.6 * min(len(wanted), 2) + 1.6, 3.6 * math.ceil(len(wanted) / 2))
    panels = figure.subplots(math.ceil(len(wanted) / 2), min(len(wanted), 2), squeeze=False, sharey=True).flat
    for axes, name in zip(panels, wanted):
        _draw_work(axes, frame[frame["work"] == name], statistic)
        axes.set_title(name)
    for axes in list(panels)[len(wanted):]:
        axes.set_visible(False)
    figure.axes[min(len(wanted), 2) - 1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return figure


def _draw_work(axes: "Axes", frame: Any, statistic: str) -> None:
    column = f"{statistic}_slowdown"
    others = [name for name in ("settings", "bytes", "sync", "net_scale") if frame[name].nunique() > 1]
    labels = frame["system"].str.cat([frame[name].astype(str) for name in others], sep=", ")
    for number, (label, rows) in enumerate(frame.groupby(labels, sort=False)):
        line = axes.plot(rows["ranks"], 1.0 + rows[column], marker=MARKS[number % len(MARKS)],
                         linestyle=DASHES[number // len(MARKS) % len(DASHES)], label=label)[0]
        low, high = (rows[f"{column}_{end}"].astype(float) for end in ("low", "high"))
        axes.fill_between(rows["ranks"], 1.0 + low, 1.0 + high, color=line.get_color(), alpha=0.18, linewidth=0)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set_xlabel("ranks")
    axes.set_ylabel(f"time with noise / without ({statistic})")


# ---- recordings ----


@_styled
def recording(noise_file: Recording, theme: str = "light") -> "Figure":
    """Draw detours over time, by source, and below them their share of time."""
    figure = _new(7.2, 4.8)
    above, below = figure.subplots(2, 1, sharex=True, gridspec_kw={"height_ratios": (2, 1)})
    _draw_detours(above, noise_file, theme)
    lost = 100.0 * noise_file.lost().mean("cpu")
    edges = [*lost["time"].values, noise_file.seconds]
    below.stairs(lost.values, edges, fill=True, color=colours(theme)["noise"], label="noise")
    below.set_ylabel("lost, % of CPU time")
    below.set_xlabel("time in s")
    below.set_ylim(bottom=0)
    return figure


def _draw_detours(axes: "Axes", noise_file: Recording, theme: str) -> None:
    detours = noise_file.detours()
    ink = colours(theme)
    sums = _named(noise_file.by_source())
    names = _named(detours)
    own = list(sums[:OWN_SOURCES])
    drawn = detours.nlargest(POINTS, "duration_ns")
    inks = source_colours(own, theme)
    groups = [(name, drawn[names[drawn.index] == name], colour) for name, colour in zip(own, inks)]
    if len(sums) > len(own):
        groups.append((f"{len(sums) - len(own)} others", drawn[~names[drawn.index].isin(own)], ink["faint"]))
    for number, (name, rows, colour) in enumerate(groups):  # large sources beneath small ones, the others beneath all
        axes.scatter(rows["start_ns"] / 1e9, rows["duration_ns"] / 1e3, s=9, color=colour, marker=MARKS[number % len(MARKS)],
                     label=name, linewidth=0, alpha=0.8, zorder=1.0 if number == OWN_SOURCES else 2.0 + 0.1 * number)
    axes.set_yscale("log")
    axes.set_ylabel("duration in us")
    drawn_text = f", the longest {POINTS:,} drawn" if len(detours) > POINTS else ""
    axes.figure.suptitle(f"{noise_file.origin.get('host', noise_file.path.name)}: {len(detours):,} detours{drawn_text}", x=0.01, ha="left")
    if groups:
        axes.legend(ncols=4, loc="lower left", bbox_to_anchor=(0.0, 1.0), markerscale=1.6)


def _named(frame: Any) -> Any:
    """Names of sources; of those without one, their class."""
    return frame["source"].where(frame["source"] != "", frame["class"])


# ---- timelines ----


@_styled
def timeline(run: Timeline, theme: str = "light") -> "Figure":
    """Draw ranks over time: the colour of a cell is the mix of its states."""
    numpy = needed("numpy", "a figure")
    to_rgb = needed("matplotlib.colors", "a figure").to_rgb
    patch = needed("matplotlib.patches", "a figure").Patch
    ink = colours(theme)
    raster = run.raster()
    shares = {state: raster[f"mean_{state}"].values for state in STATES}
    rest = numpy.clip(1.0 - sum(shares.values()), 0.0, 1.0)
    picture = rest[..., None] * numpy.array(to_rgb(ink["ground"]))
    for state, share in shares.items():
        picture = picture + share[..., None] * numpy.array(to_rgb(ink[state]))
    scale, unit = _time_scale(run.end_ps / 1e12)
    figure = _new(7.2, 3.8)
    axes = figure.subplots()
    width = raster.attrs["bin_s"] * picture.shape[1] / scale
    axes.imshow(numpy.clip(picture, 0.0, 1.0), origin="lower", aspect="auto", interpolation="nearest",
                extent=(0.0, width, -0.5, run.ranks - 0.5))
    axes.set_xlim(0.0, run.end_ps / 1e12 / scale)
    axes.grid(False)
    axes.set_xlabel(f"time in {unit}")
    axes.set_ylabel("rank")
    present = [state for state in STATES if shares[state].any()]
    handles = [patch(facecolor=ink[state], edgecolor=ink["faint"], linewidth=0.5, label=state) for state in present]
    axes.legend(handles=handles, ncols=len(handles), loc="lower right", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2)
    return figure


def _time_scale(seconds: float) -> "tuple[float, str]":
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= scale:
            return scale, unit
    return 1e-9, "ns"


# ---- single results ----


@_styled
def trials(result: kinds.Simulate, theme: str = "light") -> "Figure":
    """Draw the times of the trials, and the time without noise."""
    if not result.trial_times:
        raise IdlewaveError("the result has no times of trials, because there are more than 1,000; CSV has all")
    ink = colours(theme)
    times = [trial.makespan_ns for trial in result.trial_times]
    scale, unit = _time_scale(max(times) / 1e9)
    figure = _new(6.0, 3.2)
    axes = figure.subplots()
    axes.hist([time / 1e9 / scale for time in times], bins=max(10, round(math.sqrt(len(times)))), color=ink["noise"],
              label=f"{len(times)} trials with noise")
    axes.axvline(result.noiseless_ns / 1e9 / scale, color=ink["series-0"], linestyle="--", label="without noise")
    if result.makespan_ns.mean is not None:
        mean, low, high = (None if end is None else end / 1e9 / scale for end in (
            result.makespan_ns.mean, result.makespan_ns.mean_low, result.makespan_ns.mean_high))
        axes.axvline(mean, color=ink["ink"], label="mean" + ("" if low is None else ", 95 % interval"))
        if low is not None and high is not None:
            axes.axvspan(low, high, color=ink["ink"], alpha=0.12, linewidth=0)
    axes.set_xlabel(f"makespan in {unit}")
    axes.set_ylabel("trials")
    axes.set_title(f"{result.what} on {result.ranks:,} ranks")
    axes.legend()
    return figure


@_styled
def critical_path(result: kinds.Simulate, theme: str = "light") -> "Figure":
    """Draw the critical path by cause; needs `simulate(explain=True)`."""
    if result.explain is None:
        raise IdlewaveError("the result has no critical path: use simulate(explain=True)")
    parts = [part for part in result.explain.parts if part.last_ns]
    ink = colours(theme)
    bars = [100.0 * (part.last_ns or 0.0) / result.explain.makespan_ns for part in parts]
    figure = _new(6.0, 0.8 + 0.3 * len(parts))
    axes = figure.subplots()
    names = [f"{part.part} ({part.level})" if part.level else part.part for part in parts]
    axes.barh(names, bars, color=[ink["noise"] if part.is_noise else ink["series-0"] for part in parts])
    for name, bar, part in zip(names, bars, parts):
        axes.annotate(time_text(part.last_ns or 0.0), (bar, name), xytext=(3, 0), textcoords="offset points", va="center")
    axes.invert_yaxis()
    axes.margins(x=0.15)
    axes.grid(False, axis="y")
    axes.set_xlabel("% of the critical path")
    axes.set_title(f"{result.what} on {result.ranks:,} ranks, trial {result.explain.trial}")
    return figure


@_styled
def changes(result: kinds.Whatif, theme: str = "light") -> "Figure":
    """Draw what the removal of each source saves, in points of slowdown; lines are 95 % intervals, with arrows where they have no upper limit."""
    rows = result.changes[:12]
    figure = _new(6.4, 0.9 + 0.3 * len(rows))
    axes = figure.subplots()
    ink = colours(theme)
    for place, change in enumerate(rows):
        saving = change.saving
        axes.barh(place, 100.0 * float(saving), color=ink["noise"])
        if saving.low is not None:
            is_open = saving.high is None
            high = float(saving) if saving.high is None else saving.high
            axes.plot([100.0 * saving.low, 100.0 * high], [place, place], color=ink["ink"], marker=AT_LEAST if is_open else "|",
                      markevery=[1] if is_open else None)
    axes.set_yticks(range(len(rows)), _change_names(rows))
    axes.invert_yaxis()
    axes.grid(False, axis="y")
    axes.set_xlabel("saves, in points of slowdown")
    axes.set_title(f"{result.what} on {result.ranks:,} ranks: without ...")
    return figure


def _change_names(rows: Sequence[Any]) -> List[str]:
    return [row.name if row.kind in ("source", "rest", row.name) else f"{row.kind}: {row.name}" for row in rows]


@_styled
def answers(result: kinds.Model, theme: str = "light") -> "Figure":
    """Draw the time of a phase over ranks: by formula, with its limits, and simulated where it was checked."""
    ink = colours(theme)
    rows = [row for row in result.rows if row.at_least_ns.value is not None]
    figure = _new(6.0, 3.4)
    axes = figure.subplots()
    ranks = [row.ranks for row in rows]
    scale, unit = _time_scale(max((row.noiseless_ns or 0.0) for row in result.rows) / 1e9)
    low, high = ([float(end) / 1e9 / scale for end in ends] for ends in (
        [row.at_least_ns for row in rows], [row.at_most_ns for row in rows]))
    axes.plot(ranks, low, color=ink["noise"], marker="o", label="with noise, at least")
    axes.plot(ranks, high, color=ink["noise"], linestyle="--", marker="s", label="at most")
    axes.fill_between(ranks, low, high, color=ink["noise"], alpha=0.2, linewidth=0)
    axes.plot(ranks, [(row.noiseless_ns or 0.0) / 1e9 / scale for row in rows], color=ink["series-0"], label="without noise")
    checked = [row for row in rows if row.simulated is not None]
    if checked:
        axes.plot([row.ranks for row in checked], [float(row.simulated.mean_ns) / 1e9 / scale for row in checked if row.simulated],
                  color=ink["ink"], linestyle="", marker="x", label="simulated")
    axes.set_xscale("log", base=2)
    axes.set_xlabel("ranks")
    axes.set_ylabel(f"phase in {unit}")
    axes.legend()
    return figure


FIGURES: Dict[type, Callable[..., "Figure"]] = {
    Study: study, Recording: recording, Timeline: timeline, kinds.Simulate: trials, kinds.Whatif: changes, kinds.Model: answers,
}
