"""A slow and obvious simulator of rules 1 to 8, 10, 11 and 16 of docs/explanation/semantics.md, written from that page alone.

SPDX-License-Identifier: BSD-3-Clause

simulate(case) gives the end of each rank in ps, or None in a deadlock. A case is what reference_cases.c writes:
  ranks, rendezvous ("ideal" or "rts-cts"), in_order (a program; else a graph);
  net: S, node_ranks, placement ("block", "round-robin" or the list of nodes), levels from inside out, each with ranks (of a
    group; the last level, the network itself, has none), L, o_s, o_r, g, G, O, device, segments (from, L, o_s, o_r, g, G, O);
  ops: of each rank its operations: kind (calc, send, recv, wait), n (ps or bytes), peer and tag (None: any), nonblocking,
    sync, phase, cpu, nic, requires (of a wait: its requests), irequires;
  delays: of each rank, of each of its sends, by how much the network delays data, request and answer (rule 16);
  series, instead of these, or None: delays and every of a recorded series, and of pairs of nodes [lower, higher, offset];
  detours: of each rank [start, end) in ps; extra: of each rank the work that noise and delays add to its compute phases.
Nothing is drawn here. One clock goes through all that happens, in the order of time.
"""

import bisect
import heapq
import itertools

DATA, REQUEST, ANSWER = range(3)  # what the network delays
HAPPEN, REACH, MATCH, SERVE = range(4)  # at one instant: ends and arrivals; receives are reached, wildcards matched; CPUs choose


class Noise:
    """finish(t, d) of rules 1 and 6, by going from detour to detour."""

    def __init__(self, detours):
        self.detours = []
        for start, end in sorted(detours):
            if self.detours and start <= self.detours[-1][1]:
                self.detours[-1][1] = max(end, self.detours[-1][1])
            elif end > start:
                self.detours.append([start, end])
        self.ends = [end for _, end in self.detours]

    def finish(self, t, work):
        if work == 0:
            return self.finish(t, 1) - 1
        for start, end in self.detours[bisect.bisect_right(self.ends, t):]:
            if start >= t + work:
                break
            work -= max(start - t, 0)
            t = end
        return t + work

    def compute(self, t, work):
        return self.finish(t, work) if work > 0 else t


class Cost:
    """What a message of some bytes costs at a level: rules 2, 3, 5 and 10."""

    def __init__(self, level, size, is_rts_cts, delay):
        first, L, o_s, o_r, g, G, O = [1] + [level[key] for key in ("L", "o_s", "o_r", "g", "G", "O")]
        for segment in level["segments"]:
            if size >= segment[0]:
                first, L, o_s, o_r, g, G, O = segment
        further = max(size - first, 0)
        cpu, transfer = (O * further + 500) // 1000, (G * further + 500) // 1000
        self.send, self.receive, self.gap, self.wire = o_s + cpu, o_r + cpu, g + transfer, L + transfer
        self.latency, self.control_cpu = level["L"], (level["o_r"], level["o_s"])
        self.is_rts_cts, self.delay, self.is_device = is_rts_cts, delay, level["device"]

    def arrival(self, t):
        """Of bytes that leave at t."""
        return t + self.wire + self.delay(DATA, t)

    def notice(self, t):
        """When the receiver knows of a rendezvous whose CPU part ends at t."""
        return t + self.latency + self.delay(REQUEST, t) if self.is_rts_cts else t

    def start(self, t):
        """Of a transfer, both sides of which are ready at t."""
        if not self.is_rts_cts:
            return t
        o_r, o_s = self.control_cpu
        return t + o_r + o_s + self.latency + o_r + self.delay(ANSWER, t + o_r + o_s)


class Net:
    """Rules 11 and 16."""

    def __init__(self, case):
        net, ranks = case["net"], case["ranks"]
        self.node_ranks = net["node_ranks"]
        self.S, self.levels, self.is_rts_cts = net["S"], net["levels"], case["rendezvous"] == "rts-cts"
        self.is_device = all(level["device"] for level in self.levels)
        size, placement = net["node_ranks"], net["placement"]
        self.places = list(range(ranks))
        if placement == "round-robin" and size:
            nodes = -(-ranks // size)
            self.places = [rank % nodes * size + rank // nodes for rank in range(ranks)]
        elif isinstance(placement, list):
            self.places = [node * size + placement[:rank].count(node) for rank, node in enumerate(placement[:ranks])]
        self.series = case["series"]
        self.offsets = {(low, high): offset for low, high, offset in self.series["offsets"]} if self.series else {}

    def delay(self, one, other, drawn):
        """By how much the network delays which part of a message that leaves at some time."""
        if not self.series:
            return lambda part, t: drawn[part]
        offset = self.offsets[tuple(sorted(self.places[rank] // max(self.node_ranks, 1) for rank in (one, other)))]
        delays, every = self.series["delays"], self.series["every"]
        return lambda part, t: delays[(offset + t) // every % len(delays)]

    def cost(self, one, other, size, drawn):
        for level in self.levels:
            is_noisy = one != other and not 0 < level["ranks"] <= self.node_ranks
            if not level["ranks"] or self.places[one] // level["ranks"] == self.places[other] // level["ranks"]:
                delay = self.delay(one, other, drawn) if is_noisy else lambda part, t: 0
                return Cost(level, size, self.is_rts_cts, delay)
        raise ValueError("no level")


class Message:
    """A send that has started; x, and the arrival of a rendezvous, are known once a receive has taken it."""

    def __init__(self, source, op, index, cost, is_rendezvous, cpu_end):
        self.source, self.index, self.tag, self.cost, self.is_rendezvous = source, index, op["tag"], cost, is_rendezvous
        self.arrival = None if is_rendezvous else cost.arrival(cpu_end)
        self.seen = cost.notice(cpu_end) if is_rendezvous else self.arrival
        self.x, self.partner = cpu_end, None


class Receive:
    def __init__(self, owner, op, index, posted):
        self.owner, self.index, self.peer, self.tag, self.posted = owner, index, op["peer"], op["tag"], posted
        self.partner = None

    def accepts(self, message):
        return self.peer in (None, message.source.number) and self.tag in (None, message.tag)


class Mail:
    """The messages for one rank, and its receives: rule 7."""

    def __init__(self, clock, ops):
        self.clock, self.sends, self.receives = clock, {}, {}
        self.is_wild = any(op["kind"] == "recv" and None in (op["peer"], op["tag"]) for op in ops)
        self.last_seen, self.sequence = {}, itertools.count()
        self.waiting_messages, self.waiting_receives = [], []

    def send(self, message):
        source = message.source.number
        if not self.is_wild:
            return self.join(self.sends, self.receives, (source, message.tag), message)
        message.seen = self.last_seen[source] = max(message.seen, self.last_seen.get(source, 0))
        if not message.is_rendezvous:
            message.arrival = message.seen
        order = (source, next(self.sequence))
        self.clock.at(message.seen, lambda: self.come(self.waiting_messages, message), HAPPEN, order)

    def post(self, receive):
        """When it is reached, which counts for matching; where it is posted counts in rule 5."""
        if not self.is_wild:
            return self.join(self.receives, self.sends, (receive.peer, receive.tag), receive)
        self.come(self.waiting_receives, receive)

    def join(self, own, others, key, item):
        """The k-th of one side meets the k-th of the other."""
        if others.get(key):
            other = others[key].pop(0)
            self.meet(*((item, other) if isinstance(item, Message) else (other, item)))
        else:
            own.setdefault(key, []).append(item)

    def come(self, waiting, item):
        waiting.append(item)
        self.clock.at(self.clock.now, self.match, MATCH)

    def match(self):
        """Oldest first on both sides, so it does not matter which side chooses."""
        for message in list(self.waiting_messages):
            receive = next((receive for receive in self.waiting_receives if receive.accepts(message)), None)
            if receive:
                self.waiting_messages.remove(message)
                self.waiting_receives.remove(receive)
                self.meet(message, receive)

    @staticmethod
    def meet(message, receive):
        message.partner, receive.partner = receive, message
        if message.is_rendezvous:
            message.x = message.cost.start(max(message.seen, receive.posted))
            message.arrival = message.cost.arrival(message.x)
        message.source.met(message)
        receive.owner.met(receive)


class Rank:
    """What programs and graphs share."""

    def __init__(self, simulation, number, case):
        self.simulation, self.clock, self.number, self.end = simulation, simulation.clock, number, 0
        self.ops, self.noise = case["ops"][number], Noise(case["detours"][number])
        self.send_gap, self.receive_gap = {}, {}  # by NIC
        extra = iter(case["extra"][number])
        delays = iter(case["delays"][number])
        self.delays = [next(delays) if op["kind"] == "send" else None for op in self.ops]
        self.work = [op["n"] + (next(extra) if op["phase"] else 0) if op["kind"] == "calc" else 0 for op in self.ops]

    def part(self, t, work, is_device):
        """Where a CPU part ends: rule 1."""
        return t if is_device and work == 0 else self.noise.finish(t, work)

    def posting(self, t):
        """When a receive is posted that the CPU reaches at t: rule 4."""
        return self.part(t, 0, self.simulation.net.is_device)

    def send(self, t, index):
        """Rule 2, on a CPU that takes it at t: the message, where it starts, and where its CPU part ends."""
        op, net = self.ops[index], self.simulation.net
        cost = net.cost(self.number, op["peer"], op["n"], self.delays[index])
        s = max(t, self.send_gap.get(op["nic"], 0))
        cpu_end = self.part(s, cost.send, cost.is_device)
        self.send_gap[op["nic"]] = s + cost.gap
        message = Message(self, op, index, cost, op["sync"] or op["n"] > net.S, cpu_end)
        self.simulation.mails[op["peer"]].send(message)
        return message, s, cpu_end

    def end_send(self, message):
        """Of a rendezvous, waited for: the NIC streams from x on."""
        if message.is_rendezvous:
            nic = self.ops[message.index]["nic"]
            self.send_gap[nic] = max(self.send_gap[nic], message.x + message.cost.gap)

    def serve_receive(self, t, receive):
        """Rule 3, on a CPU that is free at t."""
        nic, message = self.ops[receive.index]["nic"], receive.partner
        r = max(t, message.arrival, self.receive_gap.get(nic, 0))
        self.receive_gap[nic] = r + message.cost.gap
        return self.part(r, message.cost.receive, message.cost.is_device)


class Program(Rank):
    """Operations in order on one CPU: rules 1 to 5."""

    def begin(self):
        self.left, self.awaited = len(self.ops), []
        self.steps = self.run()
        self.clock.at(0, self.go_on)

    def go_on(self):
        """The CPU goes on: to an instant, or until all requests have met."""
        wanted = next(self.steps, None)
        if isinstance(wanted, int):
            self.clock.at(wanted, self.go_on)
        elif wanted is not None:
            self.awaited = wanted
            self.met(None)

    def met(self, _):
        if self.awaited and all(request.partner for request in self.awaited):
            self.awaited = []
            self.clock.at(self.clock.now, self.go_on)

    def run(self):
        t, requests = 0, {}
        for index, op in enumerate(self.ops):
            yield t
            if op["kind"] == "calc":
                t = self.noise.compute(t, self.work[index])
            elif op["kind"] == "send":
                requests[index], _, t = self.send(t, index)
            elif op["kind"] == "recv":
                requests[index] = Receive(self, op, index, self.posting(t))
                self.simulation.mails[self.number].post(requests[index])
            if op["kind"] == "wait" or op["kind"] != "calc" and not op["nonblocking"]:
                awaited = [requests.pop(k) for k in (op["requires"] if op["kind"] == "wait" else [index])]
                receives = [request for request in awaited if isinstance(request, Receive)]
                sends = [request for request in awaited if isinstance(request, Message)]
                yield receives + [send for send in sends if send.is_rendezvous] or t
                for receive in sorted(receives, key=lambda receive: (receive.partner.arrival, receive.index)):
                    t = self.serve_receive(t, receive)
                for send in sends:
                    t = max(t, send.x)
                    self.end_send(send)
            self.end, self.left = t, self.left - 1


class Graph(Rank):
    """Operations as what they require lets them, on several CPUs: rule 8."""

    def begin(self):
        self.left, self.is_busy = len(self.ops), {op["cpu"]: False for op in self.ops}
        self.missing = [len(op["requires"]) + len(op["irequires"]) for op in self.ops]
        self.queues = {cpu: [] for cpu in self.is_busy}  # of a CPU, by (ready time, program order)
        self.arrived, self.cause = {}, ()  # why receives are reached now, in the order of matching
        self.causes = {}  # of operations that something has let go: when, and the last of those at that instant
        for index in range(len(self.ops)):
            if self.missing[index] == 0:
                self.ready(index)

    def let_go(self, which, of):
        """What waited for the start ("irequires") or the end ("requires") of an operation."""
        for index, op in enumerate(self.ops):
            if of in op[which]:
                self.missing[index] -= 1
                when, cause = self.causes.get(index, (-1, ()))
                self.causes[index] = (self.clock.now, max(cause, self.cause) if when == self.clock.now else self.cause)
                if self.missing[index] == 0:
                    self.ready(index)

    def ready(self, index):
        cause = self.causes.get(index, (0, self.cause))[1]
        if self.ops[index]["kind"] == "recv":
            self.clock.at(self.clock.now, lambda: self.reach(index, cause), REACH, (cause, index))
        else:
            self.enqueue(index)

    def reach(self, index, cause):
        self.cause = cause
        self.simulation.mails[self.number].post(Receive(self, self.ops[index], index, self.posting(self.clock.now)))
        self.let_go("irequires", index)

    def met(self, request):
        index = request.index
        if isinstance(request, Receive):
            self.arrived[index] = request
            self.clock.at(max(self.clock.now, request.partner.arrival), lambda: self.enqueue(index))
        elif request.is_rendezvous:
            self.clock.at(request.x, lambda: (self.end_send(request), self.ended(index)))

    def enqueue(self, index):
        heapq.heappush(self.queues[self.ops[index]["cpu"]], (self.clock.now, index))
        self.clock.at(self.clock.now, self.choose, SERVE, (self.number,))

    def choose(self):
        """One CPU at a time, the first that is free and has something to do."""
        for cpu, queue in sorted(self.queues.items()):
            if queue and not self.is_busy[cpu]:
                self.is_busy[cpu] = True
                self.simulation.choices += 1
                self.start(heapq.heappop(queue)[1])
                return self.clock.at(self.clock.now, self.choose, SERVE, (self.number,))

    def start(self, index):
        op, now = self.ops[index], self.clock.now
        if op["kind"] == "calc":
            self.started(index)
            self.clock.at(self.noise.compute(now, self.work[index]), lambda: self.leave(index))
        elif op["kind"] == "recv":
            self.clock.at(self.serve_receive(now, self.arrived[index]), lambda: self.leave(index))
        else:  # waiting for its gap it holds its CPU
            message, s, cpu_end = self.send(now, index)
            self.clock.at(s, lambda: self.started(index))
            self.clock.at(cpu_end, lambda: self.leave(index, message.is_rendezvous))

    def started(self, index):
        self.cause = (self.simulation.choices,)
        self.let_go("irequires", index)

    def leave(self, index, is_waiting=False):
        self.is_busy[self.ops[index]["cpu"]] = False
        self.clock.at(self.clock.now, self.choose, SERVE, (self.number,))
        if not is_waiting:
            self.ended(index)

    def ended(self, index):
        self.end, self.left = max(self.end, self.clock.now), self.left - 1
        self.cause = (self.simulation.choices, index) if self.ops[index]["kind"] == "send" else (self.simulation.choices,)
        self.let_go("requires", index)


class Clock:
    """What happens, in the order of time; at one instant as said above."""

    def __init__(self):
        self.now, self.agenda, self.count = 0, [], itertools.count()

    def at(self, time, action, kind=HAPPEN, order=()):
        heapq.heappush(self.agenda, (time, kind, order, next(self.count), action))

    def run(self):
        while self.agenda:
            self.now, _, _, _, action = heapq.heappop(self.agenda)
            action()


class Simulation:
    def __init__(self, case):
        self.clock, self.net = Clock(), Net(case)
        self.choices = 0  # of CPUs of all ranks: one after the other, so their number orders what they cause
        self.mails = [Mail(self.clock, ops) for ops in case["ops"]]
        self.ranks = [(Program if case["in_order"] else Graph)(self, rank, case) for rank in range(case["ranks"])]


def simulate(case):
    simulation = Simulation(case)
    for rank in simulation.ranks:
        rank.begin()
    simulation.clock.run()
    return None if any(rank.left for rank in simulation.ranks) else [rank.end for rank in simulation.ranks]
