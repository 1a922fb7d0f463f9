"""Results of the kind `record`: idlewave.record/4.

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
class ReachRow:
    work_ns: Optional[float]
    ranks: Optional[float]


@dataclass(frozen=True, repr=False)
class Record(Result):
    """A result of the kind `record`."""

    SCHEMA: ClassVar[str] = "idlewave.record/4"

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
    t_min_ns: Optional[float]
    threshold_ns: Optional[float]
    detection_limit_hz: Optional[float]
    reach: List[ReachRow]
