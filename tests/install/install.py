#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The results of cmake --install and cpack are whole and run from where they are put.

    tests/install/install.py CMAKE BUILD [GROUP...]    groups: Install Package Symbols
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

CMAKE = pathlib.Path(sys.argv.pop(1))
BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
CPACK = CMAKE.parent / "cpack"
RECORDING = pathlib.Path(__file__).resolve().parent.parent / "golden" / "captures" / "h200-saxpy.gputrace"

FILES = ("bin/gputrace", "lib/libgputrace-injection.so", "lib/libgputrace-runtime.so",
         "include/gputrace/gputrace.h", "include/gputrace/runtime.h",
         "include/gputrace/device.cuh", "include/gputrace/device_events.h", "include/gputrace/device_layout.h",
         "include/gputrace/gputrace_device.py", "share/man/man1/gputrace.1",
         "share/man/man1/gputrace-run.1", "share/man/man1/gputrace-report.1", "share/man/man5/gputrace-report.5",
         "share/bash-completion/completions/gputrace", "share/fish/vendor_completions.d/gputrace.fish",
         "share/doc/gputrace/README.md", "share/doc/gputrace/LICENSE", "share/doc/gputrace/docs/reports/kernels.md")

# Ubuntu 22.04 has this C library, Debian 12 and Ubuntu 24.04 have newer ones.
OLDEST_LIBC = (2, 35)


def output(*command, **how):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **how)
    if done.returncode:
        raise AssertionError(f"{command}: {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def version():
    return re.search(r"CMAKE_PROJECT_VERSION:STATIC=(\S+)", (BUILD / "CMakeCache.txt").read_text())[1]


class Case(unittest.TestCase):
    def setUp(self):
        top = tempfile.TemporaryDirectory()
        self.addCleanup(top.cleanup)
        self.top = pathlib.Path(top.name)

    def check(self, root):
        """A tree that something was installed into."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GPUTRACE_")}
        for name in FILES:
            self.assertTrue((root / name).is_file(), name)
        gputrace = root / "bin" / "gputrace"
        self.assertEqual(output(gputrace, "--version"), f"gputrace {version()}\n")
        self.assertIn("saxpy", output(gputrace, "report", RECORDING))
        # The library that CUDA would load into the program is that of the tree.
        said = output(gputrace, "run", "printenv", "CUDA_INJECTION64_PATH", cwd=self.top, env=environment)
        self.assertEqual(said, f"{root.resolve()}/lib/libgputrace-injection.so\n")
        if shutil.which("cc"):
            self.check_header(root, gputrace, environment)

    def check_header(self, root, gputrace, environment):
        """A program compiled against the tree's header finds the tree's library."""
        program = self.top / "program"
        (self.top / "program.c").write_text("#include <gputrace/gputrace.h>\n"
                                            "int main(void) { return gputrace_is_recorded(); }\n")
        output("cc", "-I", root / "include", "-o", program, self.top / "program.c", "-ldl")
        output(program, cwd=self.top, env=environment)
        done = subprocess.run([gputrace, "run", "-q", "-o", "P", program], cwd=self.top, env=environment,
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (1, ""))


class Install(Case):
    def test_runs_from_the_folder_it_is_put_into(self):
        output(CMAKE, "--install", BUILD, "--prefix", self.top / "there")
        self.check(self.top / "there")
        self.assertTrue(list((self.top / "there" / "share" / "zsh").rglob("_gputrace")))

    @unittest.skipUnless(shutil.which("man"), "man is not installed")
    def test_has_pages_that_man_finds(self):
        output(CMAKE, "--install", BUILD, "--prefix", self.top / "there")
        for section, page in (("1", "gputrace"), ("1", "gputrace-run"), ("5", "gputrace-report")):
            found = output("man", "-M", self.top / "there" / "share" / "man", "-w", section, page)
            self.assertEqual(found.strip(), str(self.top / f"there/share/man/man{section}/{page}.{section}"))


class Package(Case):
    def pack(self, kind):
        output(CPACK, "--config", BUILD / "CPackConfig.cmake", "-G", kind, "-B", self.top / "packages", cwd=self.top)
        return next(path for path in (self.top / "packages").iterdir() if path.is_file())

    @unittest.skipUnless(shutil.which("dpkg-deb") and shutil.which("dpkg-shlibdeps"), "this is no Debian")
    def test_of_debian_is_whole(self):
        package = self.pack("DEB")
        self.assertRegex(package.name, rf"^gputrace_{version()}_\w+\.deb$")
        fields = dict(line.split(": ", 1) for line in output("dpkg-deb", "-f", package).splitlines()
                      if re.match(r"\S+: ", line))
        self.assertEqual((fields["Package"], fields["Version"]), ("gputrace", version()))
        libc = re.search(r"libc6 \(>= (\d+)\.(\d+)\)", fields["Depends"])
        self.assertIsNotNone(libc, fields["Depends"])
        if not is_newer_here():
            self.assertLessEqual((int(libc[1]), int(libc[2])), OLDEST_LIBC)
        output("dpkg-deb", "-x", package, self.top / "there")
        self.check(self.top / "there" / "usr")

    def test_of_any_system_is_whole(self):
        package = self.pack("TGZ")
        (self.top / "there").mkdir()
        output("tar", "-xzf", package, "-C", self.top / "there", "--strip-components=1")
        self.check(self.top / "there")


def is_newer_here():
    """Whether programs that are built here may need what the oldest system does not have."""
    found = re.search(r"(\d+)\.(\d+)", os.confstr("CS_GNU_LIBC_VERSION"))
    return (int(found[1]), int(found[2])) > (2, 36)


class Symbols(Case):
    @unittest.skipIf(is_newer_here(), "the C library here is newer than that of Debian 12")
    @unittest.skipUnless(shutil.which("objdump"), "objdump is not installed")
    def test_are_those_of_an_old_c_library(self):
        for name in ("bin/gputrace", "lib/libgputrace-injection.so"):
            needed = {(int(major), int(minor)) for major, minor in
                      re.findall(r"GLIBC_(\d+)\.(\d+)", output("objdump", "-T", BUILD / name))}
            self.assertTrue(needed, name)
            self.assertLessEqual(max(needed), OLDEST_LIBC, name)


unittest.main()
