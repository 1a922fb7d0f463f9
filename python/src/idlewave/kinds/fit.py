"""Results of the kind `fit`: idlewave.noise-fit/2.

SPDX-License-Identifier: BSD-3-Clause
Made by tools/make_python.py: change the C sources, then make it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, List, Literal, Optional

from ..result import Estimate, Result
from .shared import CaveatsRow


@dataclass(frozen=True)
class Arrivals:
    rate_hz: Optional[float]
    period_ns: Optional[float]
    beats: int
    missing: Optional[float]
    others: int
    gap_ks: Optional[float]
    gap_p: Optional[float]
    gap_variation: Optional[float]


@dataclass(frozen=True)
class PointsRow:
    ns: Optional[float]
    above: Optional[float]


@dataclass(frozen=True)
class LawsRow:
    law: Literal["fixed", "exponential", "Pareto", "lognormal"]
    is_fitted: bool
    scale_ns: Optional[Estimate]
    shape: Optional[Estimate]
    log_likelihood: Optional[float]
    aic: Optional[float]
    bic: Optional[float]
    ks: Optional[float]
    p: Optional[float]
    seen: Optional[float]
    at_limit: bool


@dataclass(frozen=True)
class Durations:
    points: List[PointsRow]
    count: int
    left_out: int
    cut_ns: Optional[float]
    total_ns: Optional[float]
    longest_ns: Optional[float]
    is_fitted: bool
    best: Optional[Literal["fixed", "exponential", "Pareto", "lognormal"]]
    laws: List[LawsRow]
    tail_share: Optional[float]
    tail_recorded_ns: Optional[float]
    tail_fitted_ns: Optional[float]
    expected_as_long: Optional[float]


@dataclass(frozen=True)
class Laws:
    count: int
    left_out: int
    cut_ns: Optional[float]
    total_ns: Optional[float]
    longest_ns: Optional[float]
    is_fitted: bool
    best: Optional[Literal["fixed", "exponential", "Pareto", "lognormal"]]
    laws: List[LawsRow]
    tail_share: Optional[float]
    tail_recorded_ns: Optional[float]
    tail_fitted_ns: Optional[float]
    expected_as_long: Optional[float]


@dataclass(frozen=True)
class GroupsRow:
    kind: Literal["all", "source", "others"]
    class_: Optional[Literal["unknown", "thread", "irq", "softirq", "nmi", "hardware"]]
    name: str
    source_count: int
    share: Optional[float]
    arrivals: Arrivals
    durations: Durations
    has_parts: bool
    beats: Optional[Laws]
    others: Optional[Laws]


@dataclass(frozen=True)
class SpecsRow:
    spec: str
    group: int
    periodic: bool
    rate_hz: Optional[float]
    law: Literal["fixed", "exponential", "Pareto", "lognormal"]
    scale_ns: Optional[float]
    shape: Optional[float]
    share: Optional[float]
    seen: Optional[float]
    overlapping: Optional[float]
    by_mean: bool


@dataclass(frozen=True)
class Agreement:
    is_known: bool
    length_ns: int
    share_recorded: Optional[float]
    share_made: Optional[float]
    difference: Estimate
    rate_recorded_hz: Optional[float]
    rate_made_hz: Optional[float]
    ks: Optional[float]


@dataclass(frozen=True, repr=False)
class Fit(Result):
    """A result of the kind `fit`."""

    SCHEMA: ClassVar[str] = "idlewave.noise-fit/2"

    name: str
    threshold_ns: Optional[float]
    watched_ns: Optional[float]
    dropped: int
    seed: int
    replicates: int
    has_sources: bool
    groups: List[GroupsRow]
    specs: List[SpecsRow]
    left_out_share: Optional[float]
    agreement: Optional[Agreement]
    caveats: Optional[List[CaveatsRow]]
