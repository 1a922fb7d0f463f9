#!/usr/bin/env python3
"""The Python package without any other package: running verbs, typed results, errors, display, colours.

SPDX-License-Identifier: BSD-3-Clause

Usage: core_test.py SOURCE_DIR      `import idlewave` must work; the environment's IDLEWAVE_COMMAND names the command
"""

import errno
import inspect
import json
import os
import pathlib
import pydoc
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
import warnings

import idlewave
from idlewave import command, display, palette, signatures, units
from idlewave.result import Estimate, Result, decode, result_from_json

SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
SAMPLES = sorted((SOURCE / "tests/data/results").glob("*.json"))
JOB: dict = {"pattern": "allreduce", "ranks": 64, "noise": "periodic:100Hz,200us"}


def sample(kind):
    return json.loads((SOURCE / "tests/data/results" / f"{kind}.json").read_text(encoding="utf-8"))


class Scratch(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="iw_python_")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.addCleanup(idlewave.use_command, None)

    def pretend(self, script):
        """A command that does what SCRIPT says."""
        path = self.folder / "pretended"
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)
        idlewave.use_command(path)


class Options(unittest.TestCase):
    def test_words_of_options(self):
        options = {"ranks_per_node": 8, "explain": True, "resume": False, "seed": None, "noise": ["a", "b"], "from_": "1s", "L": "2us",
                   "output": pathlib.Path("x.h5")}
        self.assertEqual(command.option_words(options), ["--ranks-per-node", "8", "--explain", "--noise", "a", "--noise", "b",
                                                         "--from", "1s", "--L", "2us", "--output", "x.h5"])


class Signatures(unittest.TestCase):
    def test_every_function_of_a_verb_has_its_options(self):
        names = [name for name, value in vars(signatures).items() if getattr(value, "__module__", "") == signatures.__name__]
        self.assertGreater(len(names), 30)
        for name in names:
            with self.subTest(name):
                function = getattr(idlewave, name, None) or getattr(idlewave.noise, name)
                self.assertEqual(function.__name__, name)
                taken = inspect.signature(function).parameters
                self.assertIn("no_config", taken)
                self.assertEqual({"format", "dry_run", "options"} & set(taken), set())

    def test_help_lists_options_with_their_meaning(self):
        text = pydoc.plain(pydoc.render_doc(idlewave.simulate))
        for line in ("simulate(program: ", "Simulate a pattern", "Options of `idlewave simulate`:", "    What to run:", "ranks=N: number of ranks",
                     "sync=none|start|phase: random phase of the noise", "async_=wait|calls|thread: where", "explain=True: split the critical path"):
            self.assertIn(line, text)
        self.assertIn("least=SHARE: name only ranks", pydoc.plain(pydoc.render_doc(idlewave.explain)))
        self.assertIn("drop=", idlewave.noise.cut.__doc__)

    def test_the_command_judges_options(self):
        misspelt: dict = {"rnks": 3}
        with self.assertRaisesRegex(idlewave.UsageError, "there is no option '--rnks': did you mean --ranks?"):
            idlewave.simulate(**misspelt)


class Running(Scratch):
    def test_a_simulation_is_typed_and_exact(self):
        result = idlewave.simulate(pattern="barrier", ranks=8)
        self.assertIsInstance(result, idlewave.kinds.Simulate)
        self.assertEqual((result.ranks, result.noiseless_ns, result.makespan_ns.min), (8, 1440.0, 1440.0))
        self.assertIsInstance(result.noiseless_ns, float)
        self.assertIsNone(result.explain)
        self.assertEqual(result.exit_code, 0)

    def test_verbs_give_their_kinds(self):
        node, other, run = (self.folder / name for name in ("node.h5", "other.h5", "run.h5"))
        spec = ("irq/tick=periodic:100Hz,20us", "thread/daemon=poisson:5Hz,exp:300us")
        kinds, noise = idlewave.kinds, idlewave.noise
        self.assertIsInstance(noise.synth(*spec, output=node, duration="5s", cpus=2), kinds.NoiseEdit)
        self.assertIsInstance(noise.cut(node, output=other, drop="daemon"), kinds.NoiseEdit)
        self.assertIsInstance(noise.merge(node, other, output=self.folder / "pool.h5"), kinds.NoiseEdit)
        self.assertEqual(noise.show(other).sources[0].class_, "irq")
        idlewave.fleet_digest(node, output=self.folder / "node.digest")
        self.assertLessEqual({"tick", "daemon"}, {row.name for row in idlewave.fleet_show(self.folder / "node.digest").sources})
        self.assertIsInstance(noise.spectrum(node), kinds.NoiseSpectrum)
        self.assertIsInstance(noise.fit(node), kinds.Fit)
        with self.assertWarnsRegex(idlewave.IdlewaveWarning, "netgauge text cannot hold everything") as caught:
            noise.convert(other, self.folder / "text.txt", cpu=0)
        self.assertEqual(caught.filename, __file__, "whoever called is warned")
        self.assertTrue((self.folder / "text.txt").exists())
        self.assertIsInstance(idlewave.forecast(**JOB), kinds.Forecast)
        self.assertIsInstance(idlewave.whatif_plan(pattern="allreduce", ranks=64, noise=node, compute="1ms"), kinds.WhatifPlan)
        self.assertIsInstance(idlewave.model("exp:10%", compute="1ms", net="none", L="2us", ranks=64), kinds.Model)
        self.assertEqual(idlewave.machine("hdr-fat-tree").name, "hdr-fat-tree")
        self.assertIsInstance(idlewave.verify(sysroot=SOURCE / "tests/data/nodes/container"), kinds.Verify)
        checked = idlewave.check(node, sysroot=SOURCE / "tests/data/nodes/plain", jobs="none", limit="0.001%")
        self.assertEqual((checked.outcome, checked.exit_code), ("noisy", 4))
        with self.assertWarnsRegex(idlewave.IdlewaveWarning, "receives without their source"):
            self.assertEqual(idlewave.trace_facts(SOURCE / "tests/data/traces/liballprof-openmpi").ranks, 4)
        idlewave.simulate(pattern="halo1d", ranks=9, repeat=8, compute="3ms", delay="rank=5,time=13.5ms", timeline=run)
        self.assertEqual(idlewave.wave(run).waves[0].origin_rank, 5)

    def test_a_study_is_its_folder(self):
        path = SOURCE / "tests/data/study/two-systems/study.yaml"
        self.assertGreater(idlewave.study_estimate(path).cells, 0)
        study = idlewave.study(path, output=self.folder / "run", threads=1)
        self.assertEqual(len(study.cells()), 32)
        self.assertEqual((study.run.run, idlewave.study(path, output=self.folder / "run").run.run), (32, 0))
        self.assertIn("loud", study.report())

    def test_a_negative_verdict_is_a_result(self):
        a, b = self.folder / "a.h5", self.folder / "b.h5"
        idlewave.noise.synth("poisson:50Hz,exp:20us", output=a, duration="20s")
        idlewave.noise.synth("poisson:50Hz,exp:200us", output=b, duration="20s")
        self.assertEqual(idlewave.noise.compare(a, b).exit_code, 2)
        self.assertEqual(idlewave.noise.compare(a, a).exit_code, 0)

    def test_call_gives_text(self):
        self.assertTrue(idlewave.call("schedule", pattern="barrier", ranks=2).startswith("num_ranks 2"))

    def test_the_command_of_the_environment_is_run(self):
        self.assertEqual(idlewave.command_path(), os.environ["IDLEWAVE_COMMAND"])
        said = subprocess.run([idlewave.command_path(), "--version"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(said.split()[1], idlewave.__version__)
        self.assertIn(f'version = "{idlewave.__version__}"', (SOURCE / "python/pyproject.toml").read_text(encoding="utf-8"))

    def test_an_interrupt_reaches_the_command(self):
        self.pretend(f"trap 'echo interrupted >{self.folder}/said; exit 1' INT\ntouch {self.folder}/began\n"
                     "while :; do sleep 0.02; done")

        def interrupt():
            while not (self.folder / "began").exists():
                time.sleep(0.01)
            time.sleep(1)  # until Popen() has returned, too: nobody can hand on what comes before
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt).start()
        with self.assertRaises(KeyboardInterrupt):
            idlewave.simulate(**JOB)
        self.assertEqual((self.folder / "said").read_text(encoding="utf-8"), "interrupted\n")


class Progress(Scratch):
    def test_a_function_gets_the_share_done_and_the_time_left(self):
        text = json.dumps(sample("simulate"))
        self.pretend("test -t 2 || exit 7\ncase $* in *--quiet*) exit 8;; esac\n"
                     "printf '\\r[          ]   0 %%  ?:?? left\\033[K\\r[####      ]  40 %%  1.2 M messages/s  1:05 left\\033[K' >&2\n"
                     "printf '\\r\\033[Kidlewave: simulate: warning: too short\\n\\r[##########] 100 %%  0:00 left\\033[K\\r\\033[K' >&2\n"
                     f"cat <<'END'\n{text}\nEND")
        told = []
        with self.assertWarnsRegex(idlewave.IdlewaveWarning, "^too short$"):
            result = idlewave.simulate(**JOB, progress=lambda *now: told.append(now))
        self.assertEqual(told, [(0.0, None), (0.4, 65.0), (1.0, 0.0)])
        self.assertEqual(result, result_from_json(sample("simulate")))

    def test_the_command_tells_it_until_the_function_has_enough(self):
        told = []

        def listen(share, left):
            told.append(share)
            if len(told) == 4:
                raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            idlewave.simulate(pattern="allreduce", ranks="4Ki", repeat=1000, noise="poisson:100Hz,exp:100us", trials=100, engine="event",
                              progress=listen)
        self.assertEqual(told, sorted(told))

    def test_errors_are_found_beside_it(self):
        with self.assertRaisesRegex(idlewave.UsageError, "unknown operation 'barrir'") as caught:
            idlewave.simulate(pattern="barrir", ranks=4, progress=print)
        self.assertIn("idlewave schedule --list", caught.exception.hint)

    def test_without_terminals_there_is_a_result(self):
        with unittest.mock.patch("os.openpty", side_effect=OSError):
            self.assertEqual(idlewave.simulate(pattern="barrier", ranks=8, progress=print).ranks, 8)

    def test_what_the_function_raises_ends_the_command(self):
        self.pretend(f"trap 'echo interrupted >{self.folder}/said; exit 1' INT\nprintf '\\r[#   ]  10 %%  0:09 left\\033[K' >&2\n"
                     "while :; do sleep 0.02; done")

        def enough(share, left):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            idlewave.simulate(**JOB, progress=enough)
        self.assertEqual((self.folder / "said").read_text(encoding="utf-8"), "interrupted\n")


class Errors(Scratch):
    def test_usage_errors_have_message_and_hint(self):
        with self.assertRaises(idlewave.UsageError) as caught:
            idlewave.simulate(pattern="barrir", ranks=4)
        error = caught.exception
        self.assertIn("unknown operation 'barrir'", error.message)
        self.assertEqual(error.hint, "'idlewave schedule --list' lists all operations and algorithms")
        self.assertIn("hint: 'idlewave schedule", str(error))
        self.assertEqual(error.exit_code, 64)
        self.assertIn("simulate --quiet --pattern barrir --ranks 4 --format json", error.command)

    def test_files_that_are_not_there(self):
        with self.assertRaisesRegex(FileNotFoundError, "^noise show: cannot read '/nonexistent': No such file or directory$") as caught:
            idlewave.noise.show("/nonexistent")
        error = caught.exception
        self.assertIsInstance(error, idlewave.MissingFile)
        self.assertIsInstance(error, idlewave.CommandError)
        self.assertEqual((error.exit_code, error.hint, error.errno, error.filename), (1, "", errno.ENOENT, "/nonexistent"))
        for net, noise, missing in (("none", "/none.h5", "/none.h5"), ("/none.yaml", "exp:1%", "/none.yaml")):
            with self.subTest(missing), self.assertRaises(FileNotFoundError) as caught:
                idlewave.simulate(pattern="barrier", ranks=4, net=net, noise=noise)
            self.assertIsInstance(caught.exception, idlewave.UsageError)
            self.assertIsInstance(caught.exception, idlewave.MissingFile)
            self.assertEqual((caught.exception.exit_code, caught.exception.filename), (64, missing))
        with self.assertRaisesRegex(FileNotFoundError, "cannot write '/nonexistent/node.h5'"):
            idlewave.noise.synth("poisson:1Hz,exp:1us", output="/nonexistent/node.h5", duration="1s")

    def test_other_errors_of_files(self):
        (self.folder / "node.h5").write_text("no", encoding="utf-8")
        with self.assertRaises(idlewave.CommandError) as caught:
            idlewave.noise.show(self.folder / "node.h5")
        self.assertNotIsInstance(caught.exception, FileNotFoundError)

    def test_a_deadlock_has_no_result(self):
        with self.assertRaisesRegex(idlewave.CommandError, "2 ranks cannot continue") as caught:
            idlewave.simulate(SOURCE / "examples/stuck.goal")
        self.assertEqual(caught.exception.exit_code, 2)

    def test_a_command_that_is_not_there(self):
        idlewave.use_command("/nonexistent/idlewave")
        with self.assertRaisesRegex(idlewave.CommandNotFound, "'/nonexistent/idlewave'.*IDLEWAVE_COMMAND"):
            idlewave.simulate(**JOB)

    def test_warnings_are_warnings_and_progress_is_not(self):
        text = json.dumps(sample("simulate"))
        self.pretend(f"echo 'idlewave: simulate: 40 % done, 0:10 left' >&2\necho 'idlewave: simulate: warning: too short' >&2\n"
                     f"cat <<'END'\n{text}\nEND")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            idlewave.simulate(**JOB)
        self.assertEqual([(str(one.message), one.category) for one in caught], [("too short", idlewave.IdlewaveWarning)])

    def test_an_error_with_half_a_result_is_an_error(self):
        self.pretend("echo '{}'\necho 'idlewave: study: warning: slow' >&2\necho 'idlewave: study: a cell failed' >&2\nexit 1")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with self.assertRaises(idlewave.CommandError) as caught:
                idlewave.run("study", "x.yaml")
        self.assertEqual(caught.exception.message, "study: a cell failed")

    def test_a_command_that_is_killed(self):
        self.pretend("kill -9 $$")
        with self.assertRaisesRegex(idlewave.CommandError, "ended by SIGKILL"):
            idlewave.simulate(**JOB)

    def test_what_is_no_json(self):
        self.pretend("echo hello")
        with self.assertRaisesRegex(idlewave.SchemaError, "'idlewave simulate' printed invalid JSON"):
            idlewave.simulate(**JOB)

    def test_another_kind_than_expected(self):
        self.pretend(f"cat {SOURCE}/tests/data/results/whatif.json")
        with self.assertRaisesRegex(idlewave.SchemaError, "expected a result of kind Simulate, not Whatif"):
            idlewave.simulate(**JOB)

    def test_older_files_are_read(self):
        older = json.loads((SOURCE / "tests/data/older/stragglers-1.json").read_text(encoding="utf-8"))
        self.assertEqual(older["schema"], "idlewave.stragglers/1")
        result = result_from_json(older)
        self.assertEqual(result.factor, older["slowdown"])
        self.assertEqual(result.workers, result_from_json(sample("stragglers")).workers)

    def test_packages_are_needed_late_and_named(self):
        result = result_from_json(sample("simulate"))
        for package, use in (("pandas", result.frame), ("matplotlib", result.plot), ("h5py", lambda: idlewave.Recording("x.h5"))):
            with self.subTest(package), unittest.mock.patch.dict(sys.modules, {package: None}):
                with self.assertRaisesRegex(idlewave.MissingPackage, f"package '{package}'.*apt-get install python3-{package}"):
                    use()

    def test_importing_needs_no_other_package(self):
        found = subprocess.run([sys.executable, "-c", "import sys; old = set(sys.modules); import idlewave, idlewave.figures; "
                                "print(*{name.split('.')[0] for name in set(sys.modules) - old} - set(sys.stdlib_module_names)"
                                " if sys.version_info >= (3, 10) else ['idlewave'])"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(found.split(), ["idlewave"])


class Results(Scratch):
    def test_every_sample_is_read_whole(self):
        for path in SAMPLES:
            with self.subTest(path.stem):
                data = json.loads(path.read_text(encoding="utf-8"))
                result = result_from_json(data)
                self.assertEqual(type(result).SCHEMA, data["schema"])
                self.assertEqual([key for key in data if not hasattr(result, key) and not hasattr(result, key + "_")], [])
                self.assertEqual(result.verdict, data["verdict"])

    def test_no_key_hides_a_method(self):
        own = {name for name in vars(Result) if callable(getattr(Result, name))}
        for name in idlewave.kinds.__all__:
            with self.subTest(name):
                self.assertEqual(own & set(getattr(idlewave.kinds, name).__annotations__), set())

    def test_unknown_keys_are_ignored_and_kept_raw(self):
        result = result_from_json({**sample("simulate"), "new_key": 1})
        self.assertEqual(result.raw["new_key"], 1)

    def test_another_version_is_refused_with_both_named(self):
        with self.assertRaisesRegex(idlewave.SchemaError, "'idlewave.simulate/99', but this package reads 'idlewave.simulate/"):
            result_from_json({**sample("simulate"), "schema": "idlewave.simulate/99"})
        with self.assertRaisesRegex(idlewave.SchemaError, "not a kind of result"):
            result_from_json({"schema": "other/1"})
        with self.assertRaisesRegex(idlewave.SchemaError, "key 'schema' is missing"):
            result_from_json([])

    def test_what_is_damaged_is_refused_with_its_place(self):
        data = sample("simulate")
        for key, value, message in (("slowdown", 3, r"\.slowdown: expected an object"), ("noise", {}, r"\.noise: expected a list"),
                                    ("ranks", "8", r"\.ranks: '8' is not of type int"), ("noise", [{}], r"\.noise\[0\]: key 'spec'")):
            with self.subTest(message), self.assertRaisesRegex(idlewave.SchemaError, message):
                result_from_json({**data, key: value})
        del data["ranks"]
        with self.assertRaisesRegex(idlewave.SchemaError, "key 'ranks' is missing"):
            result_from_json(data)

    def test_saved_results_come_back(self):
        path = self.folder / "result.json"
        for sample_path in SAMPLES:
            with self.subTest(sample_path.stem):
                result = idlewave.load(sample_path)
                result.save(path)
                self.assertEqual(idlewave.load(path), result)
        path.write_text("no", encoding="utf-8")
        with self.assertRaisesRegex(idlewave.SchemaError, "is not JSON"):
            idlewave.load(path)

    def test_other_media_come_from_the_command(self):
        result = result_from_json(sample("fit"))
        self.assertIn("Noise specs for simulations:", result.text())
        self.assertIn("<!DOCTYPE html>", result.page()[:200])

    def test_estimates(self):
        self.assertEqual(str(Estimate(1.25, 1.2, 1.3)), "1.25 (1.2 to 1.3)")
        self.assertEqual(str(Estimate(1.25, 1.25, 1.25)), "1.25")
        self.assertEqual(str(Estimate(1.25, 1.2, None)), "1.25 (1.2 to ?)")
        self.assertEqual((str(Estimate(None, None, None)), float(Estimate(2.0, 1.0, 3.0))), ("unknown", 2.0))
        self.assertNotEqual(float(Estimate(None, None, None)), 0.0)

    def test_decoding(self):
        self.assertEqual(decode(float, 3, "x"), 3.0)
        with self.assertRaisesRegex(idlewave.SchemaError, "not of type float"):
            decode(float, None, "x")


class Display(unittest.TestCase):
    def test_verdict_then_numbers_then_how_sure(self):
        result = idlewave.simulate(**JOB, trials=8)
        text = result._repr_html_()
        places = [text.index(part) for part in ("<strong>allreduce on 64", ">95 % interval<", ">slowdown, mean<", "How sure:", "<li>8 trials")]
        self.assertEqual(places, sorted(places))
        self.assertIn(units.value_text("slowdown", result.slowdown.mean_low), text)

    def test_few_trials_are_said(self):
        self.assertIn("1 trial. Too few for intervals", idlewave.simulate(**JOB)._repr_html_())

    def test_names_from_files_are_escaped(self):
        data = sample("noise")
        data["verdict"] = data["sources"][0]["name"] = "<script>alert(1)</script>"
        self.assertNotIn("<script>", result_from_json(data)._repr_html_())

    def test_every_kind_is_shown(self):
        for path in SAMPLES:
            with self.subTest(path.stem):
                text = idlewave.load(path)._repr_html_()
                self.assertEqual(text.count("<div"), text.count("</div>"))
                self.assertEqual(text.count("<tr>"), text.count("</tr>"))

    def test_numbers_for_people(self):
        cases = (("x_ns", 12345.0, "12.35 us"), ("x_ns", 0, "0"), ("share", 0.0021, "0.21 %"), ("slowdown", 0.25, "25 %"),
                 ("slowdown", 6.5, "650 %"), ("slowdown", 146.8, "14,680 %"), ("rate_hz", 250.0, "250 Hz"), ("ranks", 4096, "4,096"), ("ranks", 40615.2, "40,615"),
                 ("x", None, "unknown"), ("x", True, "yes"), ("name", "a", "a"), ("window_s", 0.005, "5 ms"))
        for name, value, text in cases:
            with self.subTest(text):
                self.assertEqual(units.value_text(name, value), text)
        self.assertEqual((units.label("noiseless_ns"), units.label("speed_ranks_per_s")), ("noiseless", "speed ranks per s"))

    def test_main_lists_exist(self):
        from idlewave.frames import MAIN_LISTS

        for path in SAMPLES:
            result = idlewave.load(path)
            name = MAIN_LISTS.get(type(result).__name__)
            if name:
                self.assertIsInstance(getattr(result, name), list, path.stem)
        self.assertLessEqual(set(MAIN_LISTS) | set(display.NUMBERS), set(idlewave.kinds.__all__))


class Colours(Scratch):
    def test_they_are_those_of_pages(self):
        page = idlewave.call("simulate", **JOB, format="html")
        for theme, rules in (("light", r":root\{([^}]*)\}"), ("dark", r":root:not\(\.paper\)\{([^}]*)\}")):
            found = re.search(rules, page).group(1)
            self.assertEqual(dict(re.findall(r"--([\w-]+):(#\w{6});", found)), palette.colours(theme))

    def test_sources_have_those_of_pictures(self):
        names = ["local_timer", "kworker/0:1", "RCU", "my_daemon", "mmfsd", "slurmstepd"]
        specs = [f"thread/{name}=poisson:{10 + i}Hz,exp:{100 - 10 * i}us" for i, name in enumerate(names)]
        node, picture = self.folder / "node.h5", self.folder / "node.svg"
        idlewave.noise.synth(*specs, output=node, duration="20s")
        order = [row.name for row in idlewave.noise.show(node, plot=picture).sources]
        self.assertEqual(sorted(order), sorted(names))
        svg = picture.read_text(encoding="utf-8")
        drawn = dict((name, ink) for ink, name in re.findall(r'fill="(#\w{6})"/><text[^>]*>([^<]*)</text>', svg))
        self.assertEqual([drawn[name] for name in order], palette.source_colours(order))
        self.assertNotIn(palette.colours()["noise"], palette.source_colours(order))

    def test_more_sources_than_colours(self):
        self.assertEqual(len(palette.source_colours([f"s{chr(97 + i)}" for i in range(9)])), 9)

    def test_no_such_theme(self):
        for name in ("blue", "usual_sources"):
            with self.assertRaisesRegex(ValueError, "light or dark"):
                palette.colours(name)


if __name__ == "__main__":
    unittest.main()
