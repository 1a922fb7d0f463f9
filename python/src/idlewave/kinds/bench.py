"""Results of the kind `bench`: idlewave.bench/2.

SPDX-License-Identifier: BSD-3-Clause
Made by tools/make_python.py: change the C sources, then make it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Dict, List, Literal, Optional

from ..result import Estimate, Result


@dataclass(frozen=True)
class Injected:
    planned_share: Optional[float]
    as_recorded_share: Optional[float]
    made: int
    made_ns: Optional[float]
    skipped: int
    skipped_ns: Optional[float]
    cut_short: int
    noisy_ns: Optional[float]
    floor_ns: Optional[float]
    late_p99_ns: Optional[float]


@dataclass(frozen=True)
class PerRankRow:
    host: str
    phases: int
    iterations: int
    undisturbed_ns: Optional[float]
    qt_ns: Dict[str, Optional[float]]
    bt_ns: Dict[str, Optional[float]]
    injected: Optional[Injected]


@dataclass(frozen=True)
class Quantiles:
    value: Optional[float]
    low: Optional[float]
    high: Optional[float]
    quantile_ns: Dict[str, Optional[float]]


@dataclass(frozen=True)
class Phases:
    phases: int
    phase_ns: Estimate
    qt_ns: Quantiles
    bt_ns: Quantiles
    qtbt_ns: Quantiles
    operation_ns: Quantiles
    bins: List[int]


@dataclass(frozen=True)
class Noise:
    sources: List[str]
    back_end: str
    sync: Literal["none", "start", "phase"]
    skew_ns: Optional[float]
    ranks_per_node: int
    recorded_cpus: int
    cpus: str
    planned_share: Optional[float]
    injected_share: Optional[float]
    as_recorded_share: Optional[float]
    as_recorded_event_share: Optional[float]
    floor_ns: Optional[float]
    skipped_share: Optional[float]
    cut_short: int


@dataclass(frozen=True)
class Baseline:
    path: str
    ranks: int
    quantum_ns: Optional[float]
    qtbt_ns: Estimate
    slowdown: Estimate


@dataclass(frozen=True)
class Simulated:
    net: str
    trials: int
    phases: int
    noiseless_ns: Optional[float]
    noisy_ns: Optional[float]
    slowdown: Estimate
    expected: Estimate
    difference: Optional[float]
    ratio: Optional[float]
    agreement: Literal["unclear", "agrees", "differs"]
    beyond_chance: bool


@dataclass(frozen=True, repr=False)
class Bench(Result):
    """A result of the kind `bench`."""

    SCHEMA: ClassVar[str] = "idlewave.bench/2"

    operation: Literal["barrier", "allreduce", "halo"]
    work: Literal["spin", "sleep"]
    bytes: int
    ranks: int
    hosts: int
    mpi: str
    mpi_version: str
    clock: str
    warning: str
    seconds: Optional[float]
    has_noise: bool
    phases: int
    kept: int
    stride: int
    left_out: int
    block_phases: int
    per_rank: List[PerRankRow]
    command: Optional[str]
    time_scale: Optional[float]
    quantum_ns: Optional[float]
    own_noise_share: Optional[float]
    quiet: Phases
    noisy: Optional[Phases]
    bin_begin_ns: List[Optional[float]]
    noise: Optional[Noise]
    slowdown: Optional[Estimate]
    max_slowdown: Optional[Estimate]
    pair_slowdown: Optional[float]
    baseline: Optional[Baseline]
    simulated: Optional[Simulated]
