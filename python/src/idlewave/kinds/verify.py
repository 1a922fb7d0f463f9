"""Results of the kind `verify`: idlewave.verify/2.

SPDX-License-Identifier: BSD-3-Clause
Made by tools/make_python.py: change the C sources, then make it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Dict, List, Literal, Optional

from ..result import Estimate, Result


@dataclass(frozen=True)
class MitigationsRow:
    name: str
    removes: str
    state: Literal["contradicted", "in effect", "configured", "cannot tell", "not configured"]
    setting: str
    evidence: str
    advice: str
    is_felt: bool
    is_to_do: bool
    seen_hz: Optional[float]
    share: Optional[float]
    sources: List[str]
    has_worth: bool
    worth: Optional[Estimate]


@dataclass(frozen=True, repr=False)
class Verify(Result):
    """A result of the kind `verify`."""

    SCHEMA: ClassVar[str] = "idlewave.verify/2"

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
