"""Results of the kind `fleet`: idlewave.fleet/3.

SPDX-License-Identifier: BSD-3-Clause
Made by tools/make_python.py: change the C sources, then make it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, List, Literal, Optional

from ..result import Result
from .shared import CaveatsRow, Source, Spread


@dataclass(frozen=True)
class Lengths:
    median_ns: Optional[float]
    p99_ns: Optional[float]
    longest_ns: Optional[float]


@dataclass(frozen=True)
class OthersLengths:
    median_ns: Optional[float]
    p99_ns: Optional[float]
    longest_ns: Optional[float]


@dataclass(frozen=True)
class FindingsRow:
    node: str
    has_cpu: bool
    cpu: Optional[int]
    is_all: bool
    source: Optional[Source]
    metric: Literal["share", "rate", "longest"]
    value: Optional[float]
    median: Optional[float]
    limit: Optional[float]
    others_max: Optional[float]
    others: int
    nodes_with_it: int
    excess_share: Optional[float]
    lengths: Optional[Lengths]
    others_lengths: Optional[OthersLengths]
    advice: Optional[str]


@dataclass(frozen=True)
class SourcesRow:
    class_: Literal["unknown", "thread", "irq", "softirq", "nmi", "hardware"]
    name: str
    nodes: int
    share: Spread
    lengths: Optional[Lengths]


@dataclass(frozen=True)
class DifferencesRow:
    kind: Literal["missing", "quieter"]
    node: str
    source: Optional[Source]
    share: Optional[float]
    median: Optional[float]


@dataclass(frozen=True)
class GroupsRow:
    fact: str
    value: str
    nodes: int
    first: List[str]


@dataclass(frozen=True)
class UnreadableRow:
    name: str
    reason: str


@dataclass(frozen=True)
class NodesRow:
    name: str
    cpus: int
    watched_ns: Optional[float]
    share: Optional[float]
    rate_hz: Optional[float]
    longest_ns: Optional[float]
    findings: int
    largest: str
    is_busy: Optional[bool]


@dataclass(frozen=True, repr=False)
class Fleet(Result):
    """A result of the kind `fleet`."""

    SCHEMA: ClassVar[str] = "idlewave.fleet/3"

    name: str
    outcome: Optional[str]
    nodes_outstanding: int
    false_alarms: Optional[float]
    matters: Optional[float]
    comparisons: int
    few_factor: Optional[float]
    findings: List[FindingsRow]
    watched_ns: Optional[float]
    share: Spread
    rate_hz: Spread
    longest_ns: Spread
    sources: List[SourcesRow]
    differences: List[DifferencesRow]
    groups: List[GroupsRow]
    unreadable: List[UnreadableRow]
    nodes: List[NodesRow]
    caveats: Optional[List[CaveatsRow]]
