#!/usr/bin/env python3
"""Reads a trace by otf2-print into one line for each MPI call, as tests/mpi/programs/trace_expect.h writes them.

SPDX-License-Identifier: BSD-3-Clause

Usage: trace_events.py TRACE.otf2 LOCATION      prints the lines
"""

import re
import subprocess
import sys

EVENT = re.compile(r"^([A-Z_]+)\s+(\d+)\s+(\d+)\s*(.*)$")
ATTRIBUTE = re.compile(r'\("([^"]+)" <\d+>; \w+; ("[^"]*" <\d+>|[^)]*)\)')
CONTINUED = " " * 20


def otf2_print(anchor, *options):
    return subprocess.run(["otf2-print", *options, str(anchor)], check=True, capture_output=True, text=True).stdout


def communicators(anchor):
    """{number: members as text}."""
    groups, comms = {}, {}
    for line in otf2_print(anchor, "--show-global-defs").splitlines():
        words = line.split(None, 2)
        if not words or words[0] not in ("GROUP", "COMM", "INTER_COMM"):
            continue
        number = int(words[1])
        if words[0] == "GROUP":
            match = re.search(r"Members?: (.*)$", words[2])
            is_self = "COMM_SELF" in words[2]
            members = re.findall(r"(\d+) \(", match.group(1)) if match else []
            groups[number] = "self" if is_self else ",".join(members)
        else:
            referred = [int(found) for found in re.findall(r"Group(?: [AB])?: (?:\"[^\"]*\" )?<(\d+)>", words[2])]
            comms[number] = "|".join(groups[group] for group in referred)
    return comms


class Event:
    def __init__(self, kind, location, time, text):
        self.kind, self.location, self.time, self.text = kind, int(location), int(time), text
        self.attributes = {}

    def field(self, name):
        """The number after 'name:', or a word."""
        match = re.search(rf"{name}: (?:\"[^\"]*\" )?<?([-\w]+)>?", self.text)
        return match.group(1) if match else None

    def region(self):
        return re.search(r'Region: "([^"]+)"', self.text).group(1)

    def attribute(self, name):
        return self.attributes.get("idlewave." + name)

    def attribute_comm(self, name):
        match = re.search(r"<(\d+)>", self.attribute(name) or "")
        return int(match.group(1)) if match else None


def events(anchor, location):
    found = []
    for line in otf2_print(anchor, "-L", str(location)).splitlines():
        match = EVENT.match(line)
        if match:
            found.append(Event(*match.groups()))
        elif line.startswith(CONTINUED) and found:
            found[-1].attributes.update((name, value) for name, value in ATTRIBUTE.findall(line))
    return found


class Describer:
    """Events of a location as lines; requests are numbered in the order of their starts."""

    def __init__(self, comms):
        self.comms = comms
        self.numbers = {}

    def comm(self, event):
        return self.comms[int(event.field("Communicator"))]

    def request(self, event):
        return f"#{self.numbers.setdefault(event.field('Request'), len(self.numbers) + 1)}"

    def message(self, word, event, peer, *more):
        return " ".join([word, event.field(peer), event.field("Tag"), event.field("Length"), self.comm(event), *more])

    def posted(self, event):
        parts = []
        if event.attribute("posted_source") is not None:
            parts.append(f"posted={event.attribute('posted_source')},{event.attribute('posted_tag')}")
        if event.attribute("posted_bytes") is not None:
            parts.append(f"room={event.attribute('posted_bytes')}")
        return parts

    @staticmethod
    def mode(event):
        return [f"mode={event.attribute('mode')}"] if event.attribute("mode") else []

    @staticmethod
    def root(event):
        root = event.field("Root")
        return "root=" + ("-" if root == "NONE" else root.lower())

    def made(self, event):
        comm = event.attribute_comm("new_comm")
        return [f"new={self.comms[comm]}"] if comm is not None else []

    @staticmethod
    def bytes(event):
        return [f"bytes={event.attribute('bytes')}"] if event.attribute("bytes") else []

    def item(self, event):
        """None: nothing to tell."""
        kind = event.kind
        if kind == "MPI_SEND":
            return self.message("send", event, "Receiver", *self.mode(event))
        if kind == "MPI_RECV":
            return self.message("recv", event, "Sender", *self.posted(event))
        if kind == "MPI_ISEND":
            return self.message("isend", event, "Receiver", self.request(event), *self.mode(event))
        if kind == "MPI_IRECV":
            return self.message("irecv", event, "Sender", self.request(event))
        if kind == "MPI_IRECV_REQUEST":
            return " ".join(["irecv_request", event.attribute("posted_source"), event.attribute("posted_tag"),
                             event.attribute("posted_bytes"), self.comms[event.attribute_comm("comm") or 0],
                             self.request(event)])
        if kind == "MPI_ISEND_COMPLETE":
            return f"isend_complete {self.request(event)}"
        if kind == "MPI_REQUEST_CANCELLED":
            return f"cancelled {self.request(event)}"
        if kind == "MPI_COLLECTIVE_END":
            return " ".join(["collective", event.field("Operation"), self.comm(event), self.root(event),
                             event.field("Sent"), event.field("Received"), *self.bytes(event), *self.made(event)])
        if kind == "NON_BLOCKING_COLLECTIVE_REQUEST":
            return " ".join(["icollective", self.comms[event.attribute_comm("comm") or 0], self.request(event),
                             *self.bytes(event)])
        if kind == "NON_BLOCKING_COLLECTIVE_COMPLETE":
            return " ".join(["icollective_complete", event.field("Operation"), self.comm(event), self.root(event),
                             event.field("Sent"), event.field("Received"), self.request(event), *self.made(event)])
        if kind == "MEASUREMENT_ON_OFF":
            return "on" if event.text.endswith("ON") else "off"
        if kind != "MPI_COLLECTIVE_BEGIN":
            raise AssertionError(f"unexpected event {kind} {event.text}")
        return None


def calls(anchor, location):
    """[(line, Enter, Leave)]; checks that calls do not nest and times do not decrease."""
    describer = Describer(communicators(anchor))
    found, items, enter, last = [], [], None, 0
    for event in events(anchor, location):
        assert event.time >= last, f"time goes back at {event.kind} {event.text}"
        last = event.time
        if event.kind == "ENTER":
            assert enter is None, "calls nest"
            enter, items = event, []
        elif event.kind == "LEAVE":
            assert enter is not None and enter.region() == event.region(), "Leave without its Enter"
            line = enter.region() + (": " + "; ".join(items) if items else "")
            found.append((line, enter, event))
            enter = None
        else:
            item = describer.item(event)
            if item is not None and enter is None:
                found.append((item, event, event))
            elif item is not None:
                items.append(item)
    assert enter is None, "the last call has no Leave"
    return found


def lines(anchor, location):
    return [line for line, _, _ in calls(anchor, location)]


if __name__ == "__main__":
    for text in lines(sys.argv[1], int(sys.argv[2])):
        print(text)
