"""Results of the kind `fidelity`: idlewave.fidelity/2.

SPDX-License-Identifier: BSD-3-Clause
Made by tools/make_python.py: change the C sources, then make it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, List, Optional

from ..result import Result


@dataclass(frozen=True)
class Costs:
    floor_ns: Optional[float]
    overhead_ns: Optional[float]
    late_share: Optional[float]
    late_p50_ns: Optional[float]
    late_p99_ns: Optional[float]
    gap_ns: Optional[float]


@dataclass(frozen=True)
class Trace:
    events: int
    as_recorded: int
    made: int
    noise_ns: Optional[float]
    as_recorded_ns: Optional[float]
    made_ns: Optional[float]
    length_ns: int


@dataclass(frozen=True)
class Injected:
    made: int
    skipped: int
    made_ns: Optional[float]
    skipped_ns: Optional[float]
    late_max_ns: Optional[float]


@dataclass(frozen=True)
class Power:
    expected: Optional[float]
    observed: Optional[float]
    by_host: Optional[float]
    right: bool


@dataclass(frozen=True)
class Count:
    planned: int
    hidden: int
    hidden_by_host: Optional[float]
    expected: int
    observed: int
    merged: int
    excess: int
    own: int
    all: int
    right: bool


@dataclass(frozen=True)
class Durations:
    compared: int
    quantile_expected_ns: List[Optional[float]]
    quantile_observed_ns: List[Optional[float]]
    ks: Optional[float]
    wasserstein_ns: Optional[float]
    kl: Optional[float]
    right: bool


@dataclass(frozen=True)
class Host:
    share: Optional[float]
    rate_hz: Optional[float]
    share_meanwhile: Optional[float]
    rate_meanwhile_hz: Optional[float]
    right: bool


@dataclass(frozen=True)
class Checked:
    right: bool
    can_tell: bool
    is_hidden: bool
    is_drowned: bool
    time_scale: Optional[float]
    watched_ns: Optional[float]
    power: Power
    count: Count
    durations: Durations
    host: Host
    late_spread_ns: Optional[float]


@dataclass(frozen=True, repr=False)
class Fidelity(Result):
    """A result of the kind `fidelity`."""

    SCHEMA: ClassVar[str] = "idlewave.fidelity/2"

    noise: str
    back_end: str
    costs: Costs
    trace: Trace
    injected: Injected
    fidelity: Checked
    kl_ratio: Optional[float]
    has_naive: bool
    naive: Optional[Checked]
