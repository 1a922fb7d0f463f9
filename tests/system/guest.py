"""A Linux guest in QEMU with a few programs of this machine, for kernels that this machine does not run.

SPDX-License-Identifier: BSD-3-Clause

    guest = Guest(kernel_image(folder), folder)
    guest.add_program("/usr/bin/rtla")
    files = guest.run("rtla osnoise top -q > /out/top.txt", seconds=300)
    files["top.txt"]

The guest has no network and no disk: everything comes in an initramfs, and what the script leaves in /out comes
back over a serial line. It is emulated, not virtualised, so that it runs everywhere; its times mean nothing.
"""

import base64
import gzip
import io
import os
import pathlib
import re
import shutil
import stat
import subprocess
import tarfile

QEMU = "qemu-system-x86_64"
BUSYBOX = "busybox"
FOLDERS = ("bin", "dev", "proc", "sys", "tmp", "out", "etc")

# The shell's own exit code is of no interest: what is missing in /out will be missed there.
INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin:/usr/bin:/usr/local/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /tmp
mount -t debugfs debugfs /sys/kernel/debug
mount -t tracefs tracefs /sys/kernel/tracing
cd /tmp
sh -x /script
stty -F /dev/ttyS1 raw
tar c -C /out . | gzip | base64 > /dev/ttyS1
echo end-of-files > /dev/ttyS1
poweroff -f
"""


class Missing(Exception):
    """Something that the guest needs is not on this machine."""


def newest_kernel_package():
    """The newest real-time kernel that apt knows; Debian's other kernels have no osnoise tracer."""
    done = subprocess.run(["apt-cache", "search", "--names-only", r"^linux-image-[0-9].*-rt-amd64(-unsigned)?(-dbg)?$"],
                          capture_output=True, text=True, check=False)
    # The list may name only the debug packages; those without "-dbg" are what we want.
    names = {re.sub(r"(-unsigned)?(-dbg)?$", "", line.split()[0]) for line in done.stdout.splitlines()}
    if not names:
        raise Missing("apt knows no real-time kernel")
    return max(names, key=lambda name: [int(number) for number in re.findall(r"\d+", name)])


def kernel_image(folder):
    """The path of a kernel image, downloaded into `folder` unless it is there; nothing is installed."""
    there = sorted(pathlib.Path(folder).glob("boot/vmlinuz-*"))
    if there:
        return there[-1]
    if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        raise Missing("no apt-get or dpkg-deb here to get a kernel")
    name = newest_kernel_package()
    done = subprocess.run(["apt-get", "download", "-q", name], cwd=folder, capture_output=True, text=True, check=False)
    packages = sorted(pathlib.Path(folder).glob(f"{name}_*.deb"))
    if not packages:
        raise Missing(f"apt-get does not download {name}: {done.stderr.strip()}")
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", packages[-1]], stdout=subprocess.PIPE) as unpacking:
        subprocess.run(["tar", "x", "-C", folder, "./boot"], stdin=unpacking.stdout, check=True)
    packages[-1].unlink()
    return sorted(pathlib.Path(folder).glob("boot/vmlinuz-*"))[-1]


def shared_libraries(program):
    """The libraries that a program loads, its loader too; none if it is linked statically."""
    done = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    return re.findall(r"(?:=> |^\s+)(/\S+) \(0x", done.stdout, re.MULTILINE)


class Initramfs:
    """A cpio archive of format newc, as the kernel unpacks it."""

    def __init__(self):
        self.archive = io.BytesIO()
        self.names = set()

    def add(self, name, mode, content=b""):
        name = name.strip("/")
        if name in self.names:
            return
        folder = os.path.dirname(name)
        if folder:
            self.add(folder, stat.S_IFDIR | 0o755)
        self.names.add(name)
        self._entry(name, mode, content)

    def finish(self):
        self._entry("TRAILER!!!", 0, b"")
        return gzip.compress(self.archive.getvalue(), compresslevel=1)

    def _entry(self, name, mode, content):
        encoded = name.encode() + b"\0"
        # inode, mode, uid, gid, links, mtime, size, 4 device numbers, length of the name, checksum
        fields = (len(self.names), mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(encoded), 0)
        self.archive.write(b"070701" + b"".join(b"%08X" % field for field in fields) + encoded)
        self._pad()
        self.archive.write(content)
        self._pad()

    def _pad(self):
        self.archive.write(b"\0" * (-self.archive.tell() % 4))


class Guest:
    def __init__(self, kernel, folder):
        for program in (QEMU, BUSYBOX):
            if not shutil.which(program):
                raise Missing(f"there is no {program} here")
        if shared_libraries(shutil.which(BUSYBOX)):
            raise Missing("busybox is not linked statically (package busybox-static)")
        self.kernel = kernel
        self.folder = pathlib.Path(folder)
        self.initramfs = Initramfs()
        for name in FOLDERS:
            self.initramfs.add(name, stat.S_IFDIR | 0o755)
        self.add_file("/bin/busybox", pathlib.Path(shutil.which(BUSYBOX)).read_bytes())
        self.add_file("/init", INIT.encode())

    def add_file(self, name, content):
        self.initramfs.add(name, stat.S_IFREG | 0o755, content)

    def add_program(self, program):
        """With its libraries; found in /usr/local/bin of the guest."""
        path = shutil.which(program)
        if not path:
            raise Missing(f"there is no {program} here")
        self.add_file(f"/usr/local/bin/{os.path.basename(path)}", pathlib.Path(path).read_bytes())
        for library in shared_libraries(path):
            self.add_file(library, pathlib.Path(library).read_bytes())

    def run(self, script, seconds):
        """The files that the script has left in /out, by name. Once for each guest."""
        self.add_file("/script", script.encode())
        initramfs, files = self.folder / "initramfs.gz", self.folder / "files.base64"
        initramfs.write_bytes(self.initramfs.finish())
        command = [QEMU, "-accel", "tcg", "-cpu", "max", "-m", "1024", "-smp", "2", "-display", "none", "-nic", "none",
                   "-no-reboot", "-kernel", self.kernel, "-initrd", initramfs,
                   "-append", "console=ttyS0 quiet panic=-1 tsc=reliable mitigations=off",
                   "-monitor", "none", "-serial", f"file:{self.folder / 'console.txt'}", "-serial", f"file:{files}"]
        try:
            subprocess.run(command, stdin=subprocess.DEVNULL, timeout=seconds, check=True)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"the guest did not end within {seconds} s; its console:\n{self.console()}") from None
        return self._unpack(files.read_text())

    def console(self):
        return (self.folder / "console.txt").read_text(errors="replace")

    def _unpack(self, text):
        assert text.rstrip().endswith("end-of-files"), f"the guest broke off; its console:\n{self.console()}"
        archive = base64.b64decode(text.replace("end-of-files", ""))
        found = {}
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            for member in tar:
                if member.isfile():
                    found[member.name.removeprefix("./")] = tar.extractfile(member).read()
        return found
