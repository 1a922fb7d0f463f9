"""Results of the kind `training`: idlewave.training/1.

SPDX-License-Identifier: BSD-3-Clause
Made by tools/make_python.py: change the C sources, then make it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, List, Literal, Optional

from ..result import Estimate, Result
from .shared import CaveatsRow


@dataclass(frozen=True)
class Sizes:
    gpus: int
    parameters: int
    tokens: int
    layer_flop: Optional[float]
    token_flop: Optional[float]
    step_flop: Optional[float]
    tp_bytes: int
    pp_bytes: int
    gpu_parameters: Optional[float]
    gpu_bytes: Optional[float]
    gradient_bytes: Optional[float]
    parameter_bytes: Optional[float]
    tp_ns: float
    pp_ns: float
    gradient_ns: float
    gather_ns: float


@dataclass(frozen=True)
class ChangesRow:
    what: str
    source: str
    saved_ns: Estimate
    share: Optional[float]
    gpu_hours: Optional[float]
    cost_per_day: Optional[float]
    noiseless_ns: Optional[float]
    bubble: Optional[float]
    loss: Optional[float]
    batch: Optional[float]


@dataclass(frozen=True)
class AbsorptionRow:
    source: str
    taken_ns: Optional[float]
    longest_ns: Estimate
    ahead_ns: Estimate
    slack_ns: Estimate
    reaches_ns: Estimate
    share: Optional[float]


@dataclass(frozen=True)
class VolumesRow:
    what: str
    bytes: int
    count: int
    group: int
    stride: int
    each_ns: float


@dataclass(frozen=True)
class SourcesRow:
    name: str
    spec: str
    where: Literal["host", "device", "loader", "network"]
    scope: Literal["rank", "node", "all"]
    skew_ns: float
    factor: Optional[float]
    is_of_loader: bool


@dataclass(frozen=True, repr=False)
class Training(Result):
    """A result of the kind `training`."""

    SCHEMA: ClassVar[str] = "idlewave.training/1"

    command: Optional[str]
    name: str
    tp: int
    cp: int
    ep: int
    dp: int
    pp: int
    chunks: int
    microbatches: int
    sizes: Sizes
    has_model: bool
    has_jitter: bool
    steps: int
    trials: int
    seed: int
    operations: int
    noiseless_ns: float
    compute_ns: float
    rows: int
    even_bubble: Optional[float]
    bubble: Optional[float]
    rate: Optional[float]
    step_ns: Estimate
    p10_ns: Optional[float]
    median_ns: Optional[float]
    p90_ns: Optional[float]
    worst_ns: Optional[float]
    loss: Optional[float]
    scatter: Optional[float]
    gpu_hours: Optional[float]
    cost_per_hour: Optional[float]
    cost_per_day: Optional[float]
    changes: List[ChangesRow]
    absorption: List[AbsorptionRow]
    volumes: List[VolumesRow]
    step_time_ns: List[int]
    sources: List[SourcesRow]
    slow: Optional[str]
    caveats: Optional[List[CaveatsRow]]
