"""What can go wrong, as exceptions.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import importlib
import shlex
from types import ModuleType
from typing import Sequence


class IdlewaveError(Exception):
    """All errors of this package."""


class IdlewaveWarning(UserWarning):
    """What the command warns of."""


class CommandNotFound(IdlewaveError):
    """The command `idlewave` is not there."""


class CommandError(IdlewaveError):
    """The command failed: its `message` and `hint`, its `exit_code`, and the `command` line."""

    def __init__(self, message: str, hint: str, exit_code: int, words: Sequence[str]) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.exit_code = exit_code
        self.command = shlex.join(words)

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message


class UsageError(CommandError):
    """An option or a value that the command does not take."""


class FileError(IdlewaveError):
    """A file that is not what it should be."""


class SchemaError(FileError):
    """A result of a version that this package does not read."""


class MissingPackage(IdlewaveError, ImportError):
    """A Python package that only some functions need."""


def needed(module: str, purpose: str) -> ModuleType:
    """The module, imported; an error that says what it is needed for if it is not installed."""
    package = module.split(".", maxsplit=1)[0]
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingPackage(f"{purpose} needs the Python package '{package}', which cannot be imported ({error}); "
                             f"install it: 'pip install {package}', on Debian 'apt-get install python3-{package}'") from error
