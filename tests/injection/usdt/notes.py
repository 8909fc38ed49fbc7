#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Probes of the injection library as its file has them, read by readelf: notes.py LIBRARY

Each probe of injection/usdt/probes.def is there once, with its arguments, a semaphore and a place in the code; the page in docs/ has the same.
For other processors the file is compiled by clang, where there is one: nothing of it is run.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

LIBRARY = sys.argv.pop(1)
SOURCE = pathlib.Path(__file__).resolve().parents[3]
LIST = SOURCE / "injection" / "usdt" / "probes.def"
NOTE = re.compile(r"Provider: (\S+)\s+Name: (\S+)\s+Location: 0x([0-9a-f]+), Base: 0x([0-9a-f]+), Semaphore: 0x([0-9a-f]+)\s+Arguments: ([^\n]*)")


def readelf(*words):
    return subprocess.run(["readelf", *words], check=True, capture_output=True, text=True, env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}).stdout


def listed():
    """{probe: names of its arguments}, and the number that each says it has."""
    probes, said = {}, {}
    for line in LIST.read_text().splitlines():
        probe, argument = re.match(r"PROBE\((\w+), (\d+),", line), re.match(r"ARGUMENT\((\w+),", line)
        if probe:
            name, said[probe[1]] = probe[1], int(probe[2])
            probes[name] = []
        elif argument:
            probes[name].append(argument[1])
    return probes, said


def notes(file):
    """{probe: (where, base, semaphore, places of arguments)}"""
    found = {}
    for provider, name, where, base, semaphore, arguments in NOTE.findall(readelf("-nW", file)):
        assert provider == "gputrace" and name not in found, (provider, name)
        found[name] = int(where, 16), int(base, 16), int(semaphore, 16), re.findall(r"\S+@(?:\[[^]]*\]|\S+)", arguments)
    return found


def sections(file):
    """{name: (address, size)}"""
    rows = re.findall(r"\]\s+(\S+)\s+\S+\s+([0-9a-f]{16}) [0-9a-f]+ ([0-9a-f]+)", readelf("-SW", file))
    return {name: (int(address, 16), int(size, 16)) for name, address, size in rows}


class Notes(unittest.TestCase):
    def test_each_probe_is_there_once_with_its_arguments(self):
        probes, said = listed()
        found = notes(LIBRARY)
        self.assertEqual(set(found), set(probes))
        self.assertEqual(said, {name: len(arguments) for name, arguments in probes.items()})
        for name, (_, _, _, places) in found.items():
            self.assertEqual(len(places), len(probes[name]))
            self.assertLessEqual(len(places), 12)
            # One register has the address of all of them.
            registers = {re.fullmatch(r"8@(\d+)\(%(\w+)\)|8@\[(x\d+), (\d+)\]", place) for place in places}
            self.assertNotIn(None, registers, places)
            self.assertEqual([int(match[1] or match[4]) for match in sorted(registers, key=lambda match: int(match[1] or match[4]))],
                             [8 * i for i in range(len(places))])
            self.assertEqual(len({match[2] or match[3] for match in registers}), 1)

    def test_they_are_in_the_code_and_their_semaphores_in_probes(self):
        there, found = sections(LIBRARY), notes(LIBRARY)
        code, size = there[".text"]
        cold = [place for name, place in there.items() if name.startswith(".text")]
        first, bytes_of = there[".probes"]
        for where, base, semaphore, _ in found.values():
            self.assertTrue(code <= where < code + size or any(begin <= where < begin + long for begin, long in cold))
            self.assertEqual(base, there[".stapsdt.base"][0])
            self.assertTrue(first <= semaphore <= first + bytes_of - 2 and semaphore % 2 == 0)
        # In the order of the list: a call looks at those of launch and error in one load.
        self.assertEqual([semaphore - first for _, _, semaphore, _ in (found[name] for name in listed()[0])], [2 * i for i in range(len(found))])
        self.assertEqual(first % 4, 0)
        self.assertEqual(len({where for where, _, _, _ in found.values()}), len(found))

    def test_a_probe_is_one_instruction_that_does_nothing(self):
        for where, _, _, _ in notes(LIBRARY).values():
            shown = subprocess.run(["objdump", "-d", f"--start-address={where}", f"--stop-address={where + 1}", LIBRARY], check=True,
                                   capture_output=True, text=True).stdout
            self.assertRegex(shown, r"\bnop\b")

    def test_documents_have_them(self):
        probes, _ = listed()
        page = (SOURCE / "docs" / "recording" / "usdt.md").read_text()
        told = {}
        for probe, number, argument in re.findall(r"^\| `(\w+)` \| arg(\d+) \| `(\w+)` \|", page, re.MULTILINE):
            self.assertEqual(int(number), len(told.setdefault(probe, [])))
            told[probe].append(argument)
        self.assertEqual(told, probes)

    def compile_for(self, target):
        clang = shutil.which("clang") or shutil.which("clang-14")
        if not clang:
            self.skipTest("there is no clang")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        file = pathlib.Path(folder.name, "probes.o")
        subprocess.run([clang, f"--target={target}", "-std=c11", "-O2", "-fPIC", "-ffreestanding", f"-I{SOURCE}", "-c", "-o", file,
                        SOURCE / "injection" / "usdt" / "probes.c"], check=True)
        return file

    def test_aarch64_has_the_same(self):
        found = notes(self.compile_for("aarch64-linux-gnu"))
        self.assertEqual({name: len(arguments) for name, arguments in listed()[0].items()}, {name: len(places) for name, (*_, places) in found.items()})
        for *_, places in found.values():
            self.assertEqual([re.fullmatch(r"8@\[x\d+, (\d+)\]", place)[1] for place in places], [str(8 * i) for i in range(len(places))])

    def test_elsewhere_there_are_none(self):
        self.assertEqual(notes(self.compile_for("powerpc64le-linux-gnu")), {})


if __name__ == "__main__":
    unittest.main()
