"""The verb `noise`: show recordings, and make new ones from them.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

from . import kinds, signatures
from .command import Option, Scalar, declared_as, run_command
from .result import Path
from .verbs import run_as


@declared_as(signatures.show)
def show(recording: Path, **options: Option) -> kinds.Noise:
    """Show what a recording consists of."""
    return run_as(kinds.Noise, ["noise", "show", recording], options)


@declared_as(signatures.compare)
def compare(before: Path, after: Path, **options: Option) -> kinds.NoiseCompare:
    """Compare whether AFTER is noisier than BEFORE."""
    return run_as(kinds.NoiseCompare, ["noise", "compare", before, after], options)


@declared_as(signatures.spectrum)
def spectrum(recording: Path, **options: Option) -> kinds.NoiseSpectrum:
    """Find what recurs in a recording."""
    return run_as(kinds.NoiseSpectrum, ["noise", "spectrum", recording], options)


@declared_as(signatures.fit)
def fit(recording: Path, **options: Option) -> kinds.Fit:
    """Find the laws that describe a recording."""
    return run_as(kinds.Fit, ["noise", "fit", recording], options)


@declared_as(signatures.synth)
def synth(*specs: Scalar, output: Path, **options: Option) -> kinds.NoiseEdit:
    """Make a recording of the noise that specs describe."""
    return run_as(kinds.NoiseEdit, ["noise", "synth", *specs], {"output": output, **options})


@declared_as(signatures.cut)
def cut(recording: Path, output: Path, **options: Option) -> kinds.NoiseEdit:
    """Cut a part out of a recording."""
    return run_as(kinds.NoiseEdit, ["noise", "cut", recording], {"output": output, **options})


@declared_as(signatures.merge)
def merge(*recordings: Path, output: Path, **options: Option) -> kinds.NoiseEdit:
    """Merge several recordings into one."""
    return run_as(kinds.NoiseEdit, ["noise", "merge", *recordings], {"output": output, **options})


@declared_as(signatures.convert)
def convert(source: Path, target: Path, **options: Option) -> str:
    """Convert a noise file of another tool to idlewave's format, or back; return the command's output."""
    return run_command(["noise", "convert", source, target], options).text
