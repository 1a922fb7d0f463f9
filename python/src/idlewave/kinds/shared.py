"""Parts that several kinds of results have.

SPDX-License-Identifier: BSD-3-Clause
Made by tools/make_python.py: change the C sources, then make it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import List, Literal, Optional

from ..result import Estimate


@dataclass(frozen=True)
class Sensitivity:
    length_ns: int
    every_seconds: Optional[float]
    trials: int
    slowdown: Optional[float]


@dataclass(frozen=True)
class CaveatsRow:
    kind: Literal["busy", "short", "not_valid", "one_host", "missing", "older_boot", "groups", "opaque"]
    is_known: bool
    input: str
    text: str


@dataclass(frozen=True)
class MitigationsRow:
    name: str
    removes: str
    state: Literal["contradicted", "in effect", "configured", "cannot tell", "not configured"]
    setting: str
    evidence: str
    advice: str
    is_felt: bool
    is_to_do: bool
    seen_hz: Optional[float]
    share: Optional[float]
    sources: List[str]
    has_worth: bool
    worth: Optional[Estimate]


@dataclass(frozen=True)
class Load:
    is_known: bool
    is_busy: bool
    users: Optional[float]
    services: Optional[float]
    kernel: Optional[float]
    programs: str


@dataclass(frozen=True)
class CpusRow:
    cpu: int
    length_ns: int
    t_min_ns: Optional[float]
    threshold_ns: Optional[float]
    dropped: int
    count: int
    rate_hz: Optional[float]
    share: Optional[float]
    median_ns: Optional[float]
    p99_ns: Optional[float]
    max_ns: Optional[float]


@dataclass(frozen=True)
class Cost:
    network: str
    ranks: int
    repeat: int
    trials: int
    used_ns: Optional[float]
    barrier_slowdown: Estimate
    allreduce_slowdown: Estimate
    is_bound: bool
    is_rare: bool
    from_ranks: Optional[int]
    most_ranks: int


@dataclass(frozen=True)
class LinesRow:
    frequency_hz: Optional[float]
    ratio: Optional[float]
    share: Optional[float]
    harmonics: int
    power: Optional[float]
    tick_hz: Optional[float]


@dataclass(frozen=True)
class SourcesRow:
    class_: Literal["unknown", "thread", "irq", "softirq", "nmi", "hardware"]
    name: str
    period_ns: Optional[float]
    share: Optional[float]
    line: Optional[int]


@dataclass(frozen=True)
class PointsRow:
    frequency_hz: Optional[float]
    power: Optional[float]
    floor: Optional[float]


@dataclass(frozen=True)
class Spectrum:
    name: str
    host: Optional[str]
    probe: Literal["selfish", "fwq", "ftq", "watch"]
    cpu: Optional[int]
    cpus: int
    lowest_hz: Optional[float]
    max_frequency_hz: Optional[float]
    step_hz: Optional[float]
    resolution_hz: Optional[float]
    quanta_hz: Optional[float]
    window_ns: Optional[float]
    windows: int
    possible_windows: int
    least_ratio: Optional[float]
    false_alarm: Optional[float]
    highest_ratio: Optional[float]
    is_tick_known: bool
    lines: List[LinesRow]
    sources: List[SourcesRow]
    points: List[PointsRow]


@dataclass(frozen=True)
class PicturePointsRow:
    start_ns: Optional[float]
    duration_ns: Optional[float]
    cpu: int
    source: int


@dataclass(frozen=True)
class BinsRow:
    from_ns: Optional[float]
    to_ns: Optional[float]
    count: int
    time_ns: Optional[float]
    by_source: List[int]


@dataclass(frozen=True)
class Picture:
    length_ns: Optional[float]
    count: int
    longest_count: int
    stride: int
    points: List[PicturePointsRow]
    bins: List[BinsRow]


@dataclass(frozen=True)
class Remedy:
    name: str
    how: str


@dataclass(frozen=True)
class Source:
    class_: Literal["unknown", "thread", "irq", "softirq", "nmi", "hardware"]
    name: str


@dataclass(frozen=True)
class Spread:
    min: Optional[float]
    q1: Optional[float]
    median: Optional[float]
    q3: Optional[float]
    p95: Optional[float]
    max: Optional[float]


@dataclass(frozen=True)
class Memory:
    ranks: int
    domain_bytes_per_s: int
    core_bytes_per_s: int


@dataclass(frozen=True)
class Timeline:
    origin: str
    title: str
    net: Optional[str]
    ranks: int
    dims: List[int]
    periodic: bool
    distance: int
    sigma: int


@dataclass(frozen=True)
class FrontsRow:
    rank: int
    distance: int
    step: int
    lead_ns: float
    trail_ns: float
    idle_ns: float


@dataclass(frozen=True)
class WavesRow:
    origin_rank: int
    origin_step: int
    delay_ns: float
    dimension: int
    direction: int
    speed_ranks_per_s: Estimate
    trail_speed_ranks_per_s: Estimate
    ranks_per_step: Estimate
    decay_s_per_rank: Estimate
    speed_points: int
    decay_points: int
    end: Literal["runs", "border", "origin", "met", "decayed", "window", "synced"]
    end_rank: int
    end_ns: float
    met: int
    fronts: List[FrontsRow]


@dataclass(frozen=True)
class DesyncRow:
    step: int
    spread_ns: float
    deviation_ns: float
    order: Optional[float]
