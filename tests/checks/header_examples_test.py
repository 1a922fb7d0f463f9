#!/usr/bin/env python3
"""The examples in comments of public headers compile: lines indented by five columns that end a statement.

SPDX-License-Identifier: BSD-3-Clause

Usage: header_examples_test.py CC INCLUDE_DIR      exit 0: all compile.

"..." stands for what is left out, and words behind a semicolon are a remark. Names in GIVEN are what a reader has already.
"""

import pathlib
import re
import subprocess
import sys

GIVEN = """
const iw_log *log; iw_status st, status; FILE *out; const iw_net *net; iw_program *program; iw_noise *noise;
iw_recording *recording; iw_sim_result *result; iw_sim_opts sim_opts; iw_time noiseless_ps; iw_timeline *timeline;
iw_waves *waves; iw_noise_set *set; iw_model_row row; iw_window_options options; iw_study *study; iw_study_outcome outcome;
iw_study_results *results; iw_verify *verify; iw_window_answer answer; iw_program_maker maker;
iw_status write_it(const iw_log *log, void *arg, FILE *out);
"""
COMMENT = re.compile(r"/\*.*?\*/", re.S)
LINE = re.compile(r"^ \*     (.*)$", re.M)


def statements(comment):
    """The example's lines as C; [] if there is none."""
    lines = []
    for line in LINE.findall(comment):
        code = re.sub(r"^\.\.\.\s*", "", line.strip())
        if "..." in code or ";" not in code:
            continue
        lines.append(code[:code.rindex(";") + 1])
    return lines if any("iw_" in line for line in lines) else []


def compiles(cc, include, header, lines):
    text = f"#include <stdio.h>\n#include <idlewave/idlewave.h>\n#include <{header}>\n{GIVEN}\nvoid example(void);\n" \
           "void example(void)\n{\n" + "\n".join(lines) + "\n}\n"
    done = subprocess.run([cc, "-x", "c", "-std=c11", "-Werror=implicit-function-declaration", "-Werror=incompatible-pointer-types",
                           "-fsyntax-only", "-I", include, "-"], input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(f"{header}: an example does not compile:\n{done.stderr}\n" + "\n".join(lines))
    return done.returncode == 0


def main(cc, include):
    examples = []
    for path in sorted((pathlib.Path(include) / "idlewave").glob("*.h")):
        for comment in COMMENT.findall(path.read_text(encoding="utf-8")):
            lines = statements(comment)
            if lines:
                examples.append((f"idlewave/{path.name}", lines))
    bad = sum(not compiles(cc, include, header, lines) for header, lines in examples)
    broken = compiles(cc, include, "idlewave/sim.h", ["st = iw_simulate(log);"])
    print(f"header_examples: {len(examples)} examples, {bad} do not compile (the broken one before this line is meant to fail)")
    return 1 if bad or broken or len(examples) < 10 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
