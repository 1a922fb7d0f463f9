#!/usr/bin/env python3
"""`idlewave get` against a real HTTP server: fetches what is asked for and nothing else, and keeps nothing that is damaged.

SPDX-License-Identifier: BSD-3-Clause

Usage: get_test.py IDLEWAVE SOURCE_DIR
"""

import contextlib
import functools
import hashlib
import http.server
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import unittest

IDLEWAVE, SOURCE = sys.argv[1:3]
NET = "L: 1us\no: 1us\ng: 1us\nG: 1ns\n"


class Handler(http.server.SimpleHTTPRequestHandler):
    asked = []
    sent = 0

    def do_GET(self):
        Handler.asked.append(self.path)
        if self.path.endswith("/endless.yaml"):  # without saying how much will come
            self.protocol_version = "HTTP/1.1"
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            with contextlib.suppress(OSError):
                for _ in range(1024):
                    self.wfile.write(b"10000\r\n" + b"x" * 65536 + b"\r\n")
                    Handler.sent += 65536
                self.wfile.write(b"0\r\n\r\n")
            self.close_connection = True
            return
        if self.path.endswith("/leaves.yaml"):  # to another protocol
            self.send_response(302)
            self.send_header("Location", "file:///etc/hostname")
            self.end_headers()
            return
        super().do_GET()

    def log_message(self, *_):
        pass


def entry(name, file, text):
    return (f"- {{name: {name}, kind: net, file: {file}, bytes: {len(text)}, sha256: {hashlib.sha256(text.encode()).hexdigest()}, "
            "about: a network, licence: CC0-1.0, origin: this test, made: by hand}\n")


class Get(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="iw_get_")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.served, self.home, self.tmp = (self.folder / name for name in ("served", "home", "tmp"))
        for folder in (self.served / "net", self.home, self.tmp):
            folder.mkdir(parents=True)
        for name in ("mine", "other"):
            (self.served / "net" / f"{name}.yaml").write_text(NET, encoding="utf-8")
        self.write_index(entry("mine", "net/mine.yaml", NET) + entry("other", "net/other.yaml", NET))
        Handler.asked.clear()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=self.served))
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def write_index(self, entries):
        (self.served / "index.yaml").write_text("format: idlewave.collection/1\nentries:\n" + entries, encoding="utf-8")

    def run_it(self, *words, exit_code=0, **environment):
        settings = dict(os.environ, XDG_DATA_HOME=str(self.home), TMPDIR=str(self.tmp), IDLEWAVE_CONFIG="", no_proxy="*")
        settings.update(environment)
        done = subprocess.run([IDLEWAVE, *words], env=settings, cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, exit_code, done.stderr)
        self.assertEqual(list(self.tmp.iterdir()), [], "something was left in the temporary folder")
        return done.stdout + done.stderr

    def kept(self):
        return sorted(str(path.relative_to(self.home)) for path in self.home.rglob("*") if path.is_file())

    def test_what_is_asked_for_is_fetched_and_has_its_name(self):
        said = self.run_it("get", "mine", "--from", self.url)
        self.assertIn("'--net mine' takes", said)
        self.assertIn("origin   this test", said)
        self.assertEqual(self.kept(), ["idlewave/.lock", "idlewave/index.yaml", "idlewave/net/mine.yaml"])
        self.assertEqual(Handler.asked, ["/index.yaml", "/net/mine.yaml"])
        self.assertIn("takes 3.000 us", self.run_it("simulate", "--pattern", "barrier:dissemination", "--ranks", "2", "--net", "mine", "--bytes", "1"))
        self.run_it("get", "mine", "--from", self.url)  # is here
        self.assertEqual(len(Handler.asked), 2, "asked for what was there")

    def test_the_site_says_where_from_and_a_folder_will_do(self):
        (self.folder / "site.conf").write_text(f"[get]\nfrom = {self.served}/absent {self.url}\n", encoding="utf-8")
        self.assertIn("cannot read", self.run_it("get", "mine", "--config", "site.conf", exit_code=1))
        (self.folder / "site.conf").write_text(f"[get]\nfrom = {self.url}/, {self.served}\n", encoding="utf-8")
        self.run_it("get", "mine", "--config", "site.conf")
        self.run_it("get", "other", "--from", str(self.served))
        self.assertEqual(Handler.asked, ["/index.yaml", "/net/mine.yaml"])
        self.assertIn("net/other.yaml", self.run_it("get", "other", "--path"))

    def test_other_bytes_are_refused(self):
        for text in (NET.replace("1us", "2us"), NET + "\n", NET[:-1], ""):
            (self.served / "net" / "mine.yaml").write_text(text, encoding="utf-8")
            self.run_it("get", "mine", "--from", self.url, exit_code=1)
            self.assertEqual(self.kept(), [])
        self.write_index(entry("mine", "net/mine.yaml", "L: bad\n"))  # what it says, but no network
        (self.served / "net" / "mine.yaml").write_text("L: bad\n", encoding="utf-8")
        self.run_it("get", "mine", "--from", self.url, exit_code=1)
        self.assertEqual(self.kept(), [])

    def test_servers_cannot_lead_elsewhere(self):
        self.write_index(entry("mine", "net/leaves.yaml", NET))
        self.assertIn("cannot fetch", self.run_it("get", "mine", "--from", self.url, exit_code=1))
        self.write_index(entry("mine", "../mine.yaml", NET))
        self.assertIn("a path below", self.run_it("get", "mine", "--from", self.url, exit_code=1))
        self.assertEqual(self.kept(), [])

    def test_no_more_comes_than_the_index_says(self):
        self.write_index(entry("mine", "net/endless.yaml", NET))
        sizes = []

        def look():
            while not done.wait(0.005):
                sizes.extend(path.stat().st_size for path in self.tmp.rglob("endless.yaml"))

        done, watcher = threading.Event(), threading.Thread(target=look)
        watcher.start()
        said = self.run_it("get", "mine", "--from", self.url, exit_code=1)
        done.set()
        watcher.join()
        self.assertIn(f"has more than {len(NET)} bytes", said)
        self.assertLessEqual(max(sizes, default=0), len(NET))
        self.assertEqual(self.kept(), [])

    def test_servers_say_nothing_to_terminals(self):
        self.write_index(entry("mine", "net/mine.yaml", NET).replace("about: a network", 'about: "a \\e]0;owned\\a net\\nwork"').replace(
            "origin: this test", 'origin: "\\x9b31mred"'))
        for words in (("--offer",), ("mine",), ()):
            said = self.run_it("get", *words, "--from", self.url)
            self.assertFalse({c for c in said if (ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160}, said)
            self.assertIn("a ?]0;owned? net work", said)

    def test_many_at_once_lose_nothing(self):
        names = [f"net-{i}" for i in range(20)]
        self.write_index("".join(entry(name, "net/mine.yaml", NET) for name in names))
        settings = dict(os.environ, XDG_DATA_HOME=str(self.home), TMPDIR=str(self.tmp), IDLEWAVE_CONFIG="", no_proxy="*")
        running = [subprocess.Popen([IDLEWAVE, "get", name, "--from", str(self.served)], env=settings, cwd=self.folder,
                                    stdout=subprocess.DEVNULL) for name in names]
        self.assertEqual([process.wait() for process in running], [0] * len(names))
        index = (self.home / "idlewave/index.yaml").read_text(encoding="utf-8")
        self.assertEqual([name for name in names if f"name: {name}\n" not in index], [])

    def test_what_is_missing_is_said(self):
        self.assertIn("no collection in", self.run_it("get", "nothing", "--from", self.url, exit_code=1))
        self.assertIn("no collection was given", self.run_it("get", "nothing", exit_code=1))
        self.assertIn("curl", self.run_it("get", "mine", "--from", self.url + "/absent", exit_code=1))
        self.assertIn("install curl", self.run_it("get", "mine", "--from", self.url, exit_code=1, PATH="/nowhere"))

    def test_offers_are_listed_and_not_fetched(self):
        self.assertIn("net    other", self.run_it("get", "--offer", "--from", self.url))
        self.assertEqual(Handler.asked, ["/index.yaml"])
        self.assertEqual(self.kept(), [])

    def test_the_installed_collection_is_in_order(self):
        self.assertRegex(self.run_it("get", "check", str(pathlib.Path(SOURCE) / "share" / "idlewave")), r"All \d+ entries")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
