"""idlewave from Python: run its verbs, read its files as DataFrames, draw its figures.

SPDX-License-Identifier: BSD-3-Clause
"""

from . import kinds, noise
from .command import command_path, use_command
from .errors import (CommandError, CommandNotFound, FileError, IdlewaveError, IdlewaveWarning, MissingFile, MissingPackage,
                     SchemaError, UsageError)
from .recording import Recording
from .result import Estimate, Result
from .study import Study
from .timeline import Timeline
from .verbs import (bench, bench_memory, call, check, explain, fleet, fleet_coincidence, fleet_digest, fleet_history,
                    fleet_show, forecast, load, machine, model, net, record, run, self_check, simulate, study, study_estimate,
                    trace_facts, training, verify, watch, wave, whatif, whatif_plan)

__version__ = "0.2.0"

__all__ = [
    "CommandError", "CommandNotFound", "Estimate", "FileError", "IdlewaveError", "IdlewaveWarning", "MissingFile", "MissingPackage",
    "Recording", "Result", "SchemaError", "Study", "Timeline", "UsageError", "bench", "bench_memory", "call", "check",
    "command_path", "explain", "fleet", "fleet_coincidence", "fleet_digest", "fleet_history", "fleet_show", "forecast", "kinds",
    "load", "machine", "model", "net", "noise", "record", "run", "self_check", "simulate", "study", "study_estimate",
    "trace_facts", "training", "use_command", "verify", "watch", "wave", "whatif", "whatif_plan",
]
