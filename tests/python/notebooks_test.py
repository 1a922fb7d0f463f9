#!/usr/bin/env python3
"""The notebooks of examples/notebooks run from their first cell to their last, against the installed wheel, and show figures.

SPDX-License-Identifier: BSD-3-Clause

Usage: notebooks_test.py IDLEWAVE PACKAGE_DIR SOURCE_DIR RESULTS_DIR
RESULTS_DIR gets the notebooks with their outputs, and their figures as PNG, to look at. Skipped where no Python has nbclient and ipykernel.
"""

import base64
import json
import os
import pathlib
import sys
import tempfile
import unittest

from python_env import Environment, python_with, run

IDLEWAVE, PACKAGE, SOURCE, RESULTS = (pathlib.Path(word).resolve() for word in sys.argv[1:5])
PYTHON = python_with("ensurepip", "h5py", "ipykernel", "matplotlib", "nbclient", "nbformat", "pandas", "setuptools", "venv", "wheel", "xarray")
NOTEBOOKS = SOURCE / "examples" / "notebooks"
EXECUTE = """
import sys, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(notebook, timeout=600, kernel_name="idlewave-test", resources={"metadata": {"path": sys.argv[3]}}).execute()
nbformat.write(notebook, sys.argv[2])
"""


class Notebooks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="iw_notebooks_")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.environment = Environment(PYTHON, PACKAGE, scratch.name)
        kernel = cls.folder / "jupyter" / "kernels" / "idlewave-test"
        kernel.mkdir(parents=True)
        words = [str(cls.environment.python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        (kernel / "kernel.json").write_text(json.dumps({"argv": words, "display_name": "test", "language": "python"}), encoding="utf-8")
        RESULTS.mkdir(parents=True, exist_ok=True)
        # Matplotlib's list of fonts, made once: where that takes above 5 seconds it says so in a cell
        run(cls.environment.python, "-c", "import matplotlib.font_manager", env=dict(os.environ, HOME=str(cls.folder)))

    def executed(self, name):
        """The cells of the notebook after it ran."""
        work = self.folder / name
        work.mkdir()
        result = RESULTS / f"{name}.ipynb"
        variables = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        run(self.environment.python, "-c", EXECUTE, NOTEBOOKS / f"{name}.ipynb", result, work,
            env=dict(variables, IDLEWAVE_COMMAND=str(IDLEWAVE), JUPYTER_PATH=str(self.folder / "jupyter"),
                     HOME=str(self.folder)))
        return json.loads(result.read_text(encoding="utf-8"))["cells"]

    def outputs(self, name):
        """What it shows: its figures, written as PNG too, and the rest by kind."""
        pages, texts, pictures = [], [], []
        for cell in self.executed(name):
            for output in cell.get("outputs", []):
                self.assertNotEqual(output["output_type"], "error", output)
                self.assertNotEqual(output.get("name"), "stderr", output)
                data = output.get("data", {})
                pages += ["".join(data["text/html"])] if "text/html" in data else []
                texts += ["".join(output.get("text", data.get("text/plain", "")))]
                if "image/png" in data:
                    pictures.append(base64.b64decode(data["image/png"]))
                    (RESULTS / f"{name}-{len(pictures)}.png").write_bytes(pictures[-1])
        return pages, texts, pictures

    def test_a_papers_figure(self):
        pages, texts, pictures = self.outputs("paper-figure")
        self.assertEqual(len(pictures), 2)
        self.assertIn("12 systems", "".join(texts))
        self.assertIn("cells are finished", "".join(pages))

    def test_a_nodes_noise(self):
        pages, _, pictures = self.outputs("node-noise")
        self.assertEqual(len(pictures), 3)
        self.assertRegex("".join(pages), "<strong>[^<]*( of its CPUs to noise|programs took )")
        self.assertIn("How sure:", "".join(pages))

    def test_notebooks_are_kept_without_outputs(self):
        for path in NOTEBOOKS.glob("*.ipynb"):
            for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
                self.assertEqual(cell.get("outputs", []), [], path.name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
