"""The kinds of results, one module each.

SPDX-License-Identifier: BSD-3-Clause
Made by tools/make_python.py: change the C sources, then make it again.
"""

from .bench import Bench
from .check import Check
from .coincidence import Coincidence
from .digest import Digest
from .explain import Explain
from .fidelity import Fidelity
from .fit import Fit
from .fleet import Fleet
from .forecast import Forecast
from .history import History
from .machine import Machine
from .memory import Memory
from .model import Model
from .net import Net
from .noise import Noise
from .noise_compare import NoiseCompare
from .noise_edit import NoiseEdit
from .noise_spectrum import NoiseSpectrum
from .profile import Profile
from .record import Record
from .simulate import Simulate
from .stragglers import Stragglers
from .study_estimate import StudyEstimate
from .study_run import StudyRun
from .trace import Trace
from .training import Training
from .verify import Verify
from .waits import Waits
from .watch import Watch
from .wave import Wave
from .whatif import Whatif
from .whatif_plan import WhatifPlan

__all__ = [
    "Bench",
    "Check",
    "Coincidence",
    "Digest",
    "Explain",
    "Fidelity",
    "Fit",
    "Fleet",
    "Forecast",
    "History",
    "Machine",
    "Memory",
    "Model",
    "Net",
    "Noise",
    "NoiseCompare",
    "NoiseEdit",
    "NoiseSpectrum",
    "Profile",
    "Record",
    "Simulate",
    "Stragglers",
    "StudyEstimate",
    "StudyRun",
    "Trace",
    "Training",
    "Verify",
    "Waits",
    "Watch",
    "Wave",
    "Whatif",
    "WhatifPlan",
]
