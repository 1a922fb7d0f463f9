"""Results of the kind `wave`: idlewave.wave/2.

SPDX-License-Identifier: BSD-3-Clause
Made by tools/make_python.py: change the C sources, then make it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, List, Optional

from ..result import Result
from .shared import DesyncRow, Timeline, WavesRow


@dataclass(frozen=True, repr=False)
class Wave(Result):
    """A result of the kind `wave`."""

    SCHEMA: ClassVar[str] = "idlewave.wave/2"

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
