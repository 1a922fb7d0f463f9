"""Results of the kind `explain`: idlewave.explain/1.

SPDX-License-Identifier: BSD-3-Clause
Made by tools/make_python.py: change the C sources, then make it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, List, Literal, Optional

from ..result import Estimate, Result
from .shared import Remedy


@dataclass(frozen=True)
class SourcesRow:
    name: str
    class_: Literal["unknown", "thread", "irq", "softirq", "nmi", "hardware"]
    detours: int
    lost_ns: Optional[float]
    absorbed_ns: Optional[float]
    path_detours: int
    path_ns: Optional[float]
    saving_ns: Estimate
    remedy: Optional[Remedy]


@dataclass(frozen=True)
class ByCallRow:
    name: str
    comm: int
    comm_size: int
    comm_name: Optional[str]
    delays: int
    lost_ns: Optional[float]
    largest: str


@dataclass(frozen=True)
class HitsRow:
    source: str
    rank: int
    at_ns: Optional[float]
    lost_ns: Optional[float]
    is_in_call: bool
    call: str
    iteration: int
    comm: int
    comm_size: int
    waiter: int
    waited_in: str
    waiter_iteration: int


@dataclass(frozen=True, repr=False)
class Explain(Result):
    """A result of the kind `explain`."""

    SCHEMA: ClassVar[str] = "idlewave.explain/1"

    name: str
    ranks: int
    watched_ranks: int
    calls: int
    run_ns: Optional[float]
    path_computing_ns: Optional[float]
    path_calls_ns: Optional[float]
    path_lost_ns: Optional[float]
    path_jumps: int
    last_rank: int
    without_all_ns: Estimate
    unexplained_share: Optional[float]
    unordered: int
    rung: str
    clock_error_ns: Optional[float]
    events_lost: int
    sources: List[SourcesRow]
    by_call: List[ByCallRow]
    hits: List[HitsRow]
