"""Results of the kind `model`: idlewave.model/3.

SPDX-License-Identifier: BSD-3-Clause
Made by tools/make_python.py: change the C sources, then make it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Dict, List, Literal, Optional

from ..result import Estimate, Result
from .shared import CaveatsRow


@dataclass(frozen=True)
class Chain:
    growth: Optional[float]
    phase_ns: Optional[float]
    decay_ns_per_rank: Optional[float]


@dataclass(frozen=True)
class Horizon:
    phases: Optional[float]
    observed_ranks: Optional[float]
    tail_ranks: Optional[float]
    refusal: Literal["none", "short", "few", "mixture", "heavy"]
    record_s: Optional[float]
    tail_shape: Optional[float]
    tail_from_ns: Optional[float]


@dataclass(frozen=True)
class Simulated:
    trials: int
    mean_ns: Estimate


@dataclass(frozen=True)
class RowsRow:
    ranks: int
    noiseless_ns: Optional[float]
    slowest_ns: Estimate
    at_least_ns: Estimate
    at_most_ns: Estimate
    median_ns: Optional[float]
    rests_on: Literal["closed form", "recursion", "recording", "tail", "refused"]
    worst_source: Optional[str]
    simulated: Optional[Simulated]


@dataclass(frozen=True, repr=False)
class Model(Result):
    """A result of the kind `model`."""

    SCHEMA: ClassVar[str] = "idlewave.model/3"

    noise: str
    recorded_cpus: int
    noise_cpus: Optional[str]
    net: Optional[str]
    work_ns: Optional[float]
    latency_ns: Optional[float]
    barrier: Literal["tree", "dissemination"]
    is_cone: bool
    half_ranks: Optional[float]
    half_rule: Literal["papers", "own", "bound"]
    first_doubled: Optional[float]
    last_doubled: Optional[float]
    neighbours: Optional[Dict[str, Chain]]
    horizon: Optional[Horizon]
    rows: List[RowsRow]
    command: Optional[str]
    caveats: Optional[List[CaveatsRow]]
