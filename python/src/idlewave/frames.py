"""Lists of results as pandas DataFrames.

SPDX-License-Identifier: BSD-3-Clause
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Dict, List, Optional

from .errors import IdlewaveError, needed
from .result import Estimate, Result

if TYPE_CHECKING:
    import pandas

# The list that people ask for first, as in `--format csv` where that has a list of the JSON.
MAIN_LISTS = {
    "Bench": "per_rank", "Fit": "groups", "Fleet": "nodes", "Machine": "levels", "Memory": "points", "Model": "rows", "Net": "levels", "Noise": "sources",
    "NoiseCompare": "sources", "NoiseEdit": "sources", "NoiseSpectrum": "lines", "Record": "sources", "Simulate": "trial_times",
    "StudyEstimate": "rows", "Trace": "functions", "Verify": "mitigations", "Wave": "waves", "Whatif": "changes",
}


def flat(item: Any, prefix: str = "") -> Dict[str, Any]:
    """A row: estimates take three columns, `x`, `x_low`, `x_high`; objects within get their key in front."""
    row: Dict[str, Any] = {}
    if not dataclasses.is_dataclass(item):
        return {prefix or "value": item}
    for member in dataclasses.fields(item):
        value, name = getattr(item, member.name), prefix + member.name.rstrip("_")
        if isinstance(value, Estimate):
            row.update({name: value.value, f"{name}_low": value.low, f"{name}_high": value.high})
        elif dataclasses.is_dataclass(value):
            row.update(flat(value, f"{name}_"))
        else:
            row[name] = value
    return row


def lists_of(result: Result) -> List[str]:
    """Names of the result's lists that have several values per item."""
    return [member.name for member in dataclasses.fields(result)
            if isinstance(getattr(result, member.name), list) and member.name != "notes"]


def result_frame(result: Result, key: Optional[str]) -> "pandas.DataFrame":
    pandas = needed("pandas", "the frame of a result")
    path = key or MAIN_LISTS.get(type(result).__name__)
    value: Any = result
    for name in path.split(".") if path else ():
        value = getattr(value, name, None)
    if path is None or not isinstance(value, list):
        have = ", ".join(lists_of(result)) or "none"
        raise IdlewaveError(f"{type(result).__name__} has no list '{path or ''}'; its lists: {have}")
    return pandas.DataFrame([flat(item) for item in value])
