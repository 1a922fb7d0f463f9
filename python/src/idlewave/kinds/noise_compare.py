"""Results of the kind `noise-compare`: idlewave.noise-compare/3.

SPDX-License-Identifier: BSD-3-Clause
Made by tools/make_python.py: change the C sources, then make it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, List, Literal, Optional

from ..result import Estimate, Result
from .shared import CaveatsRow


@dataclass(frozen=True)
class PointsRow:
    ns: Optional[float]
    above: Optional[float]


@dataclass(frozen=True)
class Side:
    name: str
    probe: Literal["selfish", "fwq", "ftq", "watch"]
    rung: Literal["none", "switches", "perf", "tracefs", "osnoise", "bpf"]
    quantum_ns: int
    cpus: int
    watched_ns: Optional[float]
    length_ns: int
    block_ns: int
    blocks: int
    threshold_ns: Optional[float]
    count: int
    left_out: int
    dropped: int
    points: List[PointsRow]


@dataclass(frozen=True)
class Difference:
    a: Optional[float]
    b: Optional[float]
    difference: Estimate


@dataclass(frozen=True)
class Distance:
    distance: Optional[float]
    by_chance: Optional[float]
    p: Optional[float]


@dataclass(frozen=True)
class SourcesRow:
    class_: Literal["unknown", "thread", "irq", "softirq", "nmi", "hardware"]
    name: str
    in_a: bool
    in_b: bool
    share: Difference


@dataclass(frozen=True)
class OriginsRow:
    name: str
    a: str
    b: str


@dataclass(frozen=True, repr=False)
class NoiseCompare(Result):
    """A result of the kind `noise-compare`."""

    SCHEMA: ClassVar[str] = "idlewave.noise-compare/3"

    outcome: Literal["same", "better", "slight", "worse", "unknown"]
    metric: Literal["share", "rate", "median", "p99", "longest"]
    tolerance: Optional[float]
    seed: int
    replicates: int
    a: Side
    b: Side
    threshold_ns: Optional[float]
    share: Difference
    rate_hz: Optional[Difference]
    median_ns: Difference
    p99_ns: Difference
    longest_ns: Difference
    ks: Distance
    wasserstein_ns: Distance
    stretches: int
    stretch_ns: int
    has_sources: bool
    sources: Optional[List[SourcesRow]]
    origins: List[OriginsRow]
    caveats: Optional[List[CaveatsRow]]
