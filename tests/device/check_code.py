#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Code that the compilers make of device.cuh, device_events.h and gputrace_device.py, without a GPU.

    check_code.py --nvcc NVCC --cc CC GROUP      77: what the group needs is not there
"""
import argparse
import ctypes
import ctypes.util
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
TREE = HERE.parent.parent
HEADERS = TREE / "include" / "gputrace"
sys.path.insert(0, str(HEADERS))

import gputrace_device  # noqa: E402
import ptx_machine  # noqa: E402

VARIABLE = "gputrace_device_ring_1"
ARCHITECTURES = (70, 75, 80, 90, 100)  # of these the ones that the compiler knows
MORE_REGISTERS = 16
INSTRUCTION_BYTES = 16
YIELD = 0x946  # the lower 12 bits of an instruction
MORE_INSTRUCTIONS = 24
FEW_REGISTERS = 40  # that a kernel has with events however few it has without
KERNELS = ("phases", "kinds", "many")
STANDARDS = ("c++11", "c++14", "c++17", "c++20")
TEXTS = ("load", "compute", "a", "ein Name mit Ümlauten", "x" * 63, "store", "~", "wait for a task")

NVCC = CC = None
CUBINS = {}  # that were made, with what ptxas said


def run(*words, **how):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, cwd=TREE, check=False, **how)
    return done.returncode, done.stdout + done.stderr


def known(nvcc):
    _, said = run(nvcc, "--list-gpu-arch")
    have = {int(number) for number in re.findall(r"compute_(\d+)\b", said)}
    return [number for number in ARCHITECTURES if number in have]


class Case(unittest.TestCase):
    def setUp(self):
        top = tempfile.TemporaryDirectory(prefix="gputrace-device.")
        self.addCleanup(top.cleanup)
        self.folder = pathlib.Path(top.name)

    def compile(self, *words):
        status, said = run(NVCC, "-I", TREE, *words)
        self.assertEqual(status, 0, said)
        return said

    def cubin(self, architecture, *options, source="kernels.cu"):
        """(bytes, what ptxas says) of a file, which is compiled once for all tests of a run."""
        key = architecture, options, source
        if key not in CUBINS:
            CUBINS[key] = self.compile_cubin(architecture, *options, source=source)
        return CUBINS[key]

    def compile_cubin(self, architecture, *options, source):
        made = self.folder / "code.cubin"
        said = self.compile("-std=c++11", "-O3", f"-arch=sm_{architecture}", "-Xptxas", "-v", "-cubin", *options, "-o",
                            made, HERE / source)
        return made.read_bytes(), said


def sections(elf):
    """name: bytes of each section of a little-endian ELF file of 64 bits."""
    at, = struct.unpack_from("<Q", elf, 40)
    size, count, names = struct.unpack_from("<HHH", elf, 58)
    rows = [struct.unpack_from("<IIQQQQIIQQ", elf, at + i * size) for i in range(count)]
    texts = elf[rows[names][4]:rows[names][4] + rows[names][5]]
    return {texts[row[0]:texts.index(b"\0", row[0])].decode(): b"" if row[1] == 8 else elf[row[4]:row[4] + row[5]]
            for row in rows}


def symbols(elf):
    """name: (size, whether it is global) of each object and function."""
    found, parts = {}, sections(elf)
    for at in range(0, len(parts[".symtab"]), 24):
        name, info, _, _, _, size = struct.unpack_from("<IBBHQQ", parts[".symtab"], at)
        text = parts[".strtab"][name:parts[".strtab"].index(b"\0", name)].decode()
        found[text] = (size, info >> 4 != 0)
    return found


def registers(said):
    """kernel: registers, as ptxas -v says."""
    found = {}
    for name, number in re.findall(r"Compiling entry function '(\w+)'.*?Used (\d+) registers", said, re.DOTALL):
        found[name] = int(number)
    return found


def assembled(case, architecture):
    """Code that ptxas makes of the PTX for Triton."""
    ptxas = pathlib.Path(NVCC).with_name("ptxas")
    if not ptxas.exists():
        case.skipTest("there is no ptxas")
    source, made = case.folder / "code.ptx", case.folder / "code.cubin"
    source.write_text(ptx_machine.kernel_text(f"sm_{architecture}"))
    status, said = run(ptxas, "-v", f"-arch=sm_{architecture}", source, "-o", made)
    case.assertEqual(status, 0, said)
    return made.read_bytes()


def closed(count):
    return gputrace_device.CLOSED | count << gputrace_device.STATE_BITS


class Budget(Case):
    """The compiler takes more registers than it needs where that costs it nothing: it is held to the budget."""

    def spilled(self, kernel, architecture, limit, *options):
        _, said = self.cubin(architecture, f"-maxrregcount={limit}", *options)
        found = re.search(rf"Function properties for {kernel}\n *(\d+) bytes stack frame, (\d+) bytes spill", said)
        return int(found[1]) + int(found[2])

    def test_16_more_registers_are_enough(self):
        for architecture in known(NVCC):
            without = registers(self.cubin(architecture, "-DPLAIN")[1])
            _, said = self.cubin(architecture)
            with_events = registers(said)
            self.assertEqual(set(without), set(KERNELS))
            self.assertEqual(set(re.findall(r"(\d+) bytes stack frame, (\d+) bytes spill", said)), {("0", "0")})
            for kernel in KERNELS:
                limit = max(without[kernel] + MORE_REGISTERS, FEW_REGISTERS)
                print(f"sm_{architecture} {kernel}: {without[kernel]} registers, {with_events[kernel]} with events,"
                      f" {limit} allowed")
                self.assertEqual(self.spilled(kernel, architecture, limit), 0, (architecture, kernel, limit))


class Disabled(Case):
    def test_not_an_instruction_is_left(self):
        for architecture in known(NVCC):
            disabled, plain, full = (sections(self.cubin(architecture, *options)[0])
                                     for options in (["-DGPUTRACE_DISABLE"], ["-DPLAIN"], []))
            for kernel in KERNELS:
                text = f".text.{kernel}"
                self.assertEqual(disabled[text], plain[text], (architecture, kernel))
                self.assertNotEqual(full[text], plain[text], (architecture, kernel))
            self.assertEqual({name for name in disabled if name.startswith(".text")},
                             {name for name in plain if name.startswith(".text")})

    def test_the_variable_is_not_there(self):
        disabled, _ = self.cubin(known(NVCC)[-1], "-DGPUTRACE_DISABLE")
        self.assertNotIn(VARIABLE, symbols(disabled))


class Room(Case):
    """Events that there is room for are straight code: what takes another chunk is many times as large."""

    def test_an_event_more_is_a_few_instructions(self):
        for architecture in known(NVCC):
            parts = sections(self.cubin(architecture, source="together.cu")[0])
            for few, many, more in ("marks_4", "marks_20", 16), ("ranges_1", "ranges_7", 18):
                size, larger = (len(parts[f".text.{kernel}"]) for kernel in (few, many))
                each = (larger - size) / more / INSTRUCTION_BYTES
                print(f"sm_{architecture} {few}: {size} bytes, {each:.1f} instructions for an event more")
                self.assertLess(each, MORE_INSTRUCTIONS)
                self.assertGreater(size / INSTRUCTION_BYTES, 5 * MORE_INSTRUCTIONS)


class Waits(Case):
    """The threads of a warp wait until the one that writes has its chunk: nothing lets them go on before."""

    def yields(self, code):
        return {name: sum(int.from_bytes(text[at:at + 2], "little") & 0xfff == YIELD
                          for at in range(0, len(text), INSTRUCTION_BYTES))
                for name, text in sections(code).items() if name.startswith(".text.")}

    def test_a_loop_that_an_atomic_operation_ends_lets_them_go(self):
        source = self.folder / "loop.cu"
        source.write_text("""
            extern "C" __global__ void loop(int *at, int count, int *out)
            {
                int i = 0;
            #pragma unroll 1
                while (i < count && atomicCAS(at + i, 0, 1))
                    i++;
                *out = i;
            }""")
        for architecture in known(NVCC):
            self.assertEqual(self.yields(self.compile_cubin(architecture, source=source)[0]), {".text.loop": 1})

    def test_events_do_not(self):
        for architecture in known(NVCC):
            for source in "kernels.cu", "together.cu":
                found = self.yields(self.cubin(architecture, source=source)[0])
                self.assertEqual(set(found.values()), {0}, (architecture, found))

    def test_nor_do_triton_s(self):
        for architecture in known(NVCC):
            self.assertEqual(self.yields(assembled(self, architecture)), {".text.kernel": 0})


class Variable(Case):
    def test_each_module_has_it_by_this_name(self):
        for standard in "c++11", "c++17":
            made = self.folder / "code.cubin"
            self.compile(f"-std={standard}", f"-arch=sm_{known(NVCC)[-1]}", "-cubin", "-o", made, HERE / "kernels.cu")
            self.assertEqual(symbols(made.read_bytes())[VARIABLE][0], 8)

    def objects(self, *options):
        made = []
        for name in "kernels", "second":
            made.append(self.folder / f"{name}.o")
            self.compile(*options, f"-arch=sm_{known(NVCC)[-1]}", "-DMAIN", "-o", made[-1], HERE / f"{name}.cu")
        return made

    def link(self, *objects):
        self.compile(f"-arch=sm_{known(NVCC)[-1]}", "-cudart", "static", "-o", self.folder / "program", *objects)

    def test_files_that_are_linked_for_the_device_share_it(self):
        for standard in "c++11", "c++17":
            objects = self.objects(f"-std={standard}", "-rdc=true", "-dc")
            self.link(*objects)
            made = self.folder / "linked.cubin"
            self.compile(f"-arch=sm_{known(NVCC)[-1]}", "-dlink", "-cubin", "-o", made, *objects)
            self.assertEqual(symbols(made.read_bytes())[VARIABLE], (8, True))

    def test_files_that_are_not_have_one_each(self):
        self.link(*self.objects("-std=c++11", "-c"))


class Warnings(Case):
    def test_nobody_warns(self):
        for standard in STANDARDS:
            for more in [], ["-rdc=true"], ["-DGPUTRACE_DISABLE"]:
                if more == ["-rdc=true"] and standard < "c++17":
                    continue  # the host's compiler has a word on inline variables
                said = self.compile(f"-std={standard}", *more, "-arch=compute_80", "-Werror", "all-warnings", "-Xcompiler",
                                    "-Wall,-Wextra,-Wshadow,-Werror", "-c", "-o", self.folder / "code.o",
                                    HERE / "kernels.cu")
                self.assertNotIn("warning", said)

    def test_other_compilers_take_the_names(self):
        source = self.folder / "names.cpp"
        source.write_text('#include "include/gputrace/device.cuh"\nGPUTRACE_DEVICE_NAME(load, "load");\n'
                          'int main() { return load == 0; }\n')
        compilers = [name for name in ("g++", "clang++") if shutil.which(name)]
        for compiler in compilers:
            for standard in STANDARDS:
                status, said = run(compiler, f"-std={standard}", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror",
                                   "-I.", source, "-ldl", "-o", self.folder / "program")
                self.assertEqual(status, 0, said)
                self.assertEqual(run(self.folder / "program")[0], 0)

    def test_the_page_shows_what_compiles(self):
        page = (TREE / "docs" / "device-events.md").read_text()
        blocks = re.findall(r"```cuda\n(.*?)```", page, re.DOTALL)
        self.assertEqual(len(blocks), 1)
        source = self.folder / "first.cu"
        source.write_text(blocks[0])
        self.compile("-I", HEADERS.parent, "-std=c++11", "-Werror", "all-warnings", "-c", "-o", self.folder / "code.o",
                     source)

    def test_a_name_that_is_too_long_is_refused(self):
        source = self.folder / "long.cu"
        for length, refused in (63, False), (64, True), (0, True):
            source.write_text(f'#include "include/gputrace/device.cuh"\nGPUTRACE_DEVICE_NAME(load, "{"x" * length}");\n')
            status, said = run(NVCC, "-I", TREE, "-std=c++11", "-c", "-o", self.folder / "code.o", source)
            self.assertEqual("empty or too long" in said, refused, said)
            self.assertEqual(status != 0, refused)


class Nvrtc(Case):
    def compile_text(self, text, *options):
        """The cubin that NVRTC makes of a text, with the headers given to it as texts too."""
        library = self.library
        headers = {name: (HEADERS / name).read_bytes() for name in ("device.cuh", "device_events.h", "device_layout.h")}
        contents = (ctypes.c_char_p * len(headers))(*headers.values())
        names = (ctypes.c_char_p * len(headers))(*(name.encode() for name in headers))
        program, size = ctypes.c_void_p(), ctypes.c_size_t()
        words = [option.encode() for option in (f"--gpu-architecture=sm_{known(NVCC)[-1]}", *options)]
        self.assertEqual(library.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernel.cu", len(headers),
                                                    contents, names), 0)
        status = library.nvrtcCompileProgram(program, len(words), (ctypes.c_char_p * len(words))(*words))
        library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        library.nvrtcGetProgramLog(program, log)
        self.assertEqual(status, 0, log.value.decode())
        self.assertNotIn(b"warning", log.value)
        library.nvrtcGetCUBINSize(program, ctypes.byref(size))
        code = ctypes.create_string_buffer(size.value)
        library.nvrtcGetCUBIN(program, code)
        return code.raw

    def setUp(self):
        super().setUp()
        root = pathlib.Path(NVCC).resolve().parent.parent
        found = sorted(root.glob("lib64/libnvrtc.so*"))
        if not found:
            print("there is no libnvrtc")
            sys.exit(77)
        self.library = ctypes.CDLL(str(found[0]))

    def test_it_needs_no_other_header(self):
        for header, *options in (("device.cuh", "--std=c++11"), ("device.cuh", "--std=c++17"),
                                 ("gputrace/device.cuh", "--std=c++17", f"-I{HEADERS.parent}"),
                                 ("device.cuh", "--std=c++17", "-DGPUTRACE_DISABLE")):
            code = self.compile_text(f"#include <{header}>\n" """
                GPUTRACE_DEVICE_NAME(load, "load");
                extern "C" __global__ void kernel(float *out, const void *ring)
                {
                    gputrace::writer events(gputrace::leader::warp);
                    gputrace::writer others(ring, gputrace::leader::block);
                    gputrace::range range(events, load);
                    others.value(load, 1.5);
                    *out = 1;
                }""", *options)
            self.assertEqual(VARIABLE in symbols(code), "-DGPUTRACE_DISABLE" not in options)

    def test_the_core_alone_will_do(self):
        code = self.compile_text("""
            #include <device_events.h>
            extern "C" __global__ void kernel(float *out, unsigned long long ring, unsigned name)
            {
                struct gputrace_writer events;
                gputrace_writer_init(&events, ring, threadIdx.x == 0);
                gputrace_writer_begin(&events, name);
                *out = 1;
                gputrace_writer_end(&events, name);
                gputrace_writer_close(&events);
            }""")
        self.assertNotIn(VARIABLE, symbols(code))


class Names(Case):
    def test_python_and_c_give_the_same_ids(self):
        program = self.folder / "names"
        status, said = run(CC, "-std=gnu11", "-I", TREE, HERE / "names.c", "-ldl", "-o", program)
        self.assertEqual(status, 0, said)
        status, said = run(program, *TEXTS)
        self.assertEqual([int(line) for line in said.split()], [gputrace_device.name_id(text) for text in TEXTS])
        self.assertTrue(all(0 < gputrace_device.name_id(text) < 1 << 28 for text in TEXTS))

    def test_the_compiler_gives_the_same_ids(self):
        if not NVCC:
            self.skipTest("there is no nvcc")
        source = self.folder / "ids.cu"
        source.write_text('#include "include/gputrace/device.cuh"\n' + "".join(
            f'static_assert(gputrace::name_id("{text}") == {gputrace_device.name_id(text)}u, "");\n' for text in TEXTS))
        self.compile("-std=c++11", "-c", "-o", self.folder / "code.o", source)

    def test_nobody_records_here(self):
        self.assertEqual(gputrace_device.name("load"), gputrace_device.name_id("load"))
        self.assertEqual(gputrace_device.ring(), 0)


class Ptx(unittest.TestCase):
    """Behaviour of the PTX for Triton, on a thread that is played; the cases are those of test_device_writer.c."""

    def ring(self, chunk_count=8, flags=0):
        ring = ptx_machine.Ring(chunk_count, flags)
        ring.start()
        return ring

    def test_it_fills_in_who_it_is_and_what_happened(self):
        ring = self.ring()
        for kind, value in (1, 0), (3, 0), (4, -5 & ptx_machine.MASK), (5, 0x3fe0000000000000), (2, 0):
            ring.put(kind, value=value)
        self.assertEqual(ring.chunk_state(0), gputrace_device.OPEN)
        ring.close()
        self.assertEqual(ring.chunk_state(0), closed(7))
        timer, clock, *rest = ring.header(0)
        self.assertEqual(timer, clock + ptx_machine.Machine.AHEAD)
        self.assertEqual(rest, [77, 9, 0, 3 + 5 * 1, 10, 0, 256, 8, 0])
        events = ring.events(0)
        self.assertEqual([event[1:3] for event in events[:8]],
                         [(7, 1 | 8), (7, 3 | 8), (0, 6), (7, 4), (0, 6), (7, 5), (7, 2 | 8), (0, 0)])
        for place in 0, 1, 2, 4, 6:
            self.assertEqual(events[place][3], events[place][0] + ptx_machine.Machine.AHEAD)
        self.assertEqual((events[3][3], events[5][3]), (-5 & ptx_machine.MASK, 0x3fe0000000000000))
        self.assertGreater(events[0][0], clock)
        self.assertTrue(all(events[place][0] >= events[place - 1][0] for place in range(1, 7)))

    def test_it_writes_nothing_where_nobody_records_or_it_does_not_lead(self):
        ring = ptx_machine.Ring(8)
        before = bytes(ring.machine.memory)
        for thread, address in ("%tid.x", ring.BASE), ("%tid.z", ring.BASE), (None, 0):
            ring.machine.special = dict(ptx_machine.Machine.SPECIAL)
            if thread:
                ring.machine.special[thread] = 1
            ring.start(address)
            self.assertEqual(ring.state, 0)
            ring.put(3, times=30)
            ring.close()
        self.assertEqual(bytes(ring.machine.memory), before)

    def test_it_goes_on_in_another_chunk(self):
        ring = self.ring()
        ring.set_chunk_state(1, closed(4))
        ring.put(3, times=28)
        self.assertEqual(ring.chunk_state(0), gputrace_device.OPEN)
        ring.put(3, times=3)
        ring.close()
        self.assertEqual([ring.chunk_state(index) for index in range(4)], [closed(28), closed(4), closed(3), 0])
        self.assertEqual((ring.header(2)[4], ring.header(2)[9]), (1, 10))
        self.assertLess(ring.events(0)[27][0], ring.events(2)[0][0])

    def test_it_closes_a_full_chunk(self):
        ring = self.ring()
        ring.put(3, times=28)
        ring.close()
        self.assertEqual((ring.chunk_state(0), ring.get("next")), (closed(28), 9))

    def test_what_a_new_chunk_takes_is_before_a_begin_and_behind_an_end(self):
        for kind, later in (1, 1), (2, 0):
            ring = self.ring()
            ring.put(3, times=28)
            ring.put(kind)
            self.assertEqual(ring.events(1)[0][0], ring.header(1)[1] + later)

    def test_a_value_goes_into_the_next_chunk_when_the_time_took_the_last_place(self):
        ring = self.ring()
        ring.put(3, times=27)
        ring.put(4, value=5)
        ring.close()
        self.assertEqual((ring.chunk_state(0), ring.chunk_state(1)), (closed(28), closed(1)))
        self.assertEqual((ring.events(0)[27][2], ring.events(1)[0][2:]), (6, (4, 5)))

    def test_the_header_is_a_value_s_time_where_the_chunk_is_full(self):
        ring = self.ring()
        ring.put(3, times=28)
        ring.put(4, value=5, times=2)
        self.assertEqual([event[2] for event in ring.events(1)[:4]], [4, 6, 4, 0])
        self.assertEqual(ring.events(1)[0][0], ring.header(1)[1])

    def test_it_takes_runs_that_grow(self):
        ring = self.ring(8 * gputrace_device.RUNS)
        first = ring.get("next")
        places = [0, *range(2, 10), *range(12, 20)]
        ring.put(3, times=11 * 28 + 5)  # in 1, 2, 6 and 8, each from an even one on
        self.assertEqual(ring.get("next"), first + 20)
        states = {index: state for index in range(24) if (state := ring.chunk_state(index))}
        self.assertEqual(states, dict(zip(places, [closed(28)] * 9 + [gputrace_device.OPEN] * 8)))
        ring.close()
        states = {index: state for index in range(24) if (state := ring.chunk_state(index))}
        self.assertEqual(states, dict(zip(places, [closed(28)] * 11 + [closed(5)] + [closed(0)] * 5)))
        last = 0
        for part, index in enumerate(places):
            timer, clock, *rest = ring.header(index)
            self.assertEqual(rest, [77, 9, part, 8, 10, 0, 256, first + index, 0])
            self.assertEqual(timer, clock + ptx_machine.Machine.AHEAD if part < 12 else 0)
            self.assertTrue(part > 11 or clock > last)
            last = ring.events(index)[27][0]

    def test_a_run_ends_where_a_chunk_is_taken_and_at_the_end_of_the_ring(self):
        ring = self.ring(8 * gputrace_device.RUNS)
        first = ring.get("next")
        ring.set_chunk_state(7, gputrace_device.OPEN)
        ring.put(3, times=5 * 28)  # of four chunks two are there
        self.assertEqual([ring.chunk_state(index) for index in range(4, 8)], [1, 1, 0, 1])
        ring.set("next", 2 * first - 3)  # an odd one, and then two more
        ring.put(3, times=2 * 28)
        ring.close()
        last = [ring.chunk_state(first + index) for index in (-3, -2, -1)]
        self.assertEqual(last, [0, closed(28), closed(28)])
        self.assertEqual((ring.chunk_state(5), ring.get("lost")), (closed(28), 0))

    def test_a_ring_that_overwrites_has_no_runs(self):
        ring = self.ring(8 * gputrace_device.RUNS, flags=1)
        ring.put(3, times=10 * 28)
        self.assertEqual(ring.get("next"), 8 * gputrace_device.RUNS + 10)

    def test_it_counts_every_event_that_finds_no_room(self):
        ring = self.ring(1)
        ring.put(3, times=28 + 1000)
        self.assertEqual((ring.chunk_state(0), ring.get("lost")), (closed(28), 960))
        ring.close()
        self.assertEqual(ring.get("lost"), 1000)
        self.assertLessEqual(ring.get("next"), 2 + 8 * (1000 // 64 + 1))

    def test_it_goes_on_when_there_is_room_again(self):
        ring = self.ring(1)
        ring.put(3, times=28 + 10)
        ring.recycle(0)
        ring.put(3, times=100)
        ring.close()
        self.assertEqual((ring.header(0)[4], ring.header(0)[10]), (1, 64))
        self.assertEqual(28 + (ring.chunk_state(0) >> 8) + ring.get("lost"), 138)

    def test_it_overwrites_what_is_closed(self):
        ring = self.ring(2, flags=1)
        ring.put(3, times=3 * 28 + 2)
        ring.close()
        self.assertEqual((ring.get("lost"), ring.get("overwritten")), (0, 56))
        self.assertEqual((ring.chunk_state(0), ring.chunk_state(1)), (closed(28), closed(2)))
        self.assertEqual((ring.header(1)[4], ring.events(1)[2]), (3, (0, 0, 0, 0)))

    def test_it_passes_over_open_chunks_to_overwrite_one_that_is_closed(self):
        ring = self.ring(8, flags=1)
        for index in range(gputrace_device.TRIES - 1):
            ring.set_chunk_state(index, gputrace_device.OPEN)
        ring.set_chunk_state(7, closed(4))
        ring.put(3)
        ring.close()
        self.assertEqual((ring.chunk_state(7), ring.get("overwritten"), ring.get("lost")), (closed(1), 4, 0))

    def test_addresses_that_are_too_large_are_left_alone(self):
        ring = ptx_machine.Ring(8)
        ring.set("chunks", 1 << 47)
        ring.start()
        self.assertEqual(ring.state, 0)


class Triton(Case):
    def test_ptxas_takes_it(self):
        for architecture in known(NVCC):
            self.assertIn(".text.kernel", sections(assembled(self, architecture)))


def main():
    global NVCC, CC
    parser = argparse.ArgumentParser()
    parser.add_argument("--nvcc", default="")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("group", nargs="*")
    arguments = parser.parse_args()
    NVCC, CC = shutil.which(arguments.nvcc or "nvcc"), arguments.cc
    if not NVCC and not set(arguments.group) <= {"Names", "Ptx"}:
        print("there is no nvcc")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *arguments.group])


main()
