"""Results of the kind `coincidence`: idlewave.coincidence/1.

SPDX-License-Identifier: BSD-3-Clause
Made by tools/make_python.py: change the C sources, then make it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, List, Literal, Optional

from ..result import Result
from .shared import CaveatsRow


@dataclass(frozen=True)
class InstantsRow:
    wall_ns: int
    nodes: int


@dataclass(frozen=True)
class SourcesRow:
    class_: Literal["unknown", "thread", "irq", "softirq", "nmi", "hardware"]
    name: str
    nodes: int
    occurrences: int
    share: Optional[float]
    is_tested: bool
    is_coincident: bool
    p: Optional[float]
    width_ns: Optional[int]
    together: Optional[float]
    nodes_together: int
    period_ns: Optional[int]
    instants_found: int
    instants: List[InstantsRow]
    part_nodes: List[int]


@dataclass(frozen=True, repr=False)
class Coincidence(Result):
    """A result of the kind `coincidence`."""

    SCHEMA: ClassVar[str] = "idlewave.coincidence/1"

    name: Optional[str]
    found: int
    nodes: int
    clock_less: int
    from_wall_ns: int
    length_ns: int
    error_ns: Optional[float]
    unsynchronised: int
    false_alarms: Optional[float]
    tests: int
    sources: List[SourcesRow]
    caveats: Optional[List[CaveatsRow]]
