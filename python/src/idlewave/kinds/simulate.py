"""Results of the kind `simulate`: idlewave.simulate/4.

SPDX-License-Identifier: BSD-3-Clause
Made by tools/make_python.py: change the C sources, then make it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Dict, List, Literal, Optional

from ..result import Estimate, Result
from .shared import CaveatsRow, Memory, Sensitivity


@dataclass(frozen=True)
class Sample:
    count: int
    min: Optional[float]
    q1: Optional[float]
    median: Optional[float]
    q3: Optional[float]
    max: Optional[float]
    mean: Optional[float]
    median_low: Optional[float]
    median_high: Optional[float]
    mean_low: Optional[float]
    mean_high: Optional[float]


@dataclass(frozen=True)
class Distribution:
    is_of_ranks: bool
    quantiles_ns: Dict[str, Optional[float]]


@dataclass(frozen=True)
class TrialTimesRow:
    trial: int
    makespan_ns: float
    slowdown: Optional[float]


@dataclass(frozen=True)
class NoiseRow:
    spec: str
    share: Optional[float]


@dataclass(frozen=True)
class Independence:
    independent: Estimate
    overstated: Estimate
    nodes: int
    recorded_nodes: int
    from_wall_ns: int
    length_ns: int
    error_ns: Optional[float]
    unsynchronised: int


@dataclass(frozen=True)
class Steady:
    repetitions: int
    slowdown: Estimate
    start_ns: Estimate


@dataclass(frozen=True)
class InnerRow:
    name: str
    ranks: int
    L_ns: float
    o_send_ns: float
    o_recv_ns: float
    g_ns: float
    G_ns_per_byte: float
    O_ns_per_byte: float
    is_device_progress: Optional[bool]
    taper: Optional[float]


@dataclass(frozen=True)
class Nics:
    count: int
    G_ns_per_byte: float
    node_level: int
    active: int
    rails: bool
    sharing: Literal["max-rate", "queues"]


@dataclass(frozen=True)
class PointsRow:
    share: Optional[float]
    delay_ns: float


@dataclass(frozen=True)
class Series:
    count: int
    every_ns: float
    mean_ns: float
    longest_ns: float


@dataclass(frozen=True)
class Noise:
    points: List[PointsRow]
    series: Optional[Series]


@dataclass(frozen=True)
class Net:
    name: str
    L_ns: float
    o_send_ns: float
    o_recv_ns: float
    g_ns: float
    G_ns_per_byte: float
    O_ns_per_byte: float
    is_device_progress: Optional[bool]
    S_bytes: int
    inner: Optional[List[InnerRow]]
    placement: Optional[Literal["block", "round-robin", "list"]]
    nics: Optional[Nics]
    memory: Optional[Memory]
    noise: Optional[Noise]


@dataclass(frozen=True)
class NetSegmentsRow:
    from_bytes: int
    L_ns: float
    o_send_ns: float
    o_recv_ns: float
    g_ns: float
    G_ns_per_byte: float
    O_ns_per_byte: float


@dataclass(frozen=True)
class Recording:
    seconds: Optional[float]
    cpus: int
    watched_seconds: Optional[float]
    longest_ns: int
    unseen: Optional[float]
    is_bound: bool
    record_seconds: Optional[float]
    is_extrapolated: bool
    laws: List[str]
    sensitivity: Optional[Sensitivity]
    slowdown: Estimate


@dataclass(frozen=True)
class Traced:
    ranks: int
    replicas: int
    run_ns: float
    mpi_share: Optional[float]
    cpu_share: Optional[float]
    is_by_cpu: bool
    replica_compute: Literal["resample", "copy"]
    has_p2p: bool
    is_training: bool


@dataclass(frozen=True)
class PartsRow:
    part: str
    level: Optional[str]
    is_noise: bool
    last_ns: Optional[float]
    mean_ns: Optional[float]
    average_ns: Estimate


@dataclass(frozen=True)
class WorstRow:
    source: str
    rank: int
    at_ns: float
    lost_ns: float


@dataclass(frozen=True)
class Place:
    number: int
    source: Optional[str]
    trials: int
    of: int
    stands_out: bool


@dataclass(frozen=True)
class Average:
    trials: int
    makespan_ns: Estimate
    hops: Optional[float]
    worst_share: Optional[float]
    sources: List[Place]
    ranks: List[Place]
    seats: List[Place]
    tenths: List[Place]


@dataclass(frozen=True)
class Explain:
    trial: int
    last_rank: int
    makespan_ns: float
    hops: int
    mean_hops: Optional[float]
    parts: List[PartsRow]
    worst: List[WorstRow]
    average: Optional[Average]


@dataclass(frozen=True, repr=False)
class Simulate(Result):
    """A result of the kind `simulate`."""

    SCHEMA: ClassVar[str] = "idlewave.simulate/4"

    what: str
    command: str
    ranks: int
    trials: int
    first_trial: int
    seed: int
    engine: Literal["auto", "event", "flow", "window"]
    engine_note: str
    rules: Literal["idlewave", "loggopsim"]
    rendezvous: Literal["ideal", "rts-cts"]
    lanes: int
    threads: int
    processes: int
    parallel: Literal["auto", "trials", "ranks"]
    resumed: bool
    messages: int
    noiseless_ns: float
    slowest_node: Optional[float]
    engine_seconds: Optional[float]
    messages_per_second: Optional[float]
    peak_rss_bytes: int
    makespan_ns: Sample
    slowdown: Sample
    median_level: Optional[float]
    distribution: Distribution
    trial_times: Optional[List[TrialTimesRow]]
    noise: List[NoiseRow]
    sync: Literal["none", "start", "phase"]
    align: Optional[Literal["none", "wall"]]
    independence: Optional[Independence]
    steady: Optional[Steady]
    node_wide: Optional[Estimate]
    ranks_per_node: int
    cores_per_rank: Optional[int]
    loop: Optional[Literal["static", "dynamic"]]
    recorded_cpus: int
    noise_cpus: Optional[str]
    spare_cores: Optional[int]
    node_speed: Optional[str]
    compute_bytes: Optional[int]
    delays: int
    net: Optional[Net]
    net_segments: List[NetSegmentsRow]
    recording: Optional[Recording]
    traced: Optional[Traced]
    explain: Optional[Explain]
    caveats: Optional[List[CaveatsRow]]
