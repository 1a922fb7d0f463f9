"""Results of the kind `stragglers`: idlewave.stragglers/2.

SPDX-License-Identifier: BSD-3-Clause
Made by tools/make_python.py: change the C sources, then make it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, List, Optional

from ..result import Result


@dataclass(frozen=True)
class CausesRow:
    name: str
    without_ns: Optional[float]
    share: Optional[float]


@dataclass(frozen=True)
class KindsRow:
    name: str
    count: int
    usual_ns: Optional[float]
    factor: Optional[float]


@dataclass(frozen=True)
class ByStageRow:
    number: int
    factor: Optional[float]


@dataclass(frozen=True)
class ByReplicaRow:
    number: int
    factor: Optional[float]


@dataclass(frozen=True)
class WorkersRow:
    rank: int
    replica: int
    stage: int
    factor: Optional[float]


@dataclass(frozen=True)
class StepsRow:
    number: int
    traced_ns: Optional[float]
    replayed_ns: Optional[float]


@dataclass(frozen=True, repr=False)
class Stragglers(Result):
    """A result of the kind `stragglers`."""

    SCHEMA: ClassVar[str] = "idlewave.stragglers/2"

    command: Optional[str]
    name: str
    replicas: int
    stages: int
    microbatches: int
    gpus: int
    traced_ns: Optional[float]
    replayed_ns: Optional[float]
    ideal_ns: Optional[float]
    factor: Optional[float]
    slow_workers: int
    slow_workers_share: Optional[float]
    last_stage_share: Optional[float]
    causes: List[CausesRow]
    kinds: List[KindsRow]
    by_stage: List[ByStageRow]
    by_replica: List[ByReplicaRow]
    workers: List[WorkersRow]
    steps: List[StepsRow]
