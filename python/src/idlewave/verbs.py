"""The verbs, each a function: options are keyword arguments, the return value is the result.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import json
import pathlib
import tempfile
from typing import Dict, Literal, Optional, Sequence, Type, TypeVar, overload

from . import kinds, signatures
from .command import Launcher, Option, Progress, Scalar, declared_as, run_command
from .errors import SchemaError
from .result import Path, Result, result_from_json
from .study import Study

R = TypeVar("R", bound=Result)


def run(*words: Scalar, after: Launcher = (), **options: Option) -> Result:
    """Any verb that has `--format json`: `run("noise", "show", "node.h5", long="50us")`. AFTER stands behind `--`."""
    return _result(words, options, after)


def _result(words: Sequence[Scalar], options: Dict[str, Option], after: Launcher, progress: Optional[Progress] = None) -> Result:
    output = run_command(words, {**options, "format": "json"}, after, progress)
    try:
        data = json.loads(output.text)
    except ValueError as error:
        raise SchemaError(f"'idlewave {' '.join(map(str, words))}' printed no JSON: {error}") from error
    return result_from_json(data, output.exit_code)


def run_as(kind: Type[R], words: Sequence[Scalar], options: Dict[str, Option], after: Launcher = (),
           progress: Optional[Progress] = None) -> R:
    result = _result(words, options, after, progress)
    if not isinstance(result, kind):
        raise SchemaError(f"a result of the kind {kind.__name__} was expected, not {type(result).__name__}")
    return result


def call(*words: Scalar, after: Launcher = (), **options: Option) -> str:
    """What a verb prints: `call("schedule", pattern="barrier", ranks=4)`."""
    return run_command(words, options, after).text


def load(path: Path) -> Result:
    """A result from a file that `--format json` or `save()` wrote."""
    try:
        data = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise SchemaError(f"'{path}' is no JSON: {error}") from error
    return result_from_json(data)


def shown(result: Result, medium: str) -> str:
    """The result in another medium, by `idlewave report`."""
    with tempfile.TemporaryDirectory(prefix="idlewave_") as folder:
        path = pathlib.Path(folder, "result.json")
        result.save(path)
        output = pathlib.Path(folder, "shown")
        run_command(["report", path], {"format": medium, "output": output})
        return output.read_text(encoding="utf-8")


@declared_as(signatures.simulate)
def simulate(program: Optional[Scalar] = None, *, progress: Optional[Progress] = None, **options: Option) -> kinds.Simulate:
    """Simulates a pattern (`pattern=`), a GOAL file or a trace (PROGRAM). PROGRESS is called with the share done and the seconds left."""
    return run_as(kinds.Simulate, ["simulate", *_given(program)], {"quiet": progress is None, **options}, progress=progress)


@declared_as(signatures.forecast)
def forecast(program: Optional[Scalar] = None, **options: Option) -> kinds.Forecast:
    """What `simulate` with these options would take."""
    return run_as(kinds.Forecast, ["simulate", *_given(program)], {"quiet": True, "dry_run": True, **options})


@declared_as(signatures.study)
def study(path: Path, output: Path, *, progress: Optional[Progress] = None, **options: Option) -> Study:
    """Runs the study of the YAML file at PATH into the folder OUTPUT, or goes on with it, and returns the folder."""
    done = run_as(kinds.StudyRun, ["study", path], {"quiet": progress is None, "output": output, **options}, progress=progress)
    folder = Study(output)
    folder.run = done
    return folder


@declared_as(signatures.study_estimate)
def study_estimate(path: Path, **options: Option) -> kinds.StudyEstimate:
    """What `study` would take."""
    return run_as(kinds.StudyEstimate, ["study", path], {"quiet": True, "dry_run": True, **options})


@declared_as(signatures.whatif)
def whatif(program: Optional[Scalar] = None, *, progress: Optional[Progress] = None, **options: Option) -> kinds.Whatif:
    """Ranks sources of noise by what their removal saves."""
    return run_as(kinds.Whatif, ["whatif", *_given(program)], {"quiet": progress is None, **options}, progress=progress)


@declared_as(signatures.whatif_plan)
def whatif_plan(program: Optional[Scalar] = None, **options: Option) -> kinds.WhatifPlan:
    """What `whatif` would do and take."""
    return run_as(kinds.WhatifPlan, ["whatif", *_given(program)], {"quiet": True, "dry_run": True, **options})


@declared_as(signatures.model)
def model(noise: Scalar, **options: Option) -> kinds.Model:
    """How noise slows phases, by formula; NOISE is a spec or a noise file."""
    return run_as(kinds.Model, ["model"], {"noise": noise, **options})


@declared_as(signatures.record)
def record(output: Path, **options: Option) -> kinds.Record:
    """Measures the noise of this node into the file OUTPUT."""
    return run_as(kinds.Record, ["record"], {"output": output, **options})


@declared_as(signatures.watch)
def watch(**options: Option) -> kinds.Watch:
    """What a running job loses to noise: `watch(pid=1234, output="job.h5", duration="60s")`."""
    return run_as(kinds.Watch, ["watch"], options)


@declared_as(signatures.verify)
def verify(recording: Optional[Path] = None, **options: Option) -> kinds.Verify:
    """Checks whether settings of this node against noise are in effect."""
    return run_as(kinds.Verify, ["verify", *_given(recording)], options)


@declared_as(signatures.check)
def check(recording: Optional[Path] = None, **options: Option) -> kinds.Check:
    """Whether a node is fit for jobs: `outcome` is "good", "noisy", "contradicted", "busy" or "unknown"."""
    return run_as(kinds.Check, ["check", *_given(recording)], options)


@declared_as(signatures.fleet)
def fleet(nodes: Path, **options: Option) -> kinds.Fleet:
    """Which nodes of a folder of recordings or digests, or of a file of digests, stand out."""
    return run_as(kinds.Fleet, ["fleet", nodes], options)


@declared_as(signatures.fleet_coincidence)
def fleet_coincidence(folder: Path, **options: Option) -> kinds.Coincidence:
    """Which sources hit the nodes of a folder of recordings together."""
    return run_as(kinds.Coincidence, ["fleet", "coincidence", folder], options)


@declared_as(signatures.fleet_history)
def fleet_history(nodes: Path, **options: Option) -> kinds.History:
    """What changed on a fleet over weeks: a folder of recordings or digests of several times, or a file of digests."""
    return run_as(kinds.History, ["fleet", "history", nodes], options)


@declared_as(signatures.fleet_digest)
def fleet_digest(*recordings: Path, output: Path, **options: Option) -> str:
    """Sums up recordings for fleets."""
    return run_command(["fleet", "digest", *recordings, "-o", output], options).text


@declared_as(signatures.fleet_show)
def fleet_show(digest_file: Path, **options: Option) -> kinds.Digest:
    """What the digest of a node says."""
    return run_as(kinds.Digest, ["fleet", "show", digest_file], options)


@declared_as(signatures.wave)
def wave(timeline: Path, **options: Option) -> kinds.Wave:
    """Finds idle waves in a timeline."""
    return run_as(kinds.Wave, ["wave", timeline], options)


@overload
def _explain(*run: Path, only: None = None, **options: Option) -> kinds.Explanation: ...
@overload
def _explain(*run: Path, only: Literal["waits"], **options: Option) -> kinds.Waits: ...
@overload
def _explain(*run: Path, only: Literal["system"], **options: Option) -> kinds.Explain: ...
@overload
def _explain(*run: Path, only: Literal["stragglers"], **options: Option) -> kinds.Stragglers: ...


def _explain(*run: Path, only: Optional[str] = None, **options: Option) -> Result:
    """Why a run was slow: its folder, a file, or the files of all ranks. ONLY is "waits", "system" or "stragglers"."""
    kind: Type[Result] = {"waits": kinds.Waits, "system": kinds.Explain, "stragglers": kinds.Stragglers}.get(only or "", kinds.Explanation)
    return run_as(kind, ["explain", *run], {"only": only, **options})


explain = declared_as(signatures.explain)(_explain)


@declared_as(signatures.net)
def net(launcher: Launcher, **options: Option) -> kinds.Net:
    """Measures the network: `net(["mpirun", "-n", "2"], output="net.yaml")`."""
    return run_as(kinds.Net, ["net"], options, launcher)


@declared_as(signatures.machine)
def machine(network: Scalar, **options: Option) -> kinds.Machine:
    """A network as the machine that it is; NETWORK is a file or the name of one that is built in."""
    return run_as(kinds.Machine, ["net", "show", network], options)


@declared_as(signatures.bench)
def bench(operation: str, launcher: Launcher, **options: Option) -> kinds.Bench:
    """Times work and an MPI operation: `bench("allreduce", ["mpirun", "-n", "4"])`."""
    return run_as(kinds.Bench, ["bench", operation], options, launcher)


@declared_as(signatures.bench_memory)
def bench_memory(**options: Option) -> kinds.Memory:
    """What one core and all cores of a NUMA node move."""
    return run_as(kinds.Memory, ["bench", "memory"], options)


@declared_as(signatures.training)
def training(program: Optional[Path] = None, **options: Option) -> kinds.Training:
    """A step of training on GPUs, and what jitter costs: a file, or `training(model="llama3-8b", rate="400TFLOP/s", pp=4)`."""
    return run_as(kinds.Training, ["training"] + ([] if program is None else [program]), options)


@declared_as(signatures.self_check)
def self_check(noise: Scalar, **options: Option) -> kinds.Fidelity:
    """How well `replay` makes this noise here."""
    return run_as(kinds.Fidelity, ["replay"], {"noise": noise, "self_check": True, **options})


@declared_as(signatures.trace_facts)
def trace_facts(trace: Path, **options: Option) -> kinds.Trace:
    """Where the time of a traced program went."""
    return run_as(kinds.Trace, ["report", trace], options)


def _given(word: Optional[Scalar]) -> Sequence[Scalar]:
    return () if word is None else (word,)
