"""Results of the kind `study-run`: idlewave.study-run/1.

SPDX-License-Identifier: BSD-3-Clause
Made by tools/make_python.py: change the C sources, then make it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Optional

from ..result import Result


@dataclass(frozen=True, repr=False)
class StudyRun(Result):
    """A result of the kind `study-run`."""

    SCHEMA: ClassVar[str] = "idlewave.study-run/1"

    folder: str
    shard: int
    shards: int
    cells: int
    found: int
    run: int
    others: int
    elsewhere: int
    is_stopped: bool
    seconds: Optional[float]
