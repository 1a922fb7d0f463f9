"""Runs the command `idlewave`: options as keyword arguments, errors as exceptions, progress to a function.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import inspect
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import warnings
from typing import Any, Callable, Dict, List, Literal, NamedTuple, Optional, Sequence, TypeVar, Union

from .errors import CommandNotFound, IdlewaveWarning, command_error

Scalar = Union[str, int, float, "os.PathLike[str]"]
Option = Union[None, bool, Scalar, Sequence[Scalar]]
Launcher = Sequence[Scalar]
Progress = Callable[[float, Optional[float]], object]  # gets the share that is done, and the seconds left, None before they are known

# what options take, as signatures.py names it
Time = Union[str, Literal[0]]
Count = Union[int, str]
Factor = Union[float, str]
Scalars = Union[Scalar, Sequence[Scalar]]

ANSWERED = (0, 2, 3, 4, 5)  # exit codes: done, a negative verdict, none; of `check` also noisy and busy
INTERRUPT_S = 10.0  # that an interrupted command has to put everything back

F = TypeVar("F", bound=Callable[..., Any])

_chosen: Dict[str, str] = {}


class Output(NamedTuple):
    """Output and exit code of the command: 2 is a negative verdict, 3 no verdict."""

    text: str
    exit_code: int


def use_command(path: Optional[Scalar]) -> None:
    """Run the command at PATH in all further calls; None: the one of `IDLEWAVE_COMMAND` or `PATH` again."""
    _chosen.clear()
    if path is not None:
        _chosen["path"] = str(path)


def command_path() -> str:
    """Return the path of the command that calls run."""
    wanted = _chosen.get("path") or os.environ.get("IDLEWAVE_COMMAND") or "idlewave"
    found = shutil.which(wanted)
    if found is None:
        raise CommandNotFound(f"there is no command '{wanted}'; install idlewave, or name the command with "
                              "idlewave.use_command('/path/to/idlewave'), or the environment variable IDLEWAVE_COMMAND")
    return found


def option_words(options: Dict[str, Option]) -> List[str]:
    """`ranks_per_node=8` is `--ranks-per-node 8`, `explain=True` is `--explain`, a list repeats the option, None and False leave it out.
    Append an underscore to Python keywords: `from_`."""
    words: List[str] = []
    for name, value in options.items():
        flag = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(flag)
        elif isinstance(value, (str, int, float, os.PathLike)):
            words += [flag, str(value)]
        else:
            for item in value:
                words += [flag, str(item)]
    return words


def declared_as(declared: F) -> Callable[[Callable[..., Any]], F]:
    """For checkers, help and completion the function has all options by name, as `signatures` says. It takes any: the command judges."""

    def same(function: Any) -> F:
        function.__name__ = function.__qualname__ = declared.__name__
        function.__doc__ = declared.__doc__
        function.__signature__ = inspect.signature(declared)
        named: F = function
        return named

    return same


def run_command(words: Sequence[Scalar], options: Dict[str, Option], after: Launcher = (), progress: Optional[Progress] = None) -> Output:
    """Run `idlewave WORDS OPTIONS -- AFTER`. Raise CommandError if it fails without a result; repeat its warnings as Python warnings."""
    line = [command_path(), *(str(word) for word in words), *option_words(options)]
    if after:
        line += ["--", *(str(word) for word in after)]
    out, said, code = _finish(line) if progress is None else _finish_shown(line, progress)
    _repeat_warnings(said)
    if code not in ANSWERED or (code != 0 and not out.strip()):
        _raise(said, code, line)
    return Output(out, code)


def _finish(line: Sequence[str]) -> "tuple[str, str, int]":
    with subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
                          errors="replace") as process:
        try:
            out, said = process.communicate()
        except BaseException:
            _interrupt(process)
            raise
        return out, said, process.returncode


def _interrupt(process: "subprocess.Popen[str]") -> None:
    """A notebook interrupts its kernel, not what that has started."""
    process.send_signal(signal.SIGINT)
    try:
        process.communicate(timeout=INTERRUPT_S)
    except subprocess.TimeoutExpired:
        process.kill()


def _finish_shown(line: Sequence[str], progress: Progress) -> "tuple[str, str, int]":
    """With a terminal as stderr, where the command draws its bar ten times a second."""
    try:
        ours, theirs = os.openpty()
    except OSError:  # there are none: the result counts
        return _finish(line)
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as out:
        with subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=out, stderr=theirs, env=dict(os.environ, TERM="xterm"),
                              encoding="utf-8") as process:
            os.close(theirs)
            try:
                said = _follow(ours, progress)
                process.wait()
            except BaseException:
                _interrupt(process)
                raise
            finally:
                os.close(ours)
        out.seek(0)
        return out.read(), said, process.returncode


def _follow(terminal: int, progress: Progress) -> str:
    """Tells what bars say, such as `[##  ]  40 %  1.2 M messages/s  1:05 left`, and returns all else."""
    said, rest = b"", b""
    while True:
        try:
            rest += os.read(terminal, 4096)
        except OSError:  # the command has closed it
            return (said + rest).decode("utf-8", errors="replace")
        *pieces, rest = re.split(rb"\r\n|\r(?!$)|\x1b\[K", rest)
        for piece in pieces:
            bar = re.match(rb"\[[# ]*\] +(\d+) %.*?(?:(\d+):(\d\d)|\?:\?\?) left$", piece)
            if bar:
                progress(int(bar[1]) / 100, 60.0 * int(bar[2]) + int(bar[3]) if bar[2] else None)
            elif piece:
                said += piece + b"\n"


def _repeat_warnings(said: str) -> None:
    for text in re.findall(r"^idlewave: (?:.*?: )?warning: (.*)$", said, re.MULTILINE):
        warnings.warn(text, IdlewaveWarning, stacklevel=_callers_level())


def _callers_level() -> int:
    """How far up the stack whoever called this package is, seen from the function that calls this one."""
    level, frame, folder = 0, sys._getframe(1), os.path.dirname(__file__)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(folder):
        level, frame = level + 1, frame.f_back
    return level + 1


def _raise(said: str, code: int, line: Sequence[str]) -> None:
    messages = [text for text in re.findall(r"^idlewave: (.*)$", said, re.MULTILINE)
                if not re.match(r"(?:.*?: )?(?:warning|note): ", text)]
    hints = re.findall(r"^hint: (.*)$", said, re.MULTILINE)
    if code < 0:
        messages.append(f"the command was ended by {signal.Signals(-code).name}")
    message = "\n".join(messages) or said.strip() or f"the command ended with exit code {code} and no message"
    raise command_error(message, "\n".join(hints), code, line)
