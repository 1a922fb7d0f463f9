"""What a copy of DanieleDeSensi/cloud_noise_data holds: recordings, networks, round trips; and measured collectives, sealed until predictions are registered.

SPDX-License-Identifier: BSD-3-Clause
"""

import collections
import datetime
import hashlib
import lzma
import pathlib
import re
import shutil
import tarfile

NAME = re.compile(r"^(\w+?)_(\d+)_(\d+)\.csv$")
DATE = re.compile(r"^\d{4}(_\d\d){5}$")
VARIANTS = ("_test", "_nbsend")  # other ways to write the same collective, of a few machines only
WARM_UP = 20  # of each start of netgauge; the authors leave out as many


class Error(Exception):
    """Bad input; the message says what and where."""


# Where the folders of a machine are: of collectives, of recordings, and what of the two does not match.
Machine = collections.namedtuple("Machine", "name collectives recordings mismatch")
MACHINES = (
    Machine("DEEP-EST", ("deep-est",), ("deep-est",), ""),
    Machine("Alps", ("alps",), ("alps",), ""),
    Machine("Daint", ("daint", "daint__collectives"), ("daint", "daint_mc_"), ""),
    Machine("GCP", ("gcp",), ("gcp",), "recorded two kinds of instance, a month and a week earlier"),
    Machine("Azure HC44rs", ("azure_hc44rs_collectives",), ("azure_hpc44rs_",), "recorded two weeks earlier, on other nodes"),
    Machine("Oracle", ("oracle-hpc",), ("oracle",), "recorded on virtual machines with TCP, run on bare metal with RDMA"),
)

Series = collections.namedtuple("Series", "machine session collective size nodes")  # one program of one session on several node counts


def when(path):
    return datetime.datetime.strptime(path.name, "%Y_%m_%d_%H_%M_%S")


def extract(archive, folder):
    """Regular files only, and none outside of the folder. (extractall() of older Pythons has no filter.)"""
    for member in archive:
        name = pathlib.PurePosixPath(member.name)
        if member.isfile() and not name.is_absolute() and ".." not in name.parts:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            with open(folder / name, "wb") as out:
                shutil.copyfileobj(archive.extractfile(member), out)


def unpacked(folder, scratch):
    """The folder itself, or a temporary one with what its archives hold."""
    if any(path.is_dir() for path in folder.glob("*/*/*")):
        return folder
    archives = [path for path in folder.glob("*/*.tar.xz") if DATE.match(path.name[:-7]) and path.stat().st_size > 0]
    if not archives:
        raise Error(f"'{folder}' has neither folders MACHINE/DATE/DATE nor archives MACHINE/DATE.tar.xz")
    for path in [*archives, *folder.glob("simulations/total.tar.xz")]:
        try:
            with tarfile.open(path) as archive:
                extract(archive, scratch / path.parent.name / path.name[:-7])
        except (tarfile.TarError, lzma.LZMAError, EOFError) as error:
            raise Error(f"'{path}': {error}") from error
    return scratch


class Folder:
    """Knows which files there are. Reads inputs; never a measurement."""

    def __init__(self, root):
        self.root = root

    def sessions(self, names):
        """Folders of one date, the oldest first. A name that ends with '_' stands for all folders that begin with it."""
        found = []
        for path in self.root.glob("*/*/*"):
            kind = path.parent.parent.name
            if path.is_dir() and DATE.match(path.name) and any(kind == name or (name.endswith("_") and kind.startswith(name)) for name in names):
                found.append(path)
        return sorted(found, key=lambda path: (path.name, str(path)))

    def series(self, machine):
        """All programs of a machine with a smallest node count and larger ones, by the names of files only."""
        found = collections.defaultdict(list)
        for session in self.sessions(machine.collectives):
            for path in sorted(session.glob("*.csv")):
                match = NAME.match(path.name)
                if match and not match[1].endswith(VARIANTS):
                    nodes, size = int(match[2]), int(match[3])
                    if match[1] != "pipelinedring" or size >= nodes:  # segments of 0 bytes: the program sends nothing
                        found[session, match[1], size].append(nodes)
        return [Series(machine.name, session, name, size, sorted(nodes)) for (session, name, size), nodes in sorted(found.items(), key=str)
                if len(nodes) > 1]

    def recordings(self, machine):
        """Folders with recorded noise, a network and round trips."""
        needed = "ng_osnoise.out", "ng_loggp.out", "ng_netnoise_mpi_lat.out", "ng_netnoise_mpi_bw.out"
        return [path for path in self.sessions(machine.recordings) if all((path / name).exists() and (path / name).stat().st_size > 0 for name in needed)]


def published(root):
    """LogGOPSim's results by the authors, or None."""
    return next(iter(sorted(root.glob("simulations/**/total.csv"))), None)


def measured_path(series, nodes):
    return series.session / f"{series.collective}_{nodes}_{series.size}.csv"


def round_trips(path):
    """Round trips in us. netgauge writes halves of them under the heading 'rtt'; the first of each start of it are left out."""
    trips, size, place = [], 0, 0
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("#"):
                place = 0
                continue
            words = line.split()
            place += 1
            if len(words) == 2 and place > WARM_UP:
                size = int(words[0])
                trips.append(2 * float(words[1]))
    if not trips:
        raise Error(f"'{path}' has no round trips")
    return size, trips


class Seal:
    """Predictions that have been written. Only register() and opened() make one."""

    def __init__(self, path, digest):
        self.path, self.digest = path, digest

    def holds(self):
        return self.path.exists() and hashlib.sha256(self.path.read_bytes()).hexdigest() == self.digest


def register(path, text):
    """Writes predictions and their SHA-256; what is there is never written again."""
    if path.exists():
        raise Error(f"'{path}' is there already: predictions are written once")
    path.write_text(text, encoding="utf-8")
    digest = hashlib.sha256(text.encode()).hexdigest()
    path.with_suffix(".sha256").write_text(f"{digest}  {path.name}\n", encoding="utf-8")
    return Seal(path, digest)


def opened(path):
    """The seal of registered predictions; an error if they have changed since."""
    seal = Seal(path, path.with_suffix(".sha256").read_text(encoding="utf-8").split()[0])
    if not seal.holds():
        raise Error(f"'{path}' is not what was registered: its SHA-256 differs")
    return seal


class Measured:
    """Times of collectives: those on the smallest node count at any time, all others only with registered predictions."""

    def __init__(self, seal=None):
        self.seal = seal

    def times(self, series, nodes):
        """Of each repetition, the time of the slowest rank in us."""
        if nodes != series.nodes[0] and not (self.seal and self.seal.holds()):
            raise Error(f"{series.collective} on {nodes} nodes is sealed until predictions are registered")
        return slowest(measured_path(series, nodes), nodes)


def slowest(path, nodes):
    times = []
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            words = line.split()
            if not line.startswith("#") and len(words) == nodes + 1:
                times.append(max(map(float, words[1:])))
    if not times:
        raise Error(f"'{path}' has no line with times of {nodes} ranks")
    return times
