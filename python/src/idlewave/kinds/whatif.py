"""Results of the kind `whatif`: idlewave.whatif/3.

SPDX-License-Identifier: BSD-3-Clause
Made by tools/make_python.py: change the C sources, then make it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, List, Literal, Optional

from ..result import Estimate, Result
from .shared import CaveatsRow, Remedy, Sensitivity


@dataclass(frozen=True)
class Change:
    kind: Literal["source", "rest", "class", "set", "all", "together", "reserve", "replace", "apart", "network"]
    name: str
    removes: List[str]
    share: Optional[float]
    slowdown: Estimate
    saving: Estimate
    remedy: Optional[Remedy]


@dataclass(frozen=True)
class BreakEven:
    is_known: bool
    is_always: bool
    ranks: Estimate
    least_ranks: int
    most_ranks: int
    price: Optional[float]


@dataclass(frozen=True)
class SourcesRow:
    name: str
    class_: Literal["unknown", "thread", "irq", "softirq", "nmi", "hardware"]
    share: Optional[float]
    remedy: Optional[Remedy]


@dataclass(frozen=True)
class Recording:
    seconds: Optional[float]
    cpus: int
    watched_seconds: Optional[float]
    longest_ns: int
    unseen: Optional[float]
    is_bound: bool
    record_seconds: Optional[float]
    is_extrapolated: bool
    laws: List[str]
    sensitivity: Optional[Sensitivity]


@dataclass(frozen=True, repr=False)
class Whatif(Result):
    """A result of the kind `whatif`."""

    SCHEMA: ClassVar[str] = "idlewave.whatif/3"

    what: str
    command: str
    noise: str
    net: str
    ranks: int
    ranks_per_node: int
    cores_per_rank: Optional[int]
    loop: Optional[Literal["static", "dynamic"]]
    recorded_cpus: int
    noise_cpus: str
    trials: int
    redraws: int
    seed: int
    messages: int
    noiseless_ns: float
    is_monotone: bool
    now: Estimate
    changes: List[Change]
    sum_of_sources: Optional[float]
    target: Optional[float]
    has_target_set: bool
    is_target_exact: bool
    target_set: Optional[Change]
    break_even: Optional[BreakEven]
    is_reserve_unknown: bool
    sources: List[SourcesRow]
    recording: Optional[Recording]
    recorded_seconds: Optional[float]
    rare_limit_seconds: Optional[float]
    engine_seconds: Optional[float]
    caveats: Optional[List[CaveatsRow]]
