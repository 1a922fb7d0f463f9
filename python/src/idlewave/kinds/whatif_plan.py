"""Results of the kind `whatif-plan`: idlewave.whatif-plan/2.

SPDX-License-Identifier: BSD-3-Clause
Made by tools/make_python.py: change the C sources, then make it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Optional

from ..result import Result


@dataclass(frozen=True, repr=False)
class WhatifPlan(Result):
    """A result of the kind `whatif-plan`."""

    SCHEMA: ClassVar[str] = "idlewave.whatif-plan/2"

    ranks: int
    messages: int
    changes: int
    trials: int
    redraws: int
    trials_per_redraw: int
    simulations: int
    seconds: Optional[float]
    target_seconds: Optional[float]
    reserve_seconds: Optional[float]
    process_bytes: int
    room_bytes: Optional[float]
    sample_ranks: int
