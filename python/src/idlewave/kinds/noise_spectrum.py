"""Results of the kind `noise-spectrum`: idlewave.noise-spectrum/2.

SPDX-License-Identifier: BSD-3-Clause
Made by tools/make_python.py: change the C sources, then make it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, List, Literal, Optional

from ..result import Result
from .shared import CaveatsRow, LinesRow, PointsRow, SourcesRow


@dataclass(frozen=True, repr=False)
class NoiseSpectrum(Result):
    """A result of the kind `noise-spectrum`."""

    SCHEMA: ClassVar[str] = "idlewave.noise-spectrum/2"

    name: str
    host: Optional[str]
    probe: Literal["selfish", "fwq", "ftq", "watch"]
    cpu: Optional[int]
    cpus: int
    lowest_hz: Optional[float]
    max_frequency_hz: Optional[float]
    step_hz: Optional[float]
    resolution_hz: Optional[float]
    quanta_hz: Optional[float]
    window_ns: Optional[float]
    windows: int
    possible_windows: int
    least_ratio: Optional[float]
    false_alarm: Optional[float]
    highest_ratio: Optional[float]
    is_tick_known: bool
    lines: List[LinesRow]
    sources: List[SourcesRow]
    points: List[PointsRow]
    caveats: Optional[List[CaveatsRow]]
