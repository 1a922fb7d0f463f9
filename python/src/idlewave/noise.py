"""The verb `noise`: what recordings say, and new ones made of them.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

from . import kinds, signatures
from .command import Option, Scalar, declared_as, run_command
from .result import Path
from .verbs import run_as


@declared_as(signatures.show)
def show(recording: Path, **options: Option) -> kinds.Noise:
    """What a recording consists of."""
    return run_as(kinds.Noise, ["noise", "show", recording], options)


@declared_as(signatures.compare)
def compare(before: Path, after: Path, **options: Option) -> kinds.NoiseCompare:
    """Whether AFTER is noisier than BEFORE."""
    return run_as(kinds.NoiseCompare, ["noise", "compare", before, after], options)


@declared_as(signatures.spectrum)
def spectrum(recording: Path, **options: Option) -> kinds.NoiseSpectrum:
    """What recurs in a recording."""
    return run_as(kinds.NoiseSpectrum, ["noise", "spectrum", recording], options)


@declared_as(signatures.fit)
def fit(recording: Path, **options: Option) -> kinds.Fit:
    """Which laws describe a recording."""
    return run_as(kinds.Fit, ["noise", "fit", recording], options)


@declared_as(signatures.synth)
def synth(*specs: Scalar, output: Path, **options: Option) -> kinds.NoiseEdit:
    """A recording of noise that specs describe."""
    return run_as(kinds.NoiseEdit, ["noise", "synth", *specs], {"output": output, **options})


@declared_as(signatures.cut)
def cut(recording: Path, output: Path, **options: Option) -> kinds.NoiseEdit:
    """A part of a recording."""
    return run_as(kinds.NoiseEdit, ["noise", "cut", recording], {"output": output, **options})


@declared_as(signatures.merge)
def merge(*recordings: Path, output: Path, **options: Option) -> kinds.NoiseEdit:
    """Several recordings as one."""
    return run_as(kinds.NoiseEdit, ["noise", "merge", *recordings], {"output": output, **options})


@declared_as(signatures.convert)
def convert(source: Path, target: Path, **options: Option) -> str:
    """A noise file of another tool as one of ours, or the other way round; what the command says of it."""
    return run_command(["noise", "convert", source, target], options).text
