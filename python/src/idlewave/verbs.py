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
    """Run any verb that has `--format json`: `run("noise", "show", "node.h5", long="50us")`. AFTER follows `--`."""
    return _result(words, options, after)


def _result(words: Sequence[Scalar], options: Dict[str, Option], after: Launcher, progress: Optional[Progress] = None) -> Result:
    output = run_command(words, {**options, "format": "json"}, after, progress)
    try:
        data = json.loads(output.text)
    except ValueError as error:
        raise SchemaError(f"'idlewave {' '.join(map(str, words))}' printed invalid JSON: {error}") from error
    return result_from_json(data, output.exit_code)


def run_as(kind: Type[R], words: Sequence[Scalar], options: Dict[str, Option], after: Launcher = (),
           progress: Optional[Progress] = None) -> R:
    result = _result(words, options, after, progress)
    if not isinstance(result, kind):
        raise SchemaError(f"expected a result of kind {kind.__name__}, not {type(result).__name__}")
    return result


def call(*words: Scalar, after: Launcher = (), **options: Option) -> str:
    """Return what a verb prints: `call("schedule", pattern="barrier", ranks=4)`."""
    return run_command(words, options, after).text


def load(path: Path) -> Result:
    """Load a result from a file that `--format json` or `save()` wrote."""
    try:
        data = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise SchemaError(f"'{path}' is not JSON: {error}") from error
    return result_from_json(data)


def shown(result: Result, medium: str) -> str:
    """Write the result in another format, by `idlewave report`."""
    with tempfile.TemporaryDirectory(prefix="idlewave_") as folder:
        path = pathlib.Path(folder, "result.json")
        result.save(path)
        output = pathlib.Path(folder, "shown")
        run_command(["report", path], {"format": medium, "output": output})
        return output.read_text(encoding="utf-8")


@declared_as(signatures.simulate)
def simulate(program: Optional[Scalar] = None, *, progress: Optional[Progress] = None, **options: Option) -> kinds.Simulate:
    """Simulate a pattern (`pattern=`), a GOAL file or a trace (PROGRAM). PROGRESS is called with the finished share and the remaining seconds."""
    return run_as(kinds.Simulate, ["simulate", *_given(program)], {"quiet": progress is None, **options}, progress=progress)


@declared_as(signatures.forecast)
def forecast(program: Optional[Scalar] = None, **options: Option) -> kinds.Forecast:
    """Return what `simulate` would need with these options."""
    return run_as(kinds.Forecast, ["simulate", *_given(program)], {"quiet": True, "dry_run": True, **options})


@declared_as(signatures.study)
def study(path: Path, output: Path, *, progress: Optional[Progress] = None, **options: Option) -> Study:
    """Run or resume the study of the YAML file at PATH in the folder OUTPUT, and return the folder."""
    done = run_as(kinds.StudyRun, ["study", path], {"quiet": progress is None, "output": output, **options}, progress=progress)
    folder = Study(output)
    folder.run = done
    return folder


@declared_as(signatures.study_estimate)
def study_estimate(path: Path, **options: Option) -> kinds.StudyEstimate:
    """Return what `study` would need."""
    return run_as(kinds.StudyEstimate, ["study", path], {"quiet": True, "dry_run": True, **options})


@declared_as(signatures.whatif)
def whatif(program: Optional[Scalar] = None, *, progress: Optional[Progress] = None, **options: Option) -> kinds.Whatif:
    """Rank noise sources by what their removal saves."""
    return run_as(kinds.Whatif, ["whatif", *_given(program)], {"quiet": progress is None, **options}, progress=progress)


@declared_as(signatures.whatif_plan)
def whatif_plan(program: Optional[Scalar] = None, **options: Option) -> kinds.WhatifPlan:
    """Return what `whatif` would do and need."""
    return run_as(kinds.WhatifPlan, ["whatif", *_given(program)], {"quiet": True, "dry_run": True, **options})


@declared_as(signatures.model)
def model(noise: Scalar, **options: Option) -> kinds.Model:
    """Compute how noise slows down phases; NOISE is a spec or a noise file."""
    return run_as(kinds.Model, ["model"], {"noise": noise, **options})


@declared_as(signatures.record)
def record(output: Path, **options: Option) -> kinds.Record:
    """Measure the noise of this node into the file OUTPUT."""
    return run_as(kinds.Record, ["record"], {"output": output, **options})


@declared_as(signatures.watch)
def watch(**options: Option) -> kinds.Watch:
    """Measure what a running job loses to noise: `watch(pid=1234, output="job.h5", duration="60s")`."""
    return run_as(kinds.Watch, ["watch"], options)


@declared_as(signatures.verify)
def verify(recording: Optional[Path] = None, **options: Option) -> kinds.Verify:
    """Check whether settings of this node against noise are in effect."""
    return run_as(kinds.Verify, ["verify", *_given(recording)], options)


@declared_as(signatures.check)
def check(recording: Optional[Path] = None, **options: Option) -> kinds.Check:
    """Check whether a node is fit for jobs: `outcome` is "good", "noisy", "contradicted", "busy" or "unknown"."""
    return run_as(kinds.Check, ["check", *_given(recording)], options)


@declared_as(signatures.fleet)
def fleet(nodes: Path, **options: Option) -> kinds.Fleet:
    """Find outliers among the nodes of a folder of recordings or digests, or of a file of digests."""
    return run_as(kinds.Fleet, ["fleet", nodes], options)


@declared_as(signatures.fleet_coincidence)
def fleet_coincidence(folder: Path, **options: Option) -> kinds.Coincidence:
    """Find sources that hit the nodes of a folder of recordings together."""
    return run_as(kinds.Coincidence, ["fleet", "coincidence", folder], options)


@declared_as(signatures.fleet_history)
def fleet_history(nodes: Path, **options: Option) -> kinds.History:
    """Find what changed on a fleet over weeks: a folder of recordings or digests of several times, or a file of digests."""
    return run_as(kinds.History, ["fleet", "history", nodes], options)


@declared_as(signatures.fleet_digest)
def fleet_digest(*recordings: Path, output: Path, **options: Option) -> str:
    """Summarise recordings for fleets."""
    return run_command(["fleet", "digest", *recordings, "-o", output], options).text


@declared_as(signatures.fleet_show)
def fleet_show(digest_file: Path, **options: Option) -> kinds.Digest:
    """Show the digest of a node."""
    return run_as(kinds.Digest, ["fleet", "show", digest_file], options)


@declared_as(signatures.wave)
def wave(timeline: Path, **options: Option) -> kinds.Wave:
    """Find idle waves in a timeline."""
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
    """Explain why a run was slow, from its folder, a file, or the files of all ranks. ONLY is "waits", "system" or "stragglers"."""
    kind: Type[Result] = {"waits": kinds.Waits, "system": kinds.Explain, "stragglers": kinds.Stragglers}.get(only or "", kinds.Explanation)
    return run_as(kind, ["explain", *run], {"only": only, **options})


explain = declared_as(signatures.explain)(_explain)


@declared_as(signatures.net)
def net(launcher: Launcher, **options: Option) -> kinds.Net:
    """Measure the network: `net(["mpirun", "-n", "2"], output="net.yaml")`."""
    return run_as(kinds.Net, ["net"], options, launcher)


@declared_as(signatures.machine)
def machine(network: Scalar, **options: Option) -> kinds.Machine:
    """Describe a network as a machine; NETWORK is a file or the name of a built-in network."""
    return run_as(kinds.Machine, ["net", "show", network], options)


@declared_as(signatures.bench)
def bench(operation: str, launcher: Launcher, **options: Option) -> kinds.Bench:
    """Time work and an MPI operation: `bench("allreduce", ["mpirun", "-n", "4"])`."""
    return run_as(kinds.Bench, ["bench", operation], options, launcher)


@declared_as(signatures.bench_memory)
def bench_memory(**options: Option) -> kinds.Memory:
    """Measure the memory bandwidth of one core and of all cores of a NUMA node."""
    return run_as(kinds.Memory, ["bench", "memory"], options)


@declared_as(signatures.training)
def training(program: Optional[Path] = None, **options: Option) -> kinds.Training:
    """Predict a training step on GPUs and the cost of jitter, from a file, or `training(model="llama3-8b", rate="400TFLOP/s", pp=4)`."""
    return run_as(kinds.Training, ["training"] + ([] if program is None else [program]), options)


@declared_as(signatures.self_check)
def self_check(noise: Scalar, **options: Option) -> kinds.Fidelity:
    """Check how well `replay` injects this noise here."""
    return run_as(kinds.Fidelity, ["replay"], {"noise": noise, "self_check": True, **options})


@declared_as(signatures.trace_facts)
def trace_facts(trace: Path, **options: Option) -> kinds.Trace:
    """Explain where the time of a traced program went."""
    return run_as(kinds.Trace, ["report", trace], options)


def _given(word: Optional[Scalar]) -> Sequence[Scalar]:
    return () if word is None else (word,)
