"""Results of the kind `check`: idlewave.check/3.

SPDX-License-Identifier: BSD-3-Clause
Made by tools/make_python.py: change the C sources, then make it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Dict, List, Literal, Optional

from ..result import Estimate, Result
from .shared import CaveatsRow, Cost, CpusRow, Load, MitigationsRow, Picture, Sensitivity, Spectrum


@dataclass(frozen=True)
class RequirementsRow:
    name: str
    is_setting: bool
    state: Literal["met", "missed", "unknown"]
    wanted: str
    found: str


@dataclass(frozen=True)
class JobsRow:
    name: str
    what: str
    net: Optional[str]
    ranks: int
    is_done: bool
    trials: int
    slowdown: Optional[Estimate]
    most_slowdown: Optional[float]
    worst: str
    saving: Optional[Estimate]
    remedy: Optional[str]
    sensitivity: Optional[Sensitivity]


@dataclass(frozen=True)
class BaselineShare:
    baseline: Optional[float]
    now: Optional[float]
    difference: Estimate


@dataclass(frozen=True)
class Fleet:
    path: Optional[str]
    node_count: int
    finding_count: int
    largest: str


@dataclass(frozen=True)
class Verify:
    host: str
    recorded_host: str
    kernel: str
    cpus: str
    quiet_cpus: str
    quiet_origin: str
    watched: str
    job: str
    slowdown: Optional[Estimate]
    counts: Dict[str, int]
    mitigations: List[MitigationsRow]
    remarks: List[str]
    caveats: Optional[List[CaveatsRow]]


@dataclass(frozen=True)
class SourcesRow:
    class_: Literal["unknown", "thread", "irq", "softirq", "nmi", "hardware"]
    name: str
    count: int
    rate_hz: Optional[float]
    share: Optional[float]
    median_ns: Optional[float]
    p99_ns: Optional[float]
    max_ns: Optional[float]
    period_ns: Optional[float]
    is_kernel: Optional[bool]


@dataclass(frozen=True)
class Noise:
    name: str
    probe: Literal["selfish", "fwq", "ftq", "watch"]
    rung: Literal["none", "switches", "perf", "tracefs", "osnoise", "bpf"]
    has_sources: bool
    quantum_ns: Optional[int]
    watched_ns: Optional[float]
    count: int
    rate_hz: Optional[float]
    share: Optional[float]
    median_ns: Optional[float]
    p99_ns: Optional[float]
    max_ns: Optional[float]
    dropped: int
    load: Optional[Load]
    rare_limit_ns: Optional[float]
    sources: List[SourcesRow]
    cpus: List[CpusRow]
    attributes: Dict[str, str]
    caveats: Optional[List[CaveatsRow]]
    cost: Optional[Cost]
    spectrum: Optional[Spectrum]
    no_spectrum: Optional[str]
    picture: Picture


@dataclass(frozen=True, repr=False)
class Check(Result):
    """A result of the kind `check`."""

    SCHEMA: ClassVar[str] = "idlewave.check/3"

    outcome: Literal["good", "contradicted", "unknown", "noisy", "busy"]
    line: str
    took_s: Optional[float]
    profile: Optional[str]
    requirements: List[RequirementsRow]
    jobs: List[JobsRow]
    has_baseline: bool
    baseline: Optional[str]
    compared: Optional[Literal["same", "better", "slightly worse", "worse", "unknown"]]
    baseline_share: Optional[BaselineShare]
    has_fleet: bool
    fleet: Optional[Fleet]
    is_watched: bool
    caveats: Optional[List[CaveatsRow]]
    verify: Optional[Verify]
    noise: Noise
    command: Optional[str]
