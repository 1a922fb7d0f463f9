"""Results of the kind `waits`: idlewave.waits/2.

SPDX-License-Identifier: BSD-3-Clause
Made by tools/make_python.py: change the C sources, then make it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, List, Literal, Optional

from ..result import Estimate, Result
from .shared import CaveatsRow


@dataclass(frozen=True)
class RanksRow:
    rank: int
    node: str
    stage: int
    computing_ns: Optional[float]
    waiting_ns: Optional[float]
    transfer_ns: Optional[float]
    other_ns: Optional[float]
    caused_ns: Optional[float]
    met: int
    last: int
    usual_late_ns: Optional[float]
    peers: int
    longer_ns: Optional[float]
    blocks_won: int
    chance: Optional[float]
    pattern: Literal["ordinary", "persistent", "period"]
    from_ns: Optional[float]
    to_ns: Optional[float]


@dataclass(frozen=True)
class NodesRow:
    name: str
    ranks: int
    encounters: int
    waiting_ns: Optional[float]
    transfer_ns: Optional[float]
    caused_ns: Optional[float]
    imbalance_ns: Optional[float]
    noise_ns: Optional[float]


@dataclass(frozen=True)
class StagesRow:
    name: str
    ranks: int
    encounters: int
    waiting_ns: Optional[float]
    transfer_ns: Optional[float]
    caused_ns: Optional[float]
    imbalance_ns: Optional[float]
    noise_ns: Optional[float]


@dataclass(frozen=True)
class GroupsRow:
    name: str
    ranks: int
    encounters: int
    waiting_ns: Optional[float]
    transfer_ns: Optional[float]
    caused_ns: Optional[float]
    imbalance_ns: Optional[float]
    noise_ns: Optional[float]


@dataclass(frozen=True)
class OperationsRow:
    name: str
    ranks: int
    encounters: int
    waiting_ns: Optional[float]
    transfer_ns: Optional[float]
    caused_ns: Optional[float]
    imbalance_ns: Optional[float]
    noise_ns: Optional[float]


@dataclass(frozen=True)
class CausesRow:
    name: str
    pauses: int
    paused_ns: Optional[float]
    caused_ns: Optional[float]


@dataclass(frozen=True)
class CostsRow:
    cause: str
    where: str
    culprits: str
    ranks: int
    pauses: int
    paused_ns: Optional[float]
    saved_ns: Estimate
    share: Estimate


@dataclass(frozen=True)
class ChangesRow:
    iteration: int
    before_ns: Optional[float]
    after_ns: Optional[float]
    chance: Optional[float]


@dataclass(frozen=True)
class MapRow:
    first_rank: int
    rank_count: int
    waiting: List[Optional[float]]
    caused: List[Optional[float]]


@dataclass(frozen=True, repr=False)
class Waits(Result):
    """A result of the kind `waits`."""

    SCHEMA: ClassVar[str] = "idlewave.waits/2"

    name: str
    origin: str
    lacks: str
    traced_ranks: int
    run_ranks: Optional[int]
    collectives: int
    messages: int
    unmatched: int
    unordered: int
    run_ns: Optional[float]
    computing_ns: Optional[float]
    waiting_ns: Optional[float]
    transfer_ns: Optional[float]
    other_ns: Optional[float]
    imbalance_ns: Optional[float]
    noise_ns: Optional[float]
    unsplit_ns: Optional[float]
    through_transfer_ns: Optional[float]
    has_bounds_only: bool
    waiting_least_ns: Optional[float]
    waiting_most_ns: Optional[float]
    clock_ns: Optional[float]
    blocks: int
    least_share: Optional[float]
    top: int
    named: int
    iterations: int
    iterated: str
    iteration_ns: Optional[float]
    ranks: List[RanksRow]
    nodes: List[NodesRow]
    stages: List[StagesRow]
    groups: List[GroupsRow]
    operations: List[OperationsRow]
    causes: List[CausesRow]
    steps: int
    step_ns: Optional[float]
    costs: List[CostsRow]
    changes: List[ChangesRow]
    iterations_per_time: int
    times_ns: List[Optional[float]]
    iterations_per_column: int
    map: List[MapRow]
    caveats: Optional[List[CaveatsRow]]
