#!/usr/bin/env python3
"""A small training run of PyTorch on CPUs (DDP over gloo), profiled by the snippet of the tutorial as it is printed there.

    tests/support/torch_training.py docs/tutorials/training-jitter.md --pause gc --active 16

trains a tiny network in --ranks processes on this machine, each with a loader of its own, and leaves profiles/rank<N>.pt.trace.json.gz
in the current folder. The last rank pauses: --pause gc collects a large heap in every third step, --pause loader is
late with every batch, --pause none does not pause.
SPDX-License-Identifier: BSD-3-Clause
"""

import argparse
import gc
import os
import re
import socket
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset

GARBAGE = 200000  # lists of a heap that takes a while to be looked through
LATE_S = 0.1  # a batch, by the loader of the rank that pauses
LAST_STEPS = 3  # after those that are profiled


def snippet_of(page):
    """The block of Python that imports torch.profiler."""
    with open(page, encoding="utf-8") as file:
        blocks = re.findall(r"^```python\n(.*?)^```", file.read(), re.DOTALL | re.MULTILINE)
    found = [block for block in blocks if "from torch.profiler import" in block]
    if len(found) != 1:
        sys.exit(f"{page}: {len(found)} blocks import torch.profiler instead of one")
    return found[0]


class Batches(Dataset):
    """`count` samples, each of which takes `late_s` to be made."""

    def __init__(self, count, late_s):
        self.count = count
        self.late_s = late_s

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        time.sleep(self.late_s)
        return torch.full((32,), float(index % 7)), torch.zeros(4)


def train(rank, options, snippet, port):
    """What one process does."""
    pauses = rank == options.ranks - 1
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), USE_LIBUV="0")  # Debian builds without libuv
    torch.set_num_threads(1)
    torch.manual_seed(1)
    dist.init_process_group("gloo", rank=rank, world_size=options.ranks)
    model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    heap = [[i] for i in range(GARBAGE)] if pauses and options.pause == "gc" else []
    gc.disable()
    steps = 0

    def train_step(batch):
        nonlocal steps
        steps += 1
        inputs, targets = batch
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(inputs), targets).backward()
        optimizer.step()
        if heap and steps % 3 == 1:
            gc.collect()

    wait, warmup = (int(re.search(rf"\b{key}=(\d+)", snippet).group(1)) for key in ("wait", "warmup"))
    samples = wait + warmup + options.active + LAST_STEPS
    loader = DataLoader(Batches(samples, LATE_S if pauses and options.pause == "loader" else 0), batch_size=1, num_workers=1)
    # pylint: disable-next=exec-used # as a reader would paste it
    exec(compile(snippet, "snippet", "exec"), {"loader": loader, "train_step": train_step})
    dist.destroy_process_group()


def free_port():
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main():
    """Starts the processes."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("page", help="with the snippet")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--pause", choices=("gc", "loader", "none"), default="gc")
    parser.add_argument("--active", type=int, default=16, help="steps that are profiled, instead of the snippet's")
    options = parser.parse_args()

    snippet, replaced = re.subn(r"\bactive=\d+", f"active={options.active}", snippet_of(options.page))
    if replaced != 1:
        sys.exit(f"{options.page}: no 'active=' in the snippet")
    if not torch.profiler.kineto_available():
        sys.exit(f"PyTorch {torch.__version__} was built without Kineto")
    mp.start_processes(train, args=(options, snippet, free_port()), nprocs=options.ranks, start_method="spawn")
    print(f"PyTorch {torch.__version__}: {options.ranks} profiles of {options.active} steps")


if __name__ == "__main__":
    main()
