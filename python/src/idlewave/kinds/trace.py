"""Results of the kind `trace`: idlewave.trace/1.

SPDX-License-Identifier: BSD-3-Clause
Made by tools/make_python.py: change the C sources, then make it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, List, Optional

from ..result import Result
from .shared import DesyncRow, Timeline, WavesRow


@dataclass(frozen=True)
class FunctionsRow:
    name: str
    calls: int
    bytes: int
    time_ns: float


@dataclass(frozen=True)
class Waves:
    timeline: Timeline
    exact_ranks: int
    first_exact_rank: int
    whole: bool
    makespan_ns: float
    exec_ns: float
    comm_ns: float
    period_ns: float
    threshold_ns: float
    least_delay_ns: float
    joined_below_ns: float
    expected_speed_ranks_per_s: Optional[float]
    silent_period_s: Optional[float]
    silent_speed_ranks_per_s: Optional[float]
    noise_s: Optional[float]
    growth: Optional[float]
    expected_decay_s_per_rank: Optional[float]
    delays: int
    quiet_delays: int
    waves: List[WavesRow]
    desync: List[DesyncRow]


@dataclass(frozen=True, repr=False)
class Trace(Result):
    """A result of the kind `trace`."""

    SCHEMA: ClassVar[str] = "idlewave.trace/1"

    origin: str
    ranks: int
    is_training: bool
    run_ns: float
    mpi_share: Optional[float]
    mpi_least: Optional[float]
    mpi_most: Optional[float]
    compute_mean_ns: float
    compute_most_ns: float
    most_rank: int
    calls: int
    bytes: int
    threaded_ranks: int
    threaded_rank: Optional[int]
    threads: Optional[int]
    functions: List[FunctionsRow]
    waves: Optional[Waves]
