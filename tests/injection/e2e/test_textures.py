# SPDX-License-Identifier: Apache-2.0
"""Textures, surfaces and the arrays behind them are captured and run again."""
import struct

from bundles import Bundles
from programs import SOURCE


class Textures(Bundles):
    """Launches with texture and surface objects: app_textures's."""

    CUBIN = SOURCE / "tests" / "cubins" / "textures_90.cubin"
    WIDTH, HEIGHT = 40, 30

    def capture(self, *words, options=("--capture-kernels", "blend"), **keywords):
        run = self.record("--cubin", self.CUBIN, *words, program="app_textures",
                          options=("--no-export", *options), **keywords)
        self.assertEqual(run.status, 0, run.stderr)
        return run

    def blended(self, width, height):
        return [(x + 100 * y) * (1 + x % 4) for y in range(height) for x in range(width)]

    def arrays(self, run):
        return [memory for memory in self.bundle(run)["memory"] if memory["kind"] == "array"]

    def test_arrays_and_objects_are_in_the_bundle(self):
        run = self.capture()
        manifest = self.manifest(run)
        picture, out = self.arrays(run)
        self.assertEqual(picture["before"], [x + 100 * y for y in range(self.HEIGHT) for x in range(self.WIDTH)])
        self.assertTrue(picture["same"])
        self.assertEqual((out["before"], out["after"]),
                         ([-1] * (self.WIDTH * self.HEIGHT), self.blended(self.WIDTH, self.HEIGHT)))
        shape = manifest["memory"][-1]["array"]
        self.assertEqual((shape["width"], shape["height"], shape["depth"], shape["format"], shape["flags"]),
                         (self.WIDTH, self.HEIGHT, 0, 32, 2))
        self.assertEqual([(one["kind"], one["resource"], int(one["value"], 16)) for one in manifest["objects"]],
                         [("texture", "array", run.facts["picture"]), ("texture", "linear", run.facts["weights"]),
                          ("surface", "array", run.facts["out"])])
        self.assertEqual([(handle["offset"], handle["object"], handle["declared"]) for handle in manifest["handles"]],
                         [(0, 0, True), (8, 1, True), (16, 2, True)])
        self.assertTrue(any(text.startswith("3 numbers in parameters and memory are equal to the handle")
                            for text in manifest["missing"]), manifest["missing"])

    def test_replay_gives_the_same(self):
        for how, texture in (("plain", "array"), ("pitch", "pitch"), ("mipmap", "mipmap"), ("extra", "array")):
            with self.subTest(how):
                run = self.capture("--how", how)
                self.assertEqual(self.manifest(run)["objects"][0]["resource"], texture)
                status, (out,) = self.replay(run)
                self.assertEqual((status, out["mismatches"], out["element"], out["type_from"]),
                                 (0, 0, "f32", "format"))
                self.assertEqual((out["zone_bytes"], out["outside_bytes"]), (None, None))
                self.assertEqual(self.replay(run, "--relocate")[0], 0)

    def test_levels_of_a_mipmapped_array_are_captured_once(self):
        run = self.capture("--how", "mipmap")
        (mipmap,) = self.arrays(run)
        level = (self.WIDTH // 2) * (self.HEIGHT // 2)
        first = self.WIDTH * self.HEIGHT
        self.assertEqual(mipmap["after"][first:first + level], self.blended(self.WIDTH // 2, self.HEIGHT // 2))
        self.assertEqual([(one["resource"], one.get("level")) for one in self.manifest(run)["objects"]],
                         [("mipmap", None), ("linear", None), ("array", 1)])  # mipmapped arrays first

    def test_numbers_inside_of_parameters_that_are_equal_to_a_handle_stay_right(self):
        run = self.capture(options=("--capture-kernels", "pick_texel"))
        handles = self.manifest(run)["handles"]
        self.assertEqual([(handle["offset"], handle["declared"]) for handle in handles], [(0, False), (8, False)])
        status, (column,) = self.replay(run)
        self.assertEqual((status, column["mismatches"]), (0, 0))

    def test_the_colour_beyond_a_border_is_the_programs(self):
        run = self.capture("--how", "border", options=("--capture-kernels", "pick_texel"))
        texture = next(one for one in self.manifest(run)["objects"] if int(one["value"], 16) == run.facts["picture"])
        self.assertEqual(texture["border"], [struct.unpack("<I", struct.pack("<f", colour))[0] for colour in (7.5, 1, 2, 3)])
        status, (column,) = self.replay(run)
        self.assertEqual((status, column["mismatches"], column["least"], column["most"]), (0, 0, 7.5, 7.5))

    def test_handles_in_memory_are_found_and_have_the_same_numbers(self):
        run = self.capture("--how", "table", options=("--capture-kernels", "replay_table"))
        manifest = self.manifest(run)
        self.assertEqual([int(one["value"], 16) for one in manifest["objects"]], [1, 2])
        self.assertEqual([(handle["offset"], handle["object"]) for handle in manifest["handles"]], [(0, 0), (8, 1)])
        self.assertEqual({manifest["memory"][handle["memory"]]["size"] for handle in manifest["handles"]}, {16})
        status, (values,) = self.replay(run, "--relocate")
        self.assertEqual((status, values["mismatches"]), (0, 0))
        run = self.capture("--how", "table", options=("--capture-sequence", "step"))
        manifest = self.manifest(run)
        brought = next(number for number, step in enumerate(manifest["steps"]) if step["kind"] == "copy")
        self.assertEqual([handle["object"] for handle in manifest["handles"] if handle.get("step") == brought], [1, 3])
        self.assertEqual(self.replay(run)[0], 0)

    def test_handles_that_the_host_writes_into_managed_memory_are_found(self):
        run = self.capture("--how", "managed", options=("--capture-sequence", "step"))
        manifest = self.manifest(run)
        (written,) = [number for number, step in enumerate(manifest["steps"])
                      if step["kind"] == "copy" and step.get("by_host")]
        self.assertEqual([(handle["offset"], handle["object"]) for handle in manifest["handles"]
                          if handle.get("step") == written], [(0, 3)])
        self.assertEqual(self.replay(run)[0], 0)
        second = max(number for number, step in enumerate(manifest["steps"]) if step["kind"] == "launch")
        self.assertEqual(self.replay(run, "--step", second)[0], 0)

    def test_handles_are_not_looked_for_in_large_copies(self):
        run = self.capture("--how", "rows", options=("--capture-sequence", "step"))
        copied = next(number for number, step in enumerate(self.manifest(run)["steps"]) if step["kind"] == "copy")
        self.assertEqual([handle for handle in self.manifest(run)["handles"] if handle.get("step") == copied], [])
        self.assertEqual(self.replay(run)[0], 0)

    def test_textures_of_what_was_destroyed_are_none(self):
        run = self.capture("--how", "leak", options=("--capture-kernels", "pick_texel"))
        manifest = self.manifest(run)
        self.assertEqual([handle["offset"] for handle in manifest["handles"]], [8])
        self.assertEqual(len(self.arrays(run)), 1)
        self.assertEqual(self.replay(run)[0], 0)

    def test_references_of_modules_are_missing(self):
        sentence = "the program has texture or surface references: what they are of is not here"
        self.assertIn(sentence, self.manifest(self.capture("--how", "reference"))["missing"])
        self.assertNotIn(sentence, self.manifest(self.capture())["missing"])

    def test_what_cannot_be_captured_is_refused(self):
        for how, words in (("sparse", "its parameter 0 is a texture object, by its value: its array is sparse"),
                           ("external", "its parameter 0 is a texture object, by its value: its array is of memory of others")):
            with self.subTest(how):
                run = self.capture("--how", how)
                self.assertEqual(self.bundles(run), [])
                self.assertEqual(self.told(run)[0]["reason"], words)

    def test_sequences(self):
        step = ("--capture-sequence", "step", "--launches", "2:1")
        run = self.capture("--how", "extra", "--steps", 3, options=step)
        self.assertEqual([handle["step"] for handle in self.manifest(run)["handles"]], [0, 0, 0, 1, 1])
        out = self.arrays(run)[1]
        self.assertEqual((out["before"], out["same"]), (out["after"], True))  # the step before did the same
        for form in ("recorded", "graph"):
            status, buffers = self.replay(run, "--form", form)
            self.assertEqual((status, [row["mismatches"] for row in buffers]), (0, [0, 0]))
        for how in ("destroy", "drop", "part"):  # an array, a mipmapped one, one of which levels alone are used
            run = self.capture("--how", how, options=("--capture-sequence", "step"))
            self.assertEqual(self.bundles(run), [])
            self.assertEqual(self.told(run)[0]["reason"],
                             "an array that its steps use is destroyed before the range ends")
