#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Packs an installed tree as a Python wheel, with the standard library and objdump alone.

    cmake/wheel.py TREE VERSION MACHINE FOLDER OBJDUMP    TREE is as cmake --install makes it; prints the wheel's path

pip puts data/scripts into bin/ and data/data into the environment itself, so that bin/, lib/ and share/ lie as in TREE
and gputrace finds its library beside it (cli/run/library.c).
"""
import base64
import hashlib
import pathlib
import re
import subprocess
import sys
import zipfile

# The C library's own files: all that PEP 600 lets a manylinux wheel need and that we could need.
LIBC = {"libc.so.6", "libm.so.6", "libdl.so.2", "librt.so.1", "libpthread.so.0", "ld-linux-x86-64.so.2"}
# A zip archive cannot be older; the same tree makes the same wheel.
MADE = (1980, 1, 1, 0, 0, 0)
METADATA = """\
Metadata-Version: 2.1
Name: gputrace
Version: {version}
Summary: Profiler and event tracer for NVIDIA GPUs
Author: The gputrace authors
License: Apache-2.0
License-File: LICENSE
Description-Content-Type: text/markdown

Records what an unchanged program does on NVIDIA GPUs: `gputrace run python3 train.py`. This wheel has the command, its
libraries, headers and documents, and the module `gputrace_device` for kernels of Triton. To record, a machine needs the
NVIDIA driver and a libcupti: that of the CUDA toolkit, or the one that PyTorch and JAX bring along.
"""
WHEEL = """\
Wheel-Version: 1.0
Generator: gputrace {version}
Root-Is-Purelib: false
Tag: py3-none-{platform}
"""


def is_elf(path):
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def platform(files, machine, objdump):
    """The platform tag: manylinux with the C library that the files need, linux where they need other libraries too."""
    needed, symbols = set(), set()
    for path in filter(is_elf, files):
        said = subprocess.run([objdump, "-p", path], check=True, capture_output=True, text=True).stdout
        needed.update(re.findall(r"^ +NEEDED +(\S+)", said, re.MULTILINE))
        symbols.update((int(major), int(minor)) for major, minor in re.findall(r"\bGLIBC_(\d+)\.(\d+)", said))
    if not symbols:
        sys.exit("wheel: nothing in the tree needs a C library")
    if needed - LIBC:
        return f"linux_{machine}"
    return "manylinux_{}_{}_{}".format(*max(symbols), machine)


def digest(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


class Wheel:
    """The archive, and the record of what is in it."""

    def __init__(self, path):
        self.archive = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.record = []

    def put(self, name, data, mode):
        entry = zipfile.ZipInfo(name, MADE)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = (0o100000 | mode) << 16
        self.archive.writestr(entry, data)

    def add(self, name, data, mode=0o644):
        self.put(name, data, mode)
        self.record.append(f"{name},{digest(data)},{len(data)}\n")

    def close(self, name):
        self.put(name, "".join([*self.record, f"{name},,\n"]), 0o644)
        self.archive.close()


def place(name):
    """Where in data/ a file of the tree goes."""
    return f"scripts/{name.name}" if name.parent.name == "bin" else f"data/{name}"


def main():
    tree, version, machine, folder, objdump = sys.argv[1:]
    tree = pathlib.Path(tree)
    files = sorted(path for path in tree.rglob("*") if path.is_file())
    tag = platform(files, machine, objdump)
    info = f"gputrace-{version}.dist-info"
    path = pathlib.Path(folder, f"gputrace-{version}-py3-none-{tag}.whl")
    wheel = Wheel(path)
    for file in files:
        name = place(file.relative_to(tree))
        wheel.add(f"gputrace-{version}.data/{name}", file.read_bytes(), 0o755 if file.stat().st_mode & 0o100 else 0o644)
    wheel.add("gputrace_device.py", (tree / "include/gputrace/gputrace_device.py").read_bytes())
    wheel.add(f"{info}/LICENSE", (tree / "share/doc/gputrace/LICENSE").read_bytes())
    wheel.add(f"{info}/METADATA", METADATA.format(version=version).encode())
    wheel.add(f"{info}/WHEEL", WHEEL.format(version=version, platform=tag).encode())
    wheel.close(f"{info}/RECORD")
    print(path)


main()
