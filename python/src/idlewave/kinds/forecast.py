"""Results of the kind `forecast`: idlewave.forecast/2.

SPDX-License-Identifier: BSD-3-Clause
Made by tools/make_python.py: change the C sources, then make it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, Optional

from ..result import Result


@dataclass(frozen=True)
class Split:
    refusal: str
    workers: Optional[int]
    lanes: Optional[int]
    batches: Optional[int]
    messages_per_batch: Optional[float]
    bytes_sent_per_batch: Optional[float]
    exchanges_per_batch: Optional[int]
    compute_s: Optional[float]
    exchange_s: Optional[float]
    process_bytes: Optional[int]


@dataclass(frozen=True, repr=False)
class Forecast(Result):
    """A result of the kind `forecast`."""

    SCHEMA: ClassVar[str] = "idlewave.forecast/2"

    engine: Literal["auto", "event", "flow", "window"]
    engine_note: str
    ranks: int
    trials: int
    redrawn: int
    messages: int
    processes: int
    nodes: int
    threads: int
    message_s: Optional[float]
    room_bytes: Optional[float]
    parallel: Literal["auto", "trials", "ranks"]
    reason: str
    trials_split: Split
    ranks_split: Split
