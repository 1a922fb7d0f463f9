"""Results of the kind `digest`: idlewave.digest/1.

SPDX-License-Identifier: BSD-3-Clause
Made by tools/make_python.py: change the C sources, then make it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Dict, List, Literal, Optional

from ..result import Result


@dataclass(frozen=True)
class CpusRow:
    cpu: int
    length_ns: int


@dataclass(frozen=True)
class SourcesRow:
    class_: Literal["unknown", "thread", "irq", "softirq", "nmi", "hardware"]
    name: str
    detours: int
    busy_ns: int
    median_ns: Optional[float]
    p99_ns: Optional[float]
    longest_ns: int
    by_length: List[int]


@dataclass(frozen=True, repr=False)
class Digest(Result):
    """A result of the kind `digest`."""

    SCHEMA: ClassVar[str] = "idlewave.digest/1"

    node: str
    start_ns: int
    probe: Literal["selfish", "fwq", "ftq", "watch"]
    rung: Literal["none", "switches", "perf", "tracefs", "osnoise", "bpf"]
    threshold_ns: Optional[float]
    watched_ns: Optional[float]
    attributes: Dict[str, str]
    cpus: List[CpusRow]
    sources: List[SourcesRow]
