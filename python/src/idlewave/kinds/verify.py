"""Results of the kind `verify`: idlewave.verify/3.

SPDX-License-Identifier: BSD-3-Clause
Made by tools/make_python.py: change the C sources, then make it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Dict, List, Optional

from ..result import Estimate, Result
from .shared import CaveatsRow, MitigationsRow


@dataclass(frozen=True, repr=False)
class Verify(Result):
    """A result of the kind `verify`."""

    SCHEMA: ClassVar[str] = "idlewave.verify/3"

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
