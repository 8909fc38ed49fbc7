#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The results of cmake --install and cpack are whole and run from where they are put.

    tests/install/install.py CMAKE BUILD [GROUP...]    groups: Install Package Wheel Symbols
"""
import base64
import csv
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

CMAKE = pathlib.Path(sys.argv.pop(1))
BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
CPACK = CMAKE.parent / "cpack"
RECORDING = pathlib.Path(__file__).resolve().parent.parent / "golden" / "captures" / "h200-saxpy.gputrace"

FILES = ("bin/gputrace", "lib/libgputrace-injection.so", "lib/libgputrace-end.so", "lib/libgputrace-runtime.so",
         "include/gputrace/gputrace.h", "include/gputrace/runtime.h",
         "include/gputrace/device.cuh", "include/gputrace/device_events.h", "include/gputrace/device_layout.h",
         "include/gputrace/gputrace_device.py", "share/man/man1/gputrace.1",
         "share/man/man1/gputrace-run.1", "share/man/man1/gputrace-report.1", "share/man/man5/gputrace-report.5",
         "share/bash-completion/completions/gputrace", "share/fish/vendor_completions.d/gputrace.fish",
         "share/doc/gputrace/README.md", "share/doc/gputrace/LICENSE", "share/doc/gputrace/docs/reports/kernels.md",
         "share/doc/gputrace/docs/rollout/slurm-task-prolog.sh", "share/doc/gputrace/docs/rollout/kubernetes.yaml")

# Red Hat Enterprise Linux 9 has this C library; Ubuntu 22.04, Debian 12 and later ones have newer ones.
OLDEST_LIBC = (2, 34)


def output(*command, **how):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **how)
    if done.returncode:
        raise AssertionError(f"{command}: {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def needed_libc(path):
    """The newest version of the C library that has a symbol the file needs."""
    return max(((int(major), int(minor)) for major, minor in
                re.findall(r"GLIBC_(\d+)\.(\d+)", output("objdump", "-T", path))), default=None)


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


class Packed(Case):
    def pack(self, kind, ending):
        output(CPACK, "--config", BUILD / "CPackConfig.cmake", "-G", kind, "-B", self.top / "packages", cwd=self.top)
        return next((self.top / "packages").glob(f"*{ending}"))


class Package(Packed):
    @unittest.skipUnless(shutil.which("dpkg-deb") and shutil.which("dpkg-shlibdeps"), "this is no Debian")
    def test_of_debian_is_whole(self):
        package = self.pack("DEB", ".deb")
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
        package = self.pack("TGZ", ".tar.gz")
        (self.top / "there").mkdir()
        output("tar", "-xzf", package, "-C", self.top / "there", "--strip-components=1")
        self.check(self.top / "there")

    @unittest.skipUnless(shutil.which("rpmbuild") and shutil.which("rpm2cpio") and shutil.which("cpio"),
                         "rpmbuild, rpm2cpio or cpio is not installed")
    def test_of_red_hat_is_whole(self):
        package = self.pack("RPM", ".rpm")
        self.assertRegex(package.name, rf"^gputrace-{version()}-1\.\w+\.rpm$")
        listed = output("rpm", "-qpl", package).split("\n")
        self.assertEqual([name for name in FILES if f"/usr/{name}" not in listed], [])
        # Folders that other packages own; two packages may not say different things of one.
        self.assertEqual({"/usr/bin", "/usr/lib", "/usr/share/man/man1", "/usr/lib/.build-id"} & set(listed), set())
        (self.top / "there").mkdir()
        output("sh", "-c", f"rpm2cpio {package} | cpio -idm --quiet", cwd=self.top / "there")
        self.check(self.top / "there" / "usr")


class Wheel(Packed):
    """The files that pip installs, offline, into an environment of its own."""

    @classmethod
    def setUpClass(cls):
        try:
            import ensurepip  # Debian has it in a package of its own
        except ImportError:
            raise unittest.SkipTest("python3 cannot make environments: venv or ensurepip is not installed") from None
        del ensurepip
        if "External" not in (BUILD / "CPackConfig.cmake").read_text():
            raise unittest.SkipTest("no wheel is made: the build found no objdump")

    def setUp(self):
        super().setUp()
        self.wheel = self.pack("External", ".whl")
        self.place = self.top / "there"

    def pip(self, *words):
        # Settings of this machine's pip may name a network.
        return output(self.place / "bin" / "python", "-m", "pip", "--isolated", "--disable-pip-version-check", *words)

    def files(self):
        return {path for path in self.place.rglob("*") if not path.is_dir() and path.suffix != ".pyc"}

    def test_is_whole_and_leaves_no_file(self):
        output(sys.executable, "-m", "venv", self.place)
        before = self.files()
        self.pip("install", "--no-index", "--no-deps", self.wheel)
        self.check(self.place)
        self.assertIn("Apache-2.0", self.pip("show", "gputrace"))
        self.assertTrue(list(self.place.rglob("gputrace-*.dist-info/LICENSE")))
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GPUTRACE_")}
        output(self.place / "bin" / "gputrace", "run", "true", cwd=self.top, env=environment)
        output(self.place / "bin" / "python", "-c", "import gputrace_device", cwd=self.top)
        self.pip("uninstall", "--yes", "gputrace")
        self.assertEqual(self.files(), before)

    def test_says_which_systems_it_is_for(self):
        """Its tag is that of the newest symbol in it, or none of manylinux where it needs libraries beside the C library."""
        tree = self.top / "tree"
        with zipfile.ZipFile(self.wheel) as archive:
            archive.extractall(tree)
        programs = [path for path in tree.rglob("*") if path.is_file() and path.read_bytes().startswith(b"\x7fELF")]
        self.assertEqual(len(programs), 4)
        others = {word for path in programs for word in re.findall(r"NEEDED +(\S+)", output("objdump", "-p", path))
                  if not re.match(r"(libc|libm|libdl|librt|libpthread|ld-linux-x86-64)\.so", word)}
        libc = max(needed_libc(path) for path in programs)
        system = "linux" if others else "manylinux_{}_{}".format(*libc)
        self.assertEqual(self.wheel.name, f"gputrace-{version()}-py3-none-{system}_{os.uname().machine}.whl")
        self.assertIn(f"Tag: py3-none-{system}_", next(tree.glob("*.dist-info/WHEEL")).read_text())

    def test_records_every_file_in_it(self):
        with zipfile.ZipFile(self.wheel) as archive:
            [record] = [name for name in archive.namelist() if name.endswith(".dist-info/RECORD")]
            rows = {name: (digest, size) for name, digest, size in csv.reader(archive.read(record).decode().splitlines())}
            self.assertEqual(sorted(rows), sorted(archive.namelist()))
            self.assertEqual(rows.pop(record), ("", ""))
            for name, (digest, size) in rows.items():
                data = archive.read(name)
                self.assertEqual(base64.urlsafe_b64decode(digest.removeprefix("sha256=") + "="), hashlib.sha256(data).digest())
                self.assertEqual(int(size), len(data))
            # gputrace alone is a program.
            programs = [name for name in rows if archive.getinfo(name).external_attr >> 16 & 0o111]
        self.assertEqual(programs, [f"gputrace-{version()}.data/scripts/gputrace"])

    def test_is_the_same_each_time(self):
        first = self.wheel.read_bytes()
        self.assertEqual(self.pack("External", ".whl").read_bytes(), first)


def is_newer_here():
    """Whether programs that are built here may need what the oldest system does not have."""
    found = re.search(r"(\d+)\.(\d+)", os.confstr("CS_GNU_LIBC_VERSION"))
    return (int(found[1]), int(found[2])) > (2, 36)


class Symbols(Case):
    @unittest.skipIf(is_newer_here(), "the C library here is newer than that of Debian 12")
    @unittest.skipUnless(shutil.which("objdump"), "objdump is not installed")
    def test_are_those_of_an_old_c_library(self):
        for name in ("bin/gputrace", "lib/libgputrace-injection.so", "lib/libgputrace-end.so", "lib/libgputrace-runtime.so"):
            needed = needed_libc(BUILD / name)
            self.assertIsNotNone(needed, name)
            self.assertLessEqual(needed, OLDEST_LIBC, name)


unittest.main()
