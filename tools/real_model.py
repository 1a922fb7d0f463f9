"""Predicts times of collectives from a recording, a measured network and its noise, by `idlewave simulate`. Sees measurements on the smallest node count only.

SPDX-License-Identifier: BSD-3-Clause
"""

import csv
import hashlib
import json
import math
import os
import statistics
import subprocess

import one_way_delays
import real_inputs as inputs

QUANTITIES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}  # and the mean, and the share of late runs
LATE = 1.5            # a run is late that takes so many times the median
Z = 1.96
DRIFT = 0.055         # chosen by hand: log error for the first doubling of nodes, grows with its root; the median interval is then 1.5 wide
SPARE_NS = 0.1        # for each further piece of a network: more than what is lost by rounding
LARGE = 65536         # chosen by hand: the delays of larger messages grow with their bytes, and come from netgauge's large messages
RECORDINGS = 2        # of the dates nearest to the session
TRIALS, PING_TRIALS, ROUNDS = 2000, 20000, 4
LEVELS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999)


# Programs: what each rank does in order, as the authors' C programs do it (benchmarks/collectives of cloud_noise).

def dissemination(rank, nodes, size, wait_ns):
    rounds = (nodes - 1).bit_length()
    for r in range(rounds):
        yield "irecv", (rank - 2**r) % nodes, size, 0
    for r in range(rounds):
        if r > 0:
            yield "wait", r - 1
            if wait_ns:
                yield "calc", wait_ns
        yield "send", (rank + 2**r) % nodes, size, 0
    yield "wait", rounds - 1


def ring(rank, nodes, size, _):
    segment = size // nodes
    sizes = [segment] * (size // segment) + ([size % segment] if size % segment else [])
    for r, piece in enumerate(sizes):
        yield "irecv", (rank - 1) % nodes, piece, r
    for r, piece in enumerate(sizes):
        if r > 0:
            yield "wait", r - 1
        yield "send", (rank + 1) % nodes, piece, r
    yield "wait", len(sizes) - 1


def tree(parent, children, size):
    if parent is not None:
        yield "irecv", parent, size, 0
        yield "wait", 0
    for child in children:
        yield "send", child, size, 0


def binomial(rank, nodes, size, _):
    first = rank.bit_length()  # rank 0 sends from round 0 on, others in the rounds after their own
    children = [rank + 2**r for r in range(first, (nodes - 1).bit_length()) if rank + 2**r < nodes]
    return tree(rank - 2 ** (first - 1) if rank else None, children, size)


def binary(rank, nodes, size, _):
    return tree((rank - 1) // 2 if rank else None, [c for c in (2 * rank + 1, 2 * rank + 2) if c < nodes], size)


def alltoall(rank, nodes, size, _):
    for step in range(1, nodes):
        yield "irecv", (rank - step) % nodes, size, 0
    for step in range(1, nodes):
        yield "send", (rank + step) % nodes, size, 0
    for step in range(1, nodes):
        yield "wait", step - 1


def ping_pong(rank, _, size, __):
    messages = [("send", 1, size, 0), ("irecv", 1, size, 0), ("wait", 0)]
    return messages if rank == 0 else [("irecv", 0, size, 0), ("wait", 0), ("send", 0, size, 0)]


PROGRAMS = {"nwaydissemination": dissemination, "nwaydissemination_nocompute": dissemination, "pipelinedring": ring,
            "binomialtreebcast": binomial, "binarytreebcast": binary, "linear_alltoall": alltoall}


def waits_ns(collective, nodes, size):
    """(of a wait, of all waits of a rank): nwaydissemination waits 1 ns a byte between two rounds."""
    one = size if collective == "nwaydissemination" else 0
    return one, one * ((nodes - 1).bit_length() - 1)


def message_bytes(collective, nodes, size):
    return size // nodes if collective == "pipelinedring" else size


def goal(program, nodes, size, wait_ns=0):
    lines = [f"num_ranks {nodes}"]
    for rank in range(nodes):
        lines.append(f"rank {rank} {{")
        receives, last, follows = [], None, "requires"
        for number, (kind, *words) in enumerate(program(rank, nodes, size, wait_ns)):
            label = f"l{number}"
            if kind == "calc":
                lines.append(f"{label}: calc {words[0]}")
            elif kind == "wait":
                lines += [f"{label}: calc 0", f"{label} requires {receives[words[0]]}"]
            else:
                peer, count, tag = words
                lines.append(f"{label}: {'recv' if kind == 'irecv' else 'send'} {count}b {'from' if kind == 'irecv' else 'to'} {peer} tag {tag}")
            if last:
                lines.append(f"{label} {follows} {last}")
            if kind == "irecv":
                receives.append(label)
            last, follows = label, "irequires" if kind == "irecv" else "requires"
        lines.append("}")
    return "\n".join(lines) + "\n"


# Statistics of times.

def quantile(ordered, share):
    place = min(max(share, 0.0), 1.0) * (len(ordered) - 1)
    low = int(place)
    return ordered[low] + (place - low) * (ordered[min(low + 1, len(ordered) - 1)] - ordered[low])


def summary(times):
    """p50, p90, p99, mean, and the share of late runs."""
    ordered = sorted(times)
    found = {name: quantile(ordered, share) for name, share in QUANTITIES.items()}
    found["mean"] = statistics.fmean(ordered)
    found["late"] = sum(time > LATE * found["p50"] for time in ordered) / len(ordered)
    return found


def independent_runs(times):
    """As many independent runs tell as much as these, which share bursts: by the correlation of neighbours, of ranks in order."""
    place = {time: number for number, time in enumerate(sorted(set(times)))}
    ranks = [place[time] for time in times]
    if len(set(ranks)) < 3:
        return len(times)
    mean = statistics.fmean(ranks)
    correlation = sum((a - mean) * (b - mean) for a, b in zip(ranks, ranks[1:])) / sum((a - mean) ** 2 for a in ranks)
    correlation = min(max(correlation, 0.0), 0.95)
    return len(times) * (1 - correlation) / (1 + correlation)


def clock_step(times):
    """Us: the least difference between two times that differ."""
    values = sorted(set(round(time, 3) for time in times))
    return min((b - a for a, b in zip(values, values[1:])), default=0.0)


# The machine as it was measured.

class Network:
    """The parameters that idlewave reads from netgauge's table, all of which a factor makes slower."""

    def __init__(self, answer):
        self.first, self.segments = answer["net"], answer.get("net_segments") or []

    def _pieces(self, factor):
        """(from, costs in ns) of each piece. Rounding must not make a message cheaper where a piece begins."""
        keys = {"L": "L_ns", "o_s": "o_send_ns", "o_r": "o_recv_ns", "g": "g_ns", "G": "G_ns_per_byte", "O": "O_ns_per_byte"}
        before = None
        for place, piece in enumerate([self.first, *self.segments]):
            begin, costs = piece.get("from_bytes", 1), {key: piece[name] * factor for key, name in keys.items()}
            costs["L"] += SPARE_NS * place * factor
            costs["g"] += SPARE_NS * place * factor
            if before:
                more = begin - 1 - before[0]
                least = sum(before[1][key] for key in ("o_s", "L", "o_r")) + more * (round(before[1]["G"], 6) + 2 * round(before[1]["O"], 6))
                costs["L"] += max(least + 0.005 - sum(costs[key] for key in ("o_s", "L", "o_r")), 0.0)
                costs["g"] = max(costs["g"], before[1]["g"] + more * round(before[1]["G"], 6))
            before = begin, costs
            yield before

    def text(self, factor, delays=()):
        (_, first), *others = [(begin, ", ".join(f"{key}: {value:.9f}ns" for key, value in costs.items())) for begin, costs in self._pieces(factor)]
        lines = ["{" + first + f", S: {self.first['S_bytes']}"]
        if others:
            lines.append(", segments: [" + ", ".join(f"{{from: {begin}, {costs}}}" for begin, costs in others) + "]")
        if delays:
            lines.append(", " + one_way_delays.as_yaml(delays))
        return "".join(lines) + "}\n"


class Recorded:
    """One folder of recordings: system noise, network, and delays of small and of large messages."""

    def __init__(self, folder, noise, network, small, large):
        self.folder, self.noise, self.network, self._small, self._large = folder, noise, network, small, large

    def delays(self, size):
        """Quantiles of the delay of a message of so many bytes, in us."""
        measured_size, pairs = self._large if size > LARGE else self._small
        factor = size / measured_size if size > LARGE else 1.0
        return [(share, time * factor) for share, time in pairs]


class Lab:
    """Runs idlewave, and keeps what it said: a stopped series goes on."""

    def __init__(self, binary, keep):
        self.binary, self.keep = binary, keep
        self.known = {}

    def _ask(self, *arguments):
        done = subprocess.run([self.binary, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                              env=dict(os.environ, IDLEWAVE_CONFIG=""))
        if done.returncode != 0:
            raise inputs.Error(f"idlewave {' '.join(map(str, arguments))}: {done.stderr.strip()}")
        return done.stdout

    def _file(self, text, ending):
        path = self.keep / (hashlib.sha1(text.encode()).hexdigest()[:16] + ending)
        if not path.exists():
            path.write_text(text, encoding="utf-8")
        return path

    def times(self, program, network, noise=None, trials=TRIALS):
        """Us of each trial."""
        files = self._file(program, ".goal"), self._file(network, ".yaml")
        kept = self.keep / (hashlib.sha1(f"{files} {noise} {trials}".encode()).hexdigest()[:16] + ".times")
        if not kept.exists():
            options = ["--noise", noise] if noise else []
            answer = self._ask("simulate", files[0], "--net", files[1], *options, "--trials", trials, "--threads", 1, "--quiet", "--format", "csv")
            partial = kept.with_suffix(f".{os.getpid()}")
            partial.write_text(" ".join(row["makespan_ns"] for row in csv.DictReader(answer.splitlines())), encoding="utf-8")
            partial.replace(kept)  # whole or not there
        return [float(word) / 1000 for word in kept.read_text(encoding="utf-8").split()]

    def recorded(self, folder):
        if folder not in self.known:
            name = f"{folder.parent.parent.name}-{folder.name}"
            noise = self.keep / f"{name}.h5"
            if not noise.exists():
                self._ask("noise", "convert", folder / "ng_osnoise.out", noise)
            answer = self._ask("simulate", self._file(goal(ping_pong, 2, 1), ".goal"), "--net", folder / "ng_loggp.out", "--quiet", "--format", "json")
            network = Network(json.loads(answer))
            pairs = [self._delays(folder / f"ng_netnoise_mpi_{kind}.out", noise, network, self.keep / f"{name}.{kind}") for kind in ("lat", "bw")]
            self.known[folder] = Recorded(folder, noise, network, *pairs)
        return self.known[folder]

    def _delays(self, path, noise, network, kept):
        """(size, pairs): delays such that two of them and the simulated system noise of a round trip make what was measured."""
        if not kept.exists():
            size, trips = inputs.round_trips(path)
            simulated = self.times(goal(ping_pong, 2, size), network.text(1.0), noise, PING_TRIALS)
            floor, least = min(trips), min(simulated)
            resolution = max(one_way_delays.resolution_of(trips), floor / 50)
            fitted = one_way_delays.fit([trip - floor for trip in trips], [time - least for time in simulated], resolution)
            kept.write_text(json.dumps([size, one_way_delays.quantiles(*fitted)]), encoding="utf-8")
        size, pairs = json.loads(kept.read_text(encoding="utf-8"))
        return size, [tuple(pair) for pair in pairs]


# Three models of one series. Each is adjusted to the smallest node count alone.

class Model:
    """Without delays ('system'), or with those between two nodes ('network'): one factor makes the median right."""

    def __init__(self, lab, series, recorded, measured, has_delays):
        self.lab, self.series, self.recorded, self.has_delays = lab, series, recorded, has_delays
        self.factor = 1.0
        waits = waits_ns(series.collective, series.nodes[0], series.size)[1] / 1000
        aim = max(summary(measured)["p50"] - waits, 0.01)
        for trials in (TRIALS // 4, TRIALS):
            now = summary(self._times(recorded[0], series.nodes[0], trials))["p50"]
            self.factor *= min(max(aim / max(now - waits, 0.01), 0.05), 20.0)

    def _times(self, recorded, nodes, trials=TRIALS):
        size = self.series.size
        delays = recorded.delays(message_bytes(self.series.collective, nodes, size)) if self.has_delays else ()
        program = goal(PROGRAMS[self.series.collective], nodes, size, waits_ns(self.series.collective, nodes, size)[0])
        return self.lab.times(program, self.recorded[0].network.text(self.factor, delays), recorded.noise, trials)

    def times(self, nodes):
        """Of each recording."""
        return [self._times(recorded, nodes) for recorded in self.recorded]


class FittedModel:
    """Delays of messages such that the smallest node count gives its measured distribution ('fitted')."""

    def __init__(self, lab, series, recorded, measured):
        self.lab, self.series, self.recorded = lab, series, recorded[0]
        nodes, ordered = series.nodes[0], sorted(measured)
        waits = waits_ns(series.collective, nodes, series.size)[1] / 1000
        bare = lab.times(self._program(nodes), self.recorded.network.text(1.0), None, 1)[0]
        self.factor = max(quantile(ordered, LEVELS[0]) - waits, 0.01) / max(bare - waits, 0.01)
        self.levels = [*LEVELS, 1.0]
        aims = [quantile(ordered, level) for level in self.levels]
        self.excess = self._excess(aims, sorted(self.system_times(nodes)))
        self.messages = sum(kind == "send" for rank in range(nodes) for kind, *_ in PROGRAMS[series.collective](rank, nodes, series.size, 0))
        self.waiting = list(self.excess)
        for _ in range(ROUNDS):
            now = sorted(self.delayed_times(nodes))
            self.waiting = [max(wait + aim - quantile(now, level), 0.0) for wait, aim, level in zip(self.waiting, aims, self.levels)]

    def _excess(self, aims, ordered):
        return [max(aim - quantile(ordered, level), 0.0) for aim, level in zip(aims, self.levels)]

    def _program(self, nodes):
        return goal(PROGRAMS[self.series.collective], nodes, self.series.size, waits_ns(self.series.collective, nodes, self.series.size)[0])

    def system_times(self, nodes):
        return self.lab.times(self._program(nodes), self.recorded.network.text(self.factor), self.recorded.noise)

    def delayed_times(self, nodes):
        """Each message has a delay of its own."""
        small, now = (message_bytes(self.series.collective, n, self.series.size) for n in (self.series.nodes[0], nodes))
        factor = now / small if small > LARGE else 1.0
        pairs, last = [(0.0, 0.0)], 0.0
        for level, wait in zip(self.levels, self.waiting):
            last = max(last, wait * factor)
            pairs.append((level ** (1 / self.messages), last))
        return self.lab.times(self._program(nodes), self.recorded.network.text(self.factor, pairs), self.recorded.noise)

    def shared_times(self, nodes):
        """All messages of a run have one delay: that of the smallest node count."""
        ordered = sorted(self.system_times(nodes))
        levels, excess = [0.0, *self.levels], [0.0, *self.excess]
        times = []
        for number, time in enumerate(ordered):
            share = (number + 0.5) / len(ordered)
            place = next(i for i, level in enumerate(levels) if level >= share)
            part = (share - levels[place - 1]) / (levels[place] - levels[place - 1])
            times.append(time + excess[place - 1] + part * (excess[place] - excess[place - 1]))
        return times


# Intervals.

def sampling(times, runs, step):
    """Of each quantity (low, high): what so many independent runs with this clock may show of this distribution."""
    ordered, found = sorted(times), {}
    noise = math.sqrt(1 / runs + 1 / len(ordered))
    for name, share in QUANTITIES.items():
        width = Z * math.sqrt(share * (1 - share)) * noise
        found[name] = quantile(ordered, share - width) - step / 2, quantile(ordered, share + width) + step / 2
    middle, width = statistics.fmean(ordered), Z * statistics.pstdev(ordered) * noise
    found["mean"] = max(middle - width, ordered[0]) - step / 2, middle + width + step / 2
    late = summary(ordered)["late"]
    width = Z * math.sqrt(max(late * (1 - late), 0.0)) * noise + 1 / runs
    found["late"] = late - width, late + width
    return found


def log_ratio(value, other):
    return math.log(max(value, 1e-4) / max(other, 1e-4))


def interval(name, values, ends, missed, doublings):
    """(point, low, high): values of several recordings, ends of the sampling interval, and what the model missed on the smallest node count."""
    value = math.exp(statistics.fmean(math.log(max(v, 1e-4)) for v in values))
    drift = 0.0 if name == "late" else Z * DRIFT * math.sqrt(doublings)
    low = math.hypot(log_ratio(value, ends[0]), log_ratio(value, min(values)), drift)
    high = math.hypot(log_ratio(ends[1], value), log_ratio(max(values), value), drift)
    return value * math.exp(missed / 2), value * math.exp(min(missed, 0.0) - low), value * math.exp(max(missed, 0.0) + high)


def bracket(name, values, ends, doublings):
    """(point, low, high) of two assumptions: between them, and what sampling and the model add at both ends."""
    both = [interval(name, [value], end, 0.0, doublings) for value, end in zip(values, ends)]
    return math.exp(statistics.fmean(math.log(max(v, 1e-4)) for v in values)), min(b[1] for b in both), max(b[2] for b in both)


def rounded(triple):
    return [float(f"{value:.5g}") for value in triple]


def rising(found):
    """With p50 <= p90 <= p99 at each place: corrections of each on its own need not keep that."""
    last = [0.0, 0.0, 0.0]
    for name in QUANTITIES:
        found[name] = last = [max(pair) for pair in zip(last, found[name])]
    return found


def predicted_by(model, smallest, nodes, runs, step, first):
    """Of a Model, of each quantity (point, low, high)."""
    of_each = model.times(nodes)
    values = [summary(times) for times in of_each]
    ends = sampling([time for times in of_each for time in times], runs, step)
    base = summary([time for times in model.times(first) for time in times])
    return rising({name: rounded(interval(name, [v[name] for v in values], ends[name], log_ratio(smallest[name], base[name]), math.log2(nodes / first)))
                   for name in values[0]})


def predicted_by_fit(model, nodes, runs, step, first):
    both = model.delayed_times(nodes), model.shared_times(nodes)
    values, ends = [summary(times) for times in both], [sampling(times, runs, step) for times in both]
    return rising({name: rounded(bracket(name, [v[name] for v in values], [e[name] for e in ends], math.log2(nodes / first))) for name in values[0]})


def nearest(folders, session):
    return sorted(folders, key=lambda folder: (abs(inputs.when(folder) - inputs.when(session)), str(folder)))[:RECORDINGS]


def adjusted(lab, series, folders, times):
    """(recordings, models) whose medians are right on the smallest node count."""
    recorded = [lab.recorded(folder) for folder in nearest(folders, series.session)]
    return recorded, {name: Model(lab, series, recorded, times, name == "network") for name in ("system", "network")}


def uncorrected(lab, series, folders, measured):
    """Of each larger node count and model, what was simulated: without what the model missed on the smallest node count; 'unadjusted' also without its factor."""
    recorded, models = adjusted(lab, series, folders, measured.times(series, series.nodes[0]))
    found = {nodes: {name: summary([time for times in model.times(nodes) for time in times]) for name, model in models.items()} for nodes in series.nodes[1:]}
    for nodes, simulated in found.items():
        program = goal(PROGRAMS[series.collective], nodes, series.size, waits_ns(series.collective, nodes, series.size)[0])
        simulated["unadjusted"] = summary(lab.times(program, recorded[0].network.text(1.0), None, 1))
    return found


def predict(lab, series, folders, measured):
    """The predictions of one series for all node counts but the smallest, and what was adjusted."""
    first, times = series.nodes[0], measured.times(series, series.nodes[0])
    smallest, runs, step = summary(times), independent_runs(times), clock_step(times)
    recorded, models = adjusted(lab, series, folders, times)
    fitted = FittedModel(lab, series, recorded, times)
    found = {str(nodes): {**{name: predicted_by(model, smallest, nodes, runs, step, first) for name, model in models.items()},
                          "fitted": predicted_by_fit(fitted, nodes, runs, step, first)} for nodes in series.nodes[1:]}
    return {"machine": series.machine, "session": f"{series.session.parent.parent.name}/{series.session.name}", "collective": series.collective,
            "bytes": series.size, "smallest": {"nodes": first, "runs": len(times), "independent": round(runs, 1), "step_us": round(step, 4),
                                               **{name: float(f"{value:.5g}") for name, value in smallest.items()}},
            "recordings": [f"{r.folder.parent.parent.name}/{r.folder.name}" for r in recorded],
            "factors": {**{name: round(model.factor, 4) for name, model in models.items()}, "fitted": round(fitted.factor, 4)}, "predicted": found}
