"""Results of the kind `watch`: idlewave.watch/3.

SPDX-License-Identifier: BSD-3-Clause
Made by tools/make_python.py: change the C sources, then make it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Dict, List, Literal, Optional

from ..result import Result
from .shared import CaveatsRow, Cost, CpusRow, Load, Picture, Spectrum


@dataclass(frozen=True)
class SourcesRow:
    class_: Literal["unknown", "thread", "irq", "softirq", "nmi", "hardware"]
    name: str
    count: int
    rate_hz: Optional[float]
    share: Optional[float]
    median_ns: Optional[float]
    p99_ns: Optional[float]
    max_ns: Optional[float]
    period_ns: Optional[float]
    is_kernel: Optional[bool]


@dataclass(frozen=True)
class Totals:
    wanted_ns: int
    lost_ns: int
    detours: int
    run_ns: int
    wait_ns: int
    wait_own_ns: int
    wait_waking_ns: int
    throttled_ns: int
    steal_unplaced_ns: int
    nmi_count: int
    nmi_ns: int
    slices: int
    migrations: int


@dataclass(frozen=True)
class Losses:
    detours: int
    time_ns: int
    parts: int
    names: int
    threads: int
    skipped: int


@dataclass(frozen=True)
class WatchSourcesRow:
    class_: Literal["unknown", "thread", "irq", "softirq", "nmi", "hardware"]
    name: str
    count: int
    time_ns: int
    slots: List[int]


@dataclass(frozen=True)
class All:
    class_: Literal["unknown", "thread", "irq", "softirq", "nmi", "hardware"]
    name: str
    count: int
    time_ns: int
    slots: List[int]


@dataclass(frozen=True)
class WatchCpusRow:
    cpu: int
    wanted_ns: int
    lost_ns: int
    detours: int
    is_kept: bool


@dataclass(frozen=True)
class WatchWatch:
    job: str
    watched_ns: int
    load_ns: int
    totals: Totals
    losses: Losses
    sources: List[WatchSourcesRow]
    all: All
    cpus: List[WatchCpusRow]


@dataclass(frozen=True, repr=False)
class Watch(Result):
    """A result of the kind `watch`."""

    SCHEMA: ClassVar[str] = "idlewave.watch/3"

    file: str
    name: str
    probe: Literal["selfish", "fwq", "ftq", "watch"]
    rung: Literal["none", "switches", "perf", "tracefs", "osnoise", "bpf"]
    has_sources: bool
    quantum_ns: Optional[int]
    watched_ns: Optional[float]
    count: int
    rate_hz: Optional[float]
    share: Optional[float]
    median_ns: Optional[float]
    p99_ns: Optional[float]
    max_ns: Optional[float]
    dropped: int
    load: Optional[Load]
    rare_limit_ns: Optional[float]
    sources: List[SourcesRow]
    cpus: List[CpusRow]
    attributes: Dict[str, str]
    caveats: Optional[List[CaveatsRow]]
    cost: Optional[Cost]
    spectrum: Optional[Spectrum]
    no_spectrum: Optional[str]
    picture: Picture
    watch: WatchWatch
