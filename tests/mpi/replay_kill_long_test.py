#!/usr/bin/env python3
"""The same as replay_kill_test.py, at more moments.

SPDX-License-Identifier: BSD-3-Clause
"""

import os

os.environ["IW_REPLAY_KILLS"] = "15"

import replay_run  # noqa: E402 - what it reads is set above
from replay_kill_test import Kill  # noqa: E402,F401

if __name__ == "__main__":
    replay_run.main()
