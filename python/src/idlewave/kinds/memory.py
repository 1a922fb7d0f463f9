"""Results of the kind `memory`: idlewave.memory/1.

SPDX-License-Identifier: BSD-3-Clause
Made by tools/make_python.py: change the C sources, then make it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, List, Literal, Optional

from ..result import Estimate, Result


@dataclass(frozen=True)
class MemoryMemory:
    ranks: int
    domain_bytes_per_s: int
    core_bytes_per_s: int


@dataclass(frozen=True)
class PointsRow:
    cores: int
    windows: int
    bytes_per_s: Estimate
    model_bytes_per_s: Optional[float]


@dataclass(frozen=True, repr=False)
class Memory(Result):
    """A result of the kind `memory`."""

    SCHEMA: ClassVar[str] = "idlewave.memory/1"

    command: str
    host: str
    cpu_model: str
    hypervisor: str
    cpus: str
    numa_node: int
    cores: int
    saturation: Literal["saturates", "scales", "unclear"]
    saturated_from: int
    core_bytes_per_s: Estimate
    domain_bytes_per_s: Estimate
    scaling: Estimate
    memory: MemoryMemory
    misfit: Optional[float]
    misfit_cores: int
    points: List[PointsRow]
    cache_bytes: int
    array_bytes: int
    window_s: Optional[float]
    seconds: Optional[float]
    windows: int
    disturbed_windows: int
    is_disturbed: bool
