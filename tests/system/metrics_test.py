#!/usr/bin/env python3
"""Metrics of `watch` in a real Prometheus, straight and through node_exporter; rules, dashboard and service beside them.

SPDX-License-Identifier: BSD-3-Clause

Usage: metrics_test.py --idlewave PATH --bursts PATH
"""

import contextlib
import http.server
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

import jsonschema

from support import Skip, run_checks

ROOT = pathlib.Path(__file__).resolve().parents[2]
MONITORING = ROOT / "share/idlewave/monitoring"
SPIN = "while True: pass"
NOBODY = 65534


def needs(*programs):
    for program in programs:
        if shutil.which(program) is None:
            raise Skip(f"{program} is not there")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def fetch(url, accept="*/*"):
    with urllib.request.urlopen(urllib.request.Request(url, headers={"Accept": accept}), timeout=60) as answer:
        return answer.headers["Content-Type"], answer.read().decode()


def until(what, condition, seconds=240):
    """Waits for condition() to give something true, and gives it back; a busy machine may take long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError, KeyError, IndexError):
            found = condition()
            if found:
                return found
        time.sleep(0.2)
    raise AssertionError(f"{what}: not in {seconds} s")


@contextlib.contextmanager
def started(*command, **options):
    """A program that runs meanwhile; ended politely, with exit code 0 or by that signal."""
    with tempfile.TemporaryFile("w+") as output, \
            subprocess.Popen([*map(str, command)], stdout=output, stderr=subprocess.STDOUT, **options) as process:
        def check():
            if process.poll() is not None:
                output.seek(0)
                raise AssertionError(f"{command[0]} exits {process.returncode}: {output.read()}")

        process.check = check
        try:
            yield process
            check()
        finally:
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(120)
                except subprocess.TimeoutExpired:
                    process.kill()
    assert process.returncode in (0, -signal.SIGTERM), f"{command[0]} exits {process.returncode}"


def can_watch(idlewave, pid, folder):
    done = subprocess.run([idlewave, "watch", "--no-config", "--pid", str(pid), "--duration", "0.3s", "-o", folder / "try.h5"],
                          capture_output=True, text=True, check=False)
    if "watching needs" in done.stderr or "cannot watch" in done.stderr or "kernel refuses" in done.stderr:
        raise Skip(done.stderr.strip().splitlines()[-1])


# ---- what is installed ----

def rules_are_accepted_and_fire(_idlewave, _bursts, _folder):
    needs("promtool")
    for command in (["check", "rules", MONITORING / "idlewave.rules.yml"], ["test", "rules", ROOT / "tests/data/monitoring/rules_test.yml"]):
        done = subprocess.run(["promtool", *command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


# What Grafana asks of a dashboard in its classic form, as its own description (dashboard.cue) says.
SOURCE = {"type": "object", "required": ["type", "uid"], "properties": {"type": {"const": "prometheus"}, "uid": {"const": "${datasource}"}}}
DASHBOARD = {
    "type": "object",
    "required": ["uid", "title", "schemaVersion", "panels", "templating", "time"],
    "properties": {
        "id": {"type": "null"},
        "uid": {"type": "string", "pattern": "^[a-zA-Z0-9_-]{8,40}$"},
        "schemaVersion": {"type": "integer", "minimum": 36, "maximum": 39},
        "graphTooltip": {"enum": [0, 1, 2]},
        "panels": {"type": "array", "minItems": 5, "items": {
            "type": "object",
            "required": ["id", "type", "title", "datasource", "gridPos", "targets", "fieldConfig", "options"],
            "properties": {
                "id": {"type": "integer", "minimum": 1},
                "type": {"enum": ["stat", "timeseries", "heatmap"]},
                "datasource": SOURCE,
                "gridPos": {"type": "object", "required": ["h", "w", "x", "y"], "properties": {
                    "h": {"type": "integer", "minimum": 1}, "w": {"type": "integer", "minimum": 1, "maximum": 24},
                    "x": {"type": "integer", "minimum": 0, "maximum": 23}, "y": {"type": "integer", "minimum": 0}}},
                "targets": {"type": "array", "minItems": 1, "items": {
                    "type": "object", "required": ["refId", "expr", "datasource"], "properties": {
                        "refId": {"type": "string", "pattern": "^[A-Z]$"}, "expr": {"type": "string"}, "datasource": SOURCE,
                        "format": {"enum": ["time_series", "table", "heatmap"]}}}},
                "fieldConfig": {"type": "object", "required": ["defaults", "overrides"], "properties": {
                    "defaults": {"type": "object", "required": ["unit"], "properties": {
                        "color": {"type": "object", "required": ["mode"], "properties": {"mode": {"enum": ["thresholds", "palette-classic"]}}},
                        "thresholds": {"type": "object", "required": ["mode", "steps"], "properties": {
                            "mode": {"enum": ["absolute", "percentage"]},
                            "steps": {"type": "array", "minItems": 1, "items": {"type": "object", "required": ["color", "value"]}}}}}},
                    "overrides": {"type": "array"}}}}}},
        "templating": {"type": "object", "required": ["list"], "properties": {"list": {"type": "array", "items": {
            "type": "object", "required": ["type", "name", "query"], "properties": {
                "type": {"enum": ["query", "datasource"]}, "refresh": {"enum": [0, 1, 2]}, "hide": {"enum": [0, 1, 2]}}}}}},
        "annotations": {"type": "object", "required": ["list"], "properties": {"list": {"type": "array", "items": {
            "type": "object", "required": ["name", "datasource", "enable", "iconColor"]}}}},
    },
}


def dashboard():
    return json.loads((MONITORING / "idlewave-dashboard.json").read_text())


def the_dashboard_is_as_grafana_asks(_idlewave, _bursts, _folder):
    board = dashboard()
    jsonschema.validate(board, DASHBOARD)
    taken = {}
    for panel in board["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24, f"{panel['title']} is too wide"
        for cell in [(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])]:
            assert cell not in taken, f"{panel['title']} covers {taken[cell]}"
            taken[cell] = panel["title"]
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"]), "two panels have one number"
    known = {variable["name"] for variable in board["templating"]["list"]}
    for name in re.findall(r"\$\{?(\w+)", json.dumps(board)):
        assert name in known or name.startswith("__"), f"${name} is no variable"


def the_service_has_the_least_rights(idlewave, _bursts, folder):
    needs("systemd-analyze")
    template = (ROOT / "packaging/systemd/idlewave-watch.service.in").read_text()
    unit = folder / "idlewave-watch.service"
    unit.write_text(template.replace("@CMAKE_INSTALL_FULL_BINDIR@/idlewave", str(idlewave)).replace("Documentation=", "#"))
    done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "idlewave-watch" not in done.stderr, done.stderr
    done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--threshold=25", "--no-pager", unit], capture_output=True,
                          text=True, check=False)
    level = re.search(r"exposure level for .*: ([\d.]+)", done.stdout + done.stderr)
    assert done.returncode == 0 and level, done.stdout + done.stderr
    print(f"systemd-analyze security: {level[1]} of 10")


# ---- running ----

class MadeUp(http.server.BaseHTTPRequestHandler):
    """Nodes that want a CPU all the time: /bad loses 5 % of it, /good 0.05 %."""

    start = time.monotonic()

    def do_GET(self):  # pylint: disable=invalid-name
        seconds = time.monotonic() - self.start
        lost = seconds * (0.05 if self.path == "/bad" else 0.0005)
        text = f"""# TYPE idlewave_watch_wanted_seconds_total counter
idlewave_watch_wanted_seconds_total{{watched="jobs"}} {seconds}
# TYPE idlewave_watch_lost_seconds_total counter
idlewave_watch_lost_seconds_total{{watched="jobs",class="thread",source="backup"}} {0.9 * lost}
idlewave_watch_lost_seconds_total{{watched="jobs",class="irq",source="local_timer"}} {0.1 * lost}
"""
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass


@contextlib.contextmanager
def made_up_nodes():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), MadeUp) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()


class Prometheus:
    def __init__(self, folder, targets):
        """targets: name of the instance, port, path."""
        rules = (MONITORING / "idlewave.rules.yml").read_text()
        for before, after in (("[5m]", "[6s]"), ("[15m]", "[6s]"), ("for: 15m", "for: 1s")):
            rules = rules.replace(before, after)  # nobody waits a quarter of an hour here
        (folder / "rules.yml").write_text(rules)
        (folder / "prometheus.yml").write_text("\n".join(
            ["global: {scrape_interval: 1s, evaluation_interval: 1s}", "rule_files: [rules.yml]", "scrape_configs:"] +
            [f"  - {{job_name: {name}, metrics_path: {path}, static_configs: [{{targets: ['127.0.0.1:{port}'], labels: {{instance: {name}}}}}]}}"
             for name, port, path in targets]) + "\n")
        self.port = free_port()
        self.command = ["prometheus", f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={folder / 'data'}",
                        f"--web.listen-address=127.0.0.1:{self.port}", "--log.level=warn"]

    def get(self, what, **query):
        return json.loads(fetch(f"http://127.0.0.1:{self.port}/api/v1/{what}?{urllib.parse.urlencode(query)}")[1])["data"]

    def value(self, query):
        return [(sample["metric"], float(sample["value"][1])) for sample in self.get("query", query=query)["result"]]

    def all_targets_are_up(self):
        targets = self.get("targets")["activeTargets"]
        for target in targets:
            if target["lastError"]:  # one that was not answered in a second is asked again
                print(f"{target['labels']['instance']}: {target['lastError']}", flush=True)
        return targets and all(target["health"] == "up" for target in targets)


def check_endpoint(port):
    """Both formats, what is not there, and those who never ask."""
    url = f"http://127.0.0.1:{port}/metrics"
    kind, text = fetch(url)
    assert kind == "text/plain; version=0.0.4; charset=utf-8", kind
    lint = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False)
    assert lint.returncode == 0 and not lint.stderr, lint.stderr
    assert text.count("\n") < 400, f"{text.count(chr(10))} lines"
    kind, text = fetch(url, "application/openmetrics-text;version=1.0.0,text/plain;q=0.5")
    assert kind.startswith("application/openmetrics-text; version=1.0.0") and text.endswith("\n# EOF\n"), kind
    for bad, status in ((b"GET / HTTP/1.1\r\n\r\n", 404), (b"POST /metrics HTTP/1.1\r\n\r\n", 405), (b"GET /metricsx HTTP/1.0\r\n\r\n", 404),
                        (b"x" * 9000, 400), (b"\r\n\r\n", 405), (b"HEAD /metrics HTTP/1.1\r\n\r\n", 200)):
        with socket.create_connection(("127.0.0.1", port), 60) as client:
            client.sendall(bad)
            got = client.recv(12)
        assert got == b"HTTP/1.1 %d" % status, f"{bad[:40]} gets {got}"
    silent = socket.create_connection(("127.0.0.1", port), 60)  # must not keep others waiting for long
    before = time.monotonic()
    fetch(url)
    assert time.monotonic() - before < 30, "one who never asks keeps all others waiting"
    silent.close()


def check_alerts(prometheus):
    def noisy():
        return {alert["labels"]["instance"]: alert for alert in prometheus.get("alerts")["alerts"]
                if alert["labels"]["alertname"] == "IdlewaveNodeNoisy" and alert["state"] == "firing"}

    alert = until("the alarm of the bad node", lambda: noisy().get("bad"))
    assert "thread backup 4.5" in alert["annotations"]["description"], alert
    assert "good" not in noisy(), "the good node has an alarm"


def check_panels(prometheus):
    """Each query of the dashboard finds something."""
    for panel in dashboard()["panels"]:
        for target in panel["targets"]:
            query = re.sub(r"\$(instance|watched)", ".*", target["expr"].replace("$__rate_interval", "6s"))
            found = until(f"{panel['title']}: {query}", lambda query=query: prometheus.value(query))
            print(f"{panel['title']}: {len(found)} series")


def prometheus_scrapes_it_and_rules_fire(idlewave, _bursts, folder):
    needs("prometheus", "promtool", "prometheus-node-exporter", "setpriv")
    texts = folder / "texts"
    texts.mkdir()
    texts.chmod(0o777)
    program = folder / "idlewave"
    shutil.copy(idlewave, program)
    user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs", "--inh-caps=-all,+bpf,+perfmon",
            "--ambient-caps=-all,+bpf,+perfmon", "--bounding-set=-all,+bpf,+perfmon"] if os.geteuid() == 0 else []
    own, exporter = free_port(), free_port()
    with started(sys.executable, "-c", SPIN) as job, contextlib.ExitStack() as stack:
        can_watch(idlewave, job.pid, folder)
        watch = [program, "watch", "--no-config", "--pid", job.pid, "--metrics"]
        watchers = [stack.enter_context(started(*user, *watch, where, cwd=texts)) for where in (own, texts / "watch.prom")]
        made_up = stack.enter_context(made_up_nodes())
        stack.enter_context(started("prometheus-node-exporter", "--collector.disable-defaults", "--collector.textfile",
                                    f"--collector.textfile.directory={texts}", f"--web.listen-address=127.0.0.1:{exporter}"))
        until("the first values", lambda: [watcher.check() for watcher in watchers] and fetch(f"http://127.0.0.1:{own}/metrics")[1] and
              (texts / "watch.prom").exists())
        check_endpoint(own)
        prometheus = Prometheus(folder, [("own", own, "/metrics"), ("exporter", exporter, "/metrics"), ("bad", made_up, "/bad"),
                                         ("good", made_up, "/good")])
        stack.enter_context(started(*prometheus.command))
        until("all targets", prometheus.all_targets_are_up)
        for name in ("own", "exporter"):
            until(f"values of {name}", lambda name=name: prometheus.value(f'idlewave_watch_wanted_seconds_total{{instance="{name}"}} > 0.5'))
            assert prometheus.value(f'idlewave_watch_lost_seconds_total{{instance="{name}"}}'), f"{name} names no source"
        assert prometheus.get("metadata", metric="idlewave_watch_wanted_seconds_total")["idlewave_watch_wanted_seconds_total"], "no type"
        assert not prometheus.value("node_textfile_scrape_error > 0"), "node_exporter cannot read the file"
        check_alerts(prometheus)
        check_panels(prometheus)
    assert not list(texts.iterdir()), f"{list(texts.iterdir())} is left"


if __name__ == "__main__":
    sys.exit(run_checks(__doc__, [rules_are_accepted_and_fire, the_dashboard_is_as_grafana_asks, the_service_has_the_least_rights,
                                  prometheus_scrapes_it_and_rules_fire]))
