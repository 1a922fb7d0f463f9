"""Results of the kind `machine`: idlewave.machine/2.

SPDX-License-Identifier: BSD-3-Clause
Made by tools/make_python.py: change the C sources, then make it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, List, Literal, Optional

from ..result import Result
from .shared import CaveatsRow, Memory


@dataclass(frozen=True)
class LevelsRow:
    name: str
    ranks: Optional[int]
    parts: Optional[int]
    L_ns: float
    o_send_ns: float
    o_recv_ns: float
    g_ns: float
    G_ns_per_byte: float
    bytes_per_ns: Optional[float]
    segments: int
    taper: Optional[float]
    is_node: bool
    small_ns: float
    large_ns: float
    large_shared_ns: float
    is_device_progress: Optional[bool]


@dataclass(frozen=True, repr=False)
class Machine(Result):
    """A result of the kind `machine`."""

    SCHEMA: ClassVar[str] = "idlewave.machine/2"

    name: str
    levels: List[LevelsRow]
    S_bytes: int
    placement: Literal["block", "round-robin", "list"]
    placed_ranks: Optional[int]
    placed_nodes: Optional[int]
    nic_count: int
    nic_bytes_per_ns: Optional[float]
    active: Optional[int]
    rails: Optional[bool]
    memory: Optional[Memory]
    caveats: Optional[List[CaveatsRow]]
