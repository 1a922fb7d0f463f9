#!/usr/bin/env python3
"""Predicts what others measured on real machines, registers the predictions, and only then opens the measurements (docs/validation/real-machines.md).

SPDX-License-Identifier: BSD-3-Clause

Usage: real_machines.py FOLDER --idlewave FILE --keep DIR [--predict] [--only MACHINE] [--data DIR] [--picture FILE]
    FOLDER is a copy of DanieleDeSensi/cloud_noise_data, with its archives or with MACHINE/DATE/DATE unpacked.
    DIR keeps what was simulated, the predictions and their SHA-256. Predictions that are there are compared, not made again.
    --predict stops when they are registered.

Stages: read inputs (real_inputs.py), predict from them and from runs on the smallest node count (real_model.py), register, open all runs and
compare (real_pages.py). --picture needs matplotlib, all else only Python. Takes about a quarter of an hour.
"""

import argparse
import json
import pathlib
import sys
import tempfile

import data_page
import real_inputs as inputs
import real_model
import real_pages


def chosen(only):
    found = [machine for machine in inputs.MACHINES if not only or machine.name in only]
    if not found:
        raise inputs.Error(f"no machine '{only[0]}': there are {', '.join(machine.name for machine in inputs.MACHINES)}")
    return found


def predictions(folder, lab, machines):
    """Of all series of all machines. Nothing here has a seal, so no run on more than the smallest node count can be read."""
    found, sealed = [], inputs.Measured()
    for machine in machines:
        for series in folder.series(machine):
            print(f"predicting {machine.name} {series.session.name} {series.collective} {series.size}", file=sys.stderr, flush=True)
            found.append(real_model.predict(lab, series, folder.recordings(machine), sealed))
    if not found:
        raise inputs.Error("no collective has runs on several node counts")
    return json.dumps({"series": found}, indent=1, sort_keys=True) + "\n"


def compared(folder, lab, seal, machines):
    """Each registered prediction with what was measured, and with what was simulated before corrections."""
    by_name = {f"{s.session.parent.parent.name}/{s.session.name} {s.collective} {s.size}": (s, folder.recordings(machine))
               for machine in machines for s in folder.series(machine)}
    measured, rows = inputs.Measured(seal), []
    for prediction in json.loads(seal.path.read_text(encoding="utf-8"))["series"]:
        name = f"{prediction['session']} {prediction['collective']} {prediction['bytes']}"
        if name not in by_name:
            continue
        series, recordings = by_name[name]
        simulated = real_model.uncorrected(lab, series, recordings, measured)
        for nodes in sorted(map(int, prediction["predicted"])):
            times = measured.times(series, nodes)
            halves = [real_model.summary(half) for half in (times[:len(times) // 2], times[len(times) // 2:])]
            rows.append(dict(prediction, nodes=nodes, models=prediction["predicted"][str(nodes)], simulated=simulated[nodes],
                             measured=real_model.summary(times), halves=halves))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--idlewave", type=pathlib.Path, required=True)
    parser.add_argument("--keep", type=pathlib.Path, required=True)
    parser.add_argument("--predict", action="store_true")
    parser.add_argument("--only", action="append", default=[], metavar="MACHINE")
    parser.add_argument("--picture", type=pathlib.Path, default=None)
    data_page.add_option(parser)
    options = parser.parse_args()
    options.keep.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="idlewave-real-") as scratch:
        folder, machines = inputs.Folder(inputs.unpacked(options.folder, pathlib.Path(scratch))), chosen(options.only)
        lab, path = real_model.Lab(options.idlewave.resolve(), options.keep), options.keep / "predictions.json"
        if not path.exists():
            inputs.register(path, predictions(folder, lab, machines))
        seal = inputs.opened(path)
        print(f"predictions: {seal.digest}", file=sys.stderr)
        if options.predict:
            return
        rows = compared(folder, lab, seal, machines)
        real_pages.write(options.data, rows, seal.digest, inputs.published(folder.root))
        if options.picture:
            real_pages.draw(options.picture, rows)


if __name__ == "__main__":
    try:
        main()
    except inputs.Error as error:
        sys.exit(f"real_machines: {error}")
