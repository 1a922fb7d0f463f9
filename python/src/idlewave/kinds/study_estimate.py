"""Results of the kind `study-estimate`: idlewave.study-estimate/2.

SPDX-License-Identifier: BSD-3-Clause
Made by tools/make_python.py: change the C sources, then make it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, List, Optional

from ..result import Result


@dataclass(frozen=True)
class RowsRow:
    system: str
    work: str
    least_ranks: int
    most_ranks: int
    cells: int
    core_seconds: Optional[float]
    largest_bytes: int


@dataclass(frozen=True, repr=False)
class StudyEstimate(Result):
    """A result of the kind `study-estimate`."""

    SCHEMA: ClassVar[str] = "idlewave.study-estimate/2"

    shard: int
    shards: int
    cells: int
    found: int
    processes: int
    threads: int
    core_seconds: Optional[float]
    wall_seconds: Optional[float]
    memory_bytes: int
    rows: List[RowsRow]
