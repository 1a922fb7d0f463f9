"""Results of the kind `profile`: idlewave.profile/1.

SPDX-License-Identifier: BSD-3-Clause
Made by tools/make_python.py: change the C sources, then make it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, List, Optional

from ..result import Result


@dataclass(frozen=True)
class SettingsRow:
    name: str
    setting: str


@dataclass(frozen=True)
class JobsRow:
    name: str
    ranks: int
    most_slowdown: Optional[float]


@dataclass(frozen=True, repr=False)
class Profile(Result):
    """A result of the kind `profile`."""

    SCHEMA: ClassVar[str] = "idlewave.profile/1"

    host: str
    kernel: str
    most_lost: Optional[float]
    settings: List[SettingsRow]
    jobs: List[JobsRow]
