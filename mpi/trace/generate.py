#!/usr/bin/env python3
"""Makes the tracer's wrappers from calls.txt and the prototypes of the installed mpi.h.

SPDX-License-Identifier: BSD-3-Clause

Usage: generate.py MPI PREPROCESSED_HEADER TABLE OUTPUT_FOLDER

Writes calls.h (numbers of calls), calls.c (their names), wrap_c.c (C binding) and wrap_f.c (Fortran bindings).
MPIX_X, an MPI's own extension, is what the table says of X: most became MPI_X later. A function that the table does not
know, of a newer MPI, is opaque: told when idlewave is built, and counted in traces.
Which Fortran symbols an MPI needs wrapped: Open MPI's mpi_x_ and mpi_x_f08_ do not come through the C functions;
MPICH's mpi_x_ and mpi_x_f08ts_ (those with buffers) do, its other mpi_x_f08_ do not.
"""

import fnmatch
import pathlib
import re
import sys

ROLES = {
    "-", "sbuf", "rbuf", "count", "rcount", "type", "rtype", "counts", "rcounts", "types", "rtypes", "peer", "rpeer",
    "tag", "rtag", "comm", "root", "request", "requests", "n", "status", "statuses", "flag", "index", "outcount",
    "indices", "message", "newcomm",
}
WITHOUT_ROLES = {"local", "special", "opaque", "plain"}
CLASSES = WITHOUT_ROLES | {
    "send", "isend", "send_init", "recv", "irecv", "recv_init", "sendrecv", "isendrecv", "poll", "mprobe", "mrecv",
    "imrecv", "start", "wait", "request_free", "cancel", "collective", "icollective", "pcollective", "comm", "icomm",
}
OTF2_ROLE = {
    "barrier": "BARRIER", "bcast": "COLL_ONE2ALL", "scatter": "COLL_ONE2ALL", "scatterv": "COLL_ONE2ALL",
    "gather": "COLL_ALL2ONE", "gatherv": "COLL_ALL2ONE", "reduce": "COLL_ALL2ONE",
}


class Wrong(Exception):
    """The table does not fit the header."""


class Entry:
    """One line of the table."""

    def __init__(self, line, number):
        words = line.split()
        self.number = number
        self.pattern = words[0]
        self.kind = words[1] if len(words) > 1 else ""
        self.detail = words[2] if len(words) > 2 else "-"
        self.roles = words[3:]
        unknown = set(self.roles) - ROLES
        if self.kind not in CLASSES or unknown:
            raise Wrong(f"calls.txt:{number}: unknown class or role: {self.kind} {' '.join(sorted(unknown))}")


class Function:
    """A function of the header: parameters as (type, name, dimensions)."""

    def __init__(self, name, result, parameters):
        self.name = name
        self.result = result
        self.parameters = parameters


def read_table(path):
    entries = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            entries.append(Entry(line, number))
    return entries


def split_parameter(text):
    """'const int counts[]' as ('const int', '[]')."""
    match = re.fullmatch(r"(.*?[\s*])(\w+)\s*((?:\[[^\]]*\]\s*)*)", text.strip(), re.S)
    if match is None:
        raise Wrong(f"parameter not understood: {text!r}")
    return " ".join(match.group(1).split()), match.group(3).strip()


def read_header(path):
    """All functions MPI_X and MPIX_X of a preprocessed mpi.h."""
    text = path.read_text(encoding="utf-8", errors="replace")
    text = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    attribute = re.compile(r"__attribute__\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)")
    text = attribute.sub(" ", text)
    functions = {}
    pattern = re.compile(r"(?:extern\s+)?\b((?:\w+\s+)+\**)\s*(MPIX?_[A-Z]\w*)\s*\(([^()]*)\)\s*;")
    for result, name, parameters in pattern.findall(text):
        if "typedef" in result.split() or name in functions:
            continue
        listed = [part for part in parameters.split(",") if part.strip() not in ("", "void")]
        if "..." in parameters:
            listed = []  # MPI_Pcontrol, wrapped by hand
        functions[name] = Function(name, " ".join(result.split()), [split_parameter(part) for part in listed])
    return functions


def entry_of(entries, name):
    """The line that fits; large-count forms are treated as the plain ones, names go before patterns."""
    short = name.split("_", 1)[1]
    forms = (short, short[:-2] if short.endswith("_c") else short)
    for entry in entries:
        if entry.pattern in forms:
            return entry
    for entry in entries:
        if fnmatch.fnmatchcase(short, entry.pattern):
            return entry
    return None


def classify(functions, entries):
    """[(function, entry)] of all functions, sorted by name; wrong tables raise. Guessed entries have the number 0."""
    pairs = []
    for name in sorted(functions):
        entry = entry_of(entries, name) or guess(functions[name])
        count = len(functions[name].parameters)
        if entry.kind not in WITHOUT_ROLES and len(entry.roles) != count:
            raise Wrong(f"calls.txt:{entry.number}: {name} has {count} parameters, {len(entry.roles)} are described")
        pairs.append((functions[name], entry))
    return pairs


def guess(function):
    """Of a function that no line names: whatever can fail may communicate."""
    return Entry(f"{function.name} {'opaque unknown' if function.result.split()[-1] == 'int' else 'local'}", 0)


class CBinding:
    """How the C wrappers get at arguments."""

    is_fortran = False

    def __init__(self, function, entry):
        self.function = function
        self.entry = entry
        self.place = {role: i for i, role in enumerate(entry.roles) if role != "-"}

    def has(self, role):
        return role in self.place

    def raw(self, role):
        return f"a{self.place[role]}"

    def number(self, role):
        return self.raw(role)

    def type(self, role):
        return self.raw(role)

    def comm(self, role="comm"):
        return self.raw(role)

    def out(self, role):
        """A handle or number behind a pointer."""
        return f"*{self.raw(role)}"

    def request(self):
        return self.out("request")

    def message(self):
        return self.out("message")

    def new_comm(self):
        return self.out("newcomm")

    def is_in_place(self, role):
        return f"{self.raw(role)} == MPI_IN_PLACE"

    def is_ignored(self, role):
        return f"{self.raw(role)} == {'MPI_STATUS_IGNORE' if role == 'status' else 'MPI_STATUSES_IGNORE'}"

    def counts(self, role):
        large = "MPI_Count" in self.function.parameters[self.place[role]][0]
        return f"{{.{'large' if large else 'ints'} = {self.raw(role)}}}"

    def types(self, role):
        return f"{{.c = {self.raw(role)}}}"

    def index(self):
        return self.out("index")

    def take(self, count, role):
        return f"iwi_request_batch_take(thread, {count}, {self.raw(role)});"

    def batch_status(self, role):
        return f"MPI_Status *status = iwi_request_batch_statuses(thread, {self.raw(role)}, {self.is_ignored(role)});"

    def statuses(self):
        return "(struct iwi_statuses){.c = status}"

    def own_status(self):
        return ["MPI_Status own;", f"MPI_Status *status = {self.is_ignored('status')} ? &own : {self.raw('status')};"]

    def read_status(self):
        return [], "status"

    def each(self, role, i):
        return f"{self.raw(role)}[{i}]"

    def each_request(self, role, i):
        return self.each(role, i)

    def each_index(self, role, i):
        return self.each(role, i)


class FBinding(CBinding):
    """How the Fortran wrappers do: everything is behind a pointer, handles are integers, indices count from 1."""

    is_fortran = True

    def number(self, role):
        return f"INT({self.raw(role)})"

    out = number

    def type(self, role):
        return f"MPI_Type_f2c({self.number(role)})"

    def comm(self, role="comm"):
        return f"MPI_Comm_f2c({self.number(role)})"

    def request(self):
        return f"MPI_Request_f2c({self.number('request')})"

    def message(self):
        return f"MPI_Message_f2c({self.number('message')})"

    def new_comm(self):
        return self.comm("newcomm")

    def is_in_place(self, role):
        return f"iwi_f_is_in_place({self.raw(role)})"

    def is_ignored(self, role):
        return f"iwi_f_is_ignored({self.raw(role)})"

    def counts(self, role):
        return f"{{.ints = {self.raw(role)}}}"

    def types(self, role):
        return f"{{.f = {self.raw(role)}}}"

    def index(self):
        return f"{self.number('index')} - iwi_f_first_index()"

    def take(self, count, role):
        return f"iwi_request_batch_take_f(thread, {count}, {self.raw(role)});"

    def batch_status(self, role):
        return f"MPI_Fint *status = iwi_request_batch_statuses_f(thread, {self.raw(role)}, {self.is_ignored(role)});"

    def statuses(self):
        return "(struct iwi_statuses){.f = status}"

    def own_status(self):
        return ["MPI_Status own;", f"void *status = {self.is_ignored('status')} ? &own : {self.raw('status')};"]

    def read_status(self):
        return ["MPI_Status read;", "(void)PMPI_Status_f2c(status, &read);"], "&read"

    def each(self, role, i):
        return f"((const MPI_Fint *){self.raw(role)})[{i}]"

    def each_request(self, role, i):
        return f"MPI_Request_f2c({self.each(role, i)})"

    def each_index(self, role, i):
        return f"{self.each(role, i)} - iwi_f_first_index()"


class Body:
    """The lines of a wrapper: before the call, after a call that succeeded, after one that failed."""

    def __init__(self):
        self.before, self.after, self.failed = [], [], []
        self.found = None  # of polls: the condition for having found something
        self.replaced = {}  # role: the argument to pass instead


def message_args(b, name, peer="peer", tag="tag", count="count", kind="type"):
    comm = b.comm() if b.has("comm") else "MPI_COMM_NULL"
    peer = b.number(peer) if b.has(peer) else "0"
    tag = b.number(tag) if b.has(tag) else "0"
    return f"const struct iwi_message_args {name} = {{{b.number(count)}, {b.type(kind)}, {peer}, {tag}, {comm}}};"


def recv_args(b):
    if b.entry.detail == "replace":
        return message_args(b, "recv", "rpeer", "rtag")
    return message_args(b, "recv", "rpeer", "rtag", "rcount", "rtype")


def mode(b):
    return f"IWI_SEND_{b.entry.detail.upper()}"


def body_send(b, body):
    body.after = [message_args(b, "args"), f"iwi_on_send(thread, &args, {mode(b)});"]


def body_isend(b, body):
    persistent = "true" if b.entry.kind == "send_init" else "false"
    body.after = [message_args(b, "args"), f"iwi_on_isend(thread, &args, {mode(b)}, {b.request()}, {persistent});"]


def body_recv(b, body):
    lines, status = b.read_status()
    body.before = b.own_status()
    body.replaced["status"] = "status"
    body.after = lines + [message_args(b, "args"), f"iwi_on_recv(thread, &args, {status});"]


def body_irecv(b, body):
    persistent = "true" if b.entry.kind == "recv_init" else "false"
    body.after = [message_args(b, "args"), f"iwi_on_irecv(thread, &args, {b.request()}, {persistent});"]


def body_sendrecv(b, body):
    lines, status = b.read_status()
    body.before = b.own_status()
    body.replaced["status"] = "status"
    body.after = lines + [message_args(b, "send"), recv_args(b), f"iwi_on_send(thread, &send, IWI_SEND_STANDARD);",
                          f"iwi_on_recv(thread, &recv, {status});"]


def body_isendrecv(b, body):
    body.after = [message_args(b, "send"), recv_args(b), f"iwi_on_isendrecv(thread, &send, &recv, {b.request()});"]


def body_poll(b, body):
    body.found = f"{b.out('flag')} != 0"


def body_mprobe(b, body):
    if b.entry.detail == "poll":
        body_poll(b, body)
    body.after = [f"iwi_on_mprobe(thread, {b.comm()}, {b.message()});"]


def body_mrecv(b, body):
    lines, status = b.read_status()
    body.before = [f"struct iwi_op *probed = iwi_message_take({b.message()});"] + b.own_status()
    body.replaced["status"] = "status"
    body.after = lines + [message_args(b, "args"), f"iwi_on_mrecv(thread, probed, &args, {status});"]


def body_imrecv(b, body):
    body.before = [f"struct iwi_op *probed = iwi_message_take({b.message()});"]
    body.after = [message_args(b, "args"), f"iwi_on_imrecv(thread, probed, &args, {b.request()});"]


def body_start(b, body):
    if b.entry.detail == "all":
        body.after = [f"for (int i = 0; i < {b.number('n')}; i++) {{",
                      f"    iwi_on_start(thread, {b.each_request('requests', 'i')});", "}"]
    else:
        body.after = [f"iwi_on_start(thread, {b.request()});"]


def body_wait(b, body):
    detail = b.entry.detail
    statuses = "statuses" if b.has("statuses") else "status"
    count, requests = (b.number("n"), "requests") if b.has("n") else ("1", "request")
    body.before = [b.take(count, requests), b.batch_status(statuses)]
    body.replaced[statuses] = "status"
    if detail in ("-", "test"):
        body.after = [f"iwi_request_batch_complete(thread, 0, {b.statuses()}, 0);"]
    elif detail in ("all", "testall"):
        body.after = [f"iwi_request_batch_complete_all(thread, {b.statuses()});"]
    elif detail in ("any", "testany"):
        body.after = [f"iwi_request_batch_complete(thread, {b.index()}, {b.statuses()}, 0);"]
    else:
        body.after = [f"for (int i = 0; i < {b.out('outcount')}; i++) {{",
                      f"    iwi_request_batch_complete(thread, {b.each_index('indices', 'i')}, {b.statuses()}, i);", "}"]
    body.after += ["iwi_request_batch_put_back(thread);"]
    body.failed = ["iwi_request_batch_forget(thread);"]
    if detail == "testsome":
        body.found = f"{b.out('outcount')} != 0"
    elif detail.startswith("test"):
        body_poll(b, body)


def body_request_free(b, body):
    body.before = [f"iwi_on_request_free({b.request()});"]


def body_cancel(b, body):
    body.before = [f"iwi_on_cancel({b.request()});"]


def body_collective(b, body):
    fields = [f".form = IWI_FORM_{b.entry.detail}", f".comm = {b.comm()}"]
    for role in ("sbuf", "rbuf"):
        if b.has(role):
            fields.append(f".is_{role}_in_place = {b.is_in_place(role)}")
    for role in ("count", "rcount", "root"):
        if b.has(role):
            fields.append(f".{role} = {b.number(role)}")
    for role in ("type", "rtype"):
        if b.has(role):
            fields.append(f".{role} = {b.type(role)}")
    for role in ("counts", "rcounts"):
        if b.has(role):
            fields.append(f".{role} = {b.counts(role)}")
    for role in ("types", "rtypes"):
        if b.has(role):
            fields.append(f".{role} = {b.types(role)}")
    body.after = ["const struct iwi_collective_args args = {" + ", ".join(fields) + "};"]
    if b.entry.kind == "collective":
        body.after.append("iwi_on_collective(thread, &args);")
    else:
        persistent = "true" if b.entry.kind == "pcollective" else "false"
        body.after.append(f"iwi_on_icollective(thread, &args, {b.request()}, {persistent});")


def body_comm(b, body):
    parent = b.comm() if b.has("comm") else "MPI_COMM_NULL"
    tag = b.number("tag") if b.has("tag") else "0"
    body.after = [f"iwi_on_comm(thread, IWI_MADE_BY_{b.entry.detail}, {parent}, {tag}, {b.new_comm()});"]


def body_icomm(b, body):
    made = f"NULL, {b.raw('newcomm')}" if b.is_fortran else f"{b.raw('newcomm')}, NULL"
    body.after = [f"iwi_on_icomm(thread, {b.comm()}, {made}, {b.request()});"]


BODIES = {
    "send": body_send, "isend": body_isend, "send_init": body_isend, "recv": body_recv, "irecv": body_irecv,
    "recv_init": body_irecv, "sendrecv": body_sendrecv, "isendrecv": body_isendrecv, "poll": body_poll,
    "mprobe": body_mprobe, "mrecv": body_mrecv, "imrecv": body_imrecv, "start": body_start, "wait": body_wait,
    "request_free": body_request_free, "cancel": body_cancel, "collective": body_collective,
    "icollective": body_collective, "pcollective": body_collective, "comm": body_comm, "icomm": body_icomm,
}


def body_of(b):
    body = Body()
    if b.entry.kind in BODIES:
        BODIES[b.entry.kind](b, body)
    return body


def indent(lines, depth=1):
    return [("    " * depth + line) for line in lines]


def after_call(body):
    """What follows the call, with `code` set."""
    lines = []
    if body.found is not None:
        lines += [f"if (code == MPI_SUCCESS && !({body.found})) {{"]
        lines += indent([line for line in body.after if "put_back" in line])
        lines += ["    iwi_leave_poll(thread);", "} else {", "    iwi_write_enter(thread);"]
        lines += indent(success_part(body)) + ["    iwi_leave(thread);", "}"]
    else:
        lines += success_part(body) + ["iwi_leave(thread);"]
    return lines


def success_part(body):
    if not body.after:
        return []
    lines = ["if (code == MPI_SUCCESS) {"] + indent(body.after)
    if body.failed:
        lines += ["} else {"] + indent(body.failed)
    return lines + ["}"]


def wrap_c(function, entry):
    b = CBinding(function, entry)
    body = body_of(b)
    short = function.name
    declared = ", ".join(f"{kind} a{i}{dims}" for i, (kind, dims) in enumerate(function.parameters)) or "void"
    plain = [f"a{i}" for i in range(len(function.parameters))]
    passed = list(plain)
    for role, argument in body.replaced.items():
        passed[b.place[role]] = argument
    lines = [f"IW_API int {short}({declared})", "{",
             f"    struct iwi_thread *thread = iwi_enter(IWI_CALL_{call_of(function)});", "",
             "    if (thread == NULL) {", f"        return P{short}({', '.join(plain)});", "    }"]
    if body.found is None:
        lines.append("    iwi_write_enter(thread);")
    lines += indent(body.before)
    lines += [f"    int code = P{short}({', '.join(passed)});"] + indent(after_call(body))
    return lines + ["    return code;", "}", ""]


def call_of(function):
    return function.name


def wrap_f(function, entry, families):
    """The Fortran wrappers of one function: a common body, and an entry for each family of symbols."""
    b = FBinding(function, entry)
    body = body_of(b)
    name = function.name.lower()
    count = len(function.parameters)
    strings = [i for i, (kind, _) in enumerate(function.parameters) if "char" in kind.split()]
    declared = ", ".join([f"void *a{i}" for i in range(count)] + ["MPI_Fint *ierr"] +
                         [f"size_t l{i}" for i in strings])
    plain = [f"a{i}" for i in range(count)] + ["ierr"] + [f"l{i}" for i in strings]
    passed = list(plain)
    for role, argument in body.replaced.items():
        passed[b.place[role]] = argument
    call = f"IWI_CALL_{call_of(function)}"
    lines = [f"typedef void next_{name}({declared});", "",
             f"static void any_{name}(next_{name} *next, {declared})", "{",
             f"    struct iwi_thread *thread = iwi_enter({call});", "    MPI_Fint own_error = MPI_SUCCESS;", "",
             "    ierr = ierr != NULL ? ierr : &own_error; /* optional in mpi_f08 */",
             "    if (thread == NULL) {", f"        next({', '.join(plain)});", "        return;", "    }"]
    if body.found is None:
        lines.append("    iwi_write_enter(thread);")
    lines += indent(body.before) + [f"    next({', '.join(passed)});"]
    after = after_call(body)
    if any("code" in line for line in after):
        lines.append("    int code = *ierr;")
    lines += indent(after) + ["}", ""]
    for family in families:
        lines += entry_f(name, family, declared, plain)
    return lines


def entry_f(name, family, declared, plain):
    """One symbol and its other spellings."""
    symbol = f"{name}_" if family == "plain" else f"{name}_f08_"
    lines = [f"IW_API void {symbol}({declared});", f"IW_API void {symbol}({declared})", "{",
             f"    static next_{name} *next;", "", "    if (next == NULL) {",
             f"        next = (next_{name} *)iwi_f_next(\"{symbol}\");", "    }",
             f"    any_{name}(next, {', '.join(plain)});", "}", ""]
    if family == "plain":
        for alias in (name, f"{name}__", name.upper()):
            lines.append(f"IW_API void {alias}({declared}) __attribute__((alias(\"{symbol}\")));")
        lines.append("")
    return lines


ADDRESS_ONLY = {"MPI_Buffer_detach", "MPI_Win_allocate", "MPI_Win_allocate_shared"}  # void *, but no buffer in Fortran


def has_buffer(function):
    return function.name not in ADDRESS_ONLY and any("void" in kind.split() for kind, _ in function.parameters)


def families_of(mpi, function):
    """Which Fortran symbols of a function do not come through its C wrapper."""
    if function.name.endswith("_c"):
        return []
    if mpi == "openmpi":
        return ["plain", "f08"]
    return [] if has_buffer(function) else ["f08"]


def digest(names):
    value = 14695981039346656037
    for byte in "\n".join(names).encode():
        value = (value ^ byte) * 1099511628211 % 2 ** 64
    return value


def role_of(entry):
    if entry.kind in ("collective", "icollective", "pcollective"):
        return OTF2_ROLE.get(entry.detail, "COLL_ALL2ALL")
    if entry.kind in ("comm", "icomm"):
        return "COLL_OTHER"
    if entry.kind == "opaque":
        return {"file": "FILE_IO", "one-sided": "RMA"}.get(entry.detail, "FUNCTION")
    if entry.kind == "special" or entry.detail == "other":
        return "FUNCTION"
    return "POINT2POINT"


def opaque_text(entry):
    """What it is, if it is not understood."""
    if entry.kind == "comm" and entry.detail == "foreign":
        return "process management"
    return entry.detail.replace("process-", "process ") if entry.kind == "opaque" else None


HEAD = "/* Made by mpi/trace/generate.py from calls.txt and mpi.h. */\n"


def write_calls(folder, traced):
    names = [function.name for function, _ in traced]
    lines = [HEAD + "#ifndef IWI_TRACE_CALLS_H", "#define IWI_TRACE_CALLS_H", "", "enum iwi_call {"]
    lines += [f"    IWI_CALL_{name}," for name in names] + ["    IWI_CALLS", "};", "", "#endif"]
    (folder / "calls.h").write_text("\n".join(lines) + "\n", encoding="utf-8")
    lines = [HEAD + '#include "mpi/trace/archive.h"', "", "const struct iwi_call_info iwi_calls[] = {"]
    for function, entry in traced:
        opaque = f'"{opaque_text(entry)}"' if opaque_text(entry) else "NULL"
        lines.append(f'    {{"{function.name}", {opaque}, OTF2_REGION_ROLE_{role_of(entry)}}},')
    lines += ["};", f"const unsigned iwi_call_count = {len(names)};",
              f"const uint64_t iwi_call_digest = UINT64_C({digest(names)});"]
    (folder / "calls.c").write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_wrappers(folder, mpi, traced):
    wrapped = [(function, entry) for function, entry in traced if entry.kind != "special"]
    head = HEAD + '#include <idlewave/status.h>\n\n#include "mpi/trace/tracer.h"\n\n#include "calls.h"\n' \
        '#include "include_mpi.h"\n'
    lines = [head]
    for function, entry in wrapped:
        lines += wrap_c(function, entry)
    (folder / "wrap_c.c").write_text("\n".join(lines), encoding="utf-8")
    lines = [head + '#include "mpi/trace/fortran.h"\n', "#define INT(pointer) (*(const MPI_Fint *)(pointer))", ""]
    for function, entry in wrapped:
        families = families_of(mpi, function)
        if families:
            lines += wrap_f(function, entry, families)
    (folder / "wrap_f.c").write_text("\n".join(lines), encoding="utf-8")


def main(arguments):
    if len(arguments) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    header, table = (pathlib.Path(path) for path in arguments[1:3])
    try:
        pairs = classify(read_header(header), read_table(table))
    except Wrong as error:
        print(f"generate.py: {error}", file=sys.stderr)
        return 1
    for function, entry in pairs:
        if entry.number == 0:
            print(f"generate.py: calls.txt has no line for {function.name}: taken as {entry.kind}", file=sys.stderr)
    folder = pathlib.Path(arguments[3])
    folder.mkdir(parents=True, exist_ok=True)
    traced = [(function, entry) for function, entry in pairs if entry.kind != "local"]
    write_calls(folder, traced)
    write_wrappers(folder, arguments[0], traced)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
