"""Results of the kind `history`: idlewave.history/1.

SPDX-License-Identifier: BSD-3-Clause
Made by tools/make_python.py: change the C sources, then make it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, List, Optional

from ..result import Estimate, Result
from .shared import CaveatsRow, Source, Spread


@dataclass(frozen=True)
class ChangesRow:
    is_all: bool
    source: Optional[Source]
    nodes: int
    before: Optional[float]
    after: Optional[float]
    factor: Estimate


@dataclass(frozen=True)
class ChangedNodesRow:
    name: str
    is_all: bool
    source: Optional[Source]
    before: Optional[float]
    after: Optional[float]
    factor: Optional[float]
    limit: Optional[float]


@dataclass(frozen=True)
class PeriodsRow:
    start_ns: int
    nodes: int
    share: Spread
    rate_hz: Optional[float]
    longest_ns: Optional[float]


@dataclass(frozen=True, repr=False)
class History(Result):
    """A result of the kind `history`."""

    SCHEMA: ClassVar[str] = "idlewave.history/1"

    name: str
    outcome: Optional[str]
    recordings: int
    recordings_without_date: int
    files_unreadable: int
    nodes: int
    nodes_compared: int
    period_ns: int
    change_ns: int
    periods_before: int
    periods_after: int
    false_alarms: Optional[float]
    matters: Optional[float]
    comparisons: int
    least_factor: Optional[float]
    changes: List[ChangesRow]
    changed_nodes: List[ChangedNodesRow]
    periods: List[PeriodsRow]
    caveats: Optional[List[CaveatsRow]]
