"""What recordings and timelines share: opening HDF5, texts of fixed length.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import contextlib
import pathlib
from typing import Any, Iterator

from .errors import FileError, MissingFile, needed
from .result import Path

DAMAGE = (AttributeError, IndexError, KeyError, OSError, OverflowError, RuntimeError, TypeError, ValueError)  # by what h5py tells of it


@contextlib.contextmanager
def open_file(path: Path, wanted: str) -> Iterator[Any]:
    """The file, opened to read, if its `format` is WANTED. What is missing or damaged in it is a FileError."""
    h5py = needed("h5py", "reading HDF5")
    if not pathlib.Path(path).is_file():
        raise MissingFile(f"there is no file '{path}'", str(path))
    try:
        file = _opened(h5py, path)
    except OSError as error:
        raise FileError(f"'{path}' cannot be read as HDF5: {error}") from error
    with file:
        try:
            _check_format(file, path, wanted)
            yield file
        except DAMAGE as error:
            raise FileError(f"'{path}' is damaged, or is not a complete '{wanted}': {error}") from error


def _opened(h5py: Any, path: Path) -> Any:
    """A file that is still being written, or whose writer was killed, opens as one that others write only."""
    try:
        return h5py.File(path, "r", locking=False)
    except OSError:
        return h5py.File(path, "r", locking=False, swmr=True)


def _check_format(file: Any, path: Path, wanted: str) -> None:
    found = text(file.attrs.get("format", ""))
    if found != wanted:
        raise FileError(f"'{path}' has format '{found}', not '{wanted}'")


def text(value: Any) -> str:
    """Texts end at their first zero byte."""
    if isinstance(value, bytes):
        return value.split(b"\0", 1)[0].decode("utf-8", errors="replace")
    return str(value)
