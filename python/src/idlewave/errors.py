"""What can go wrong, as exceptions.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import errno
import importlib
import os
import re
import shlex
from types import ModuleType
from typing import Sequence

USAGE_EXIT = 64


class IdlewaveError(Exception):
    """All errors of this package."""


class IdlewaveWarning(UserWarning):
    """A warning of the command."""


class CommandNotFound(IdlewaveError):
    """The command `idlewave` is missing."""


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
    """An option or value that the command does not accept."""


class FileError(IdlewaveError):
    """A file with wrong contents."""


class MissingFile(FileError, FileNotFoundError):
    """A missing file or folder; a CommandError, too, where the command reports it."""

    def __init__(self, message: str, filename: str = "") -> None:
        super().__init__(message)
        self.errno, self.strerror = errno.ENOENT, os.strerror(errno.ENOENT)
        self.filename = filename

    def __str__(self) -> str:
        return str(self.args[0])


class MissingInput(CommandError, MissingFile):
    """A file that the command cannot find."""


class MissingName(UsageError, MissingInput):
    """A value that is neither a file nor a known name or spec."""


class SchemaError(FileError):
    """A result of a version that this package cannot read."""


class MissingPackage(IdlewaveError, ImportError):
    """A missing Python package that only some functions need."""


def command_error(message: str, hint: str, exit_code: int, words: Sequence[str]) -> CommandError:
    """By exit code; and by the system's message, which the command repeats in English, whether a file is not there."""
    is_usage = exit_code == USAGE_EXIT
    missing = re.search(r"'([^']*)' is neither a file\b" if is_usage else r"'([^']*)'[^']*: No such file or directory", message)
    if missing is None:
        return (UsageError if is_usage else CommandError)(message, hint, exit_code, words)
    error = (MissingName if is_usage else MissingInput)(message, hint, exit_code, words)
    error.filename = missing[1]
    return error


def needed(module: str, purpose: str) -> ModuleType:
    """The module, imported; an error that says what it is needed for if it is not installed."""
    package = module.split(".", maxsplit=1)[0]
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingPackage(f"{purpose} needs the Python package '{package}', which cannot be imported ({error}); "
                             f"install it: 'pip install {package}', on Debian 'apt-get install python3-{package}'") from error
