"""Results of the kind `net`: idlewave.net-measured/3.

SPDX-License-Identifier: BSD-3-Clause
Made by tools/make_python.py: change the C sources, then make it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, List, Literal, Optional

from ..result import Estimate, Result


@dataclass(frozen=True)
class Limit:
    bytes: int
    is_at_most: bool
    votes: int


@dataclass(frozen=True)
class SegmentsRow:
    from_bytes: int
    L_ns: Optional[float]
    o_send_ns: Optional[float]
    o_recv_ns: Optional[float]
    g_ns: Optional[float]
    G_fs_per_byte: int
    O_fs_per_byte: int


@dataclass(frozen=True)
class LevelsRowNet:
    L_ns: Optional[float]
    o_send_ns: Optional[float]
    o_recv_ns: Optional[float]
    g_ns: Optional[float]
    G_fs_per_byte: int
    O_fs_per_byte: int
    segments: List[SegmentsRow]


@dataclass(frozen=True)
class PointsRow:
    bytes: int
    samples: int
    half_round_trip_ns: Estimate
    gap_ns: Estimate
    o_send_ns: Estimate
    o_recv_ns: Estimate
    exchange_ns: Estimate


@dataclass(frozen=True)
class LevelsRow:
    name: str
    ranks: List[int]
    L_ns: Estimate
    half_round_trip_ns: Estimate
    exchange_ns: Estimate
    o_send_ns: Estimate
    o_recv_ns: Estimate
    g_ns: Estimate
    S: Limit
    S_receiver_in_mpi: Limit
    fit_error: Optional[float]
    wide_points: int
    overlapped_from_bytes: int
    least_overlap: Optional[float]
    g_capped_from_bytes: int
    g_most_capped: Optional[float]
    net: LevelsRowNet
    points: List[PointsRow]


@dataclass(frozen=True)
class SlowRow:
    ranks: List[int]
    small_round_trip_ns: Optional[float]
    large_round_trip_ns: Optional[float]
    small_factor: Optional[float]
    large_factor: Optional[float]


@dataclass(frozen=True, repr=False)
class Net(Result):
    """A result of the kind `net`."""

    SCHEMA: ClassVar[str] = "idlewave.net-measured/3"

    warning: str
    launches: int
    ranks: int
    host_names: List[str]
    hosts: int
    mpi_version: str
    calls: Literal["blocking", "nonblocking", "exchange"]
    clock: str
    seconds: Optional[float]
    pairs: int
    links_looked_at: int
    large_bytes: int
    levels: List[LevelsRow]
    slow: List[SlowRow]
