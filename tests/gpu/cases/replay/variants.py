# SPDX-License-Identifier: Apache-2.0
"""Faults, variants and a GPU that another gputrace has are named by gputrace replay."""
import json
import re
import signal
import subprocess
import time

from cases.support.bench import TREE, expect
from cases.support.replaying import capture_launch, expect_as_recorded, forget_bundles, replay, replayed_command


def test_replay_faults(bench):
    """A write behind the end, an output that is not written and one that varies are each named, and not as another."""
    figures, wanted = {}, {
        "outside": ("writes outside of its buffers", "outside_bytes", "written outside"),
        "unwritten": (None, "untouched_bytes", "never written from byte"),
        "varying": ("outputs differ from run to run", "varies", "differs from run to run")}
    for fault, (verdict, column, words) in wanted.items():
        bundle = capture_launch(bench, fault, replayed_command(bench, fault), f"^{fault}$")
        status, said = replay(bench, bundle)
        row = said["times"][0]
        named = [buffer for buffer in said["buffers"] if words in buffer["verdict"]]
        others = [other for other in wanted if other != fault
                  for buffer in said["buffers"] if wanted[other][2] in buffer["verdict"]]
        expect(len(named) == 1 and named[0][column], f"{fault} is not named: {said['buffers']}")
        expect(not others, f"{fault} is taken for {others}: {said['buffers']}")
        if verdict:
            expect(verdict in row["verdict"] and status == 3, f"{fault}: exit status {status}, {row['verdict']}")
        figures[fault] = named[0]["verdict"]
        forget_bundles(bench, fault)
    # 750,000 elements and 128 more; a hundred elements are missing of the 4 Mi.
    expect("first at byte 3000512" in figures["outside"], f"where it was written: {figures['outside']}")
    expect(f"from byte {((1 << 22) - 100) * 4} on" in figures["unwritten"], f"from where on: {figures['unwritten']}")
    return figures


def test_replay_variants(bench):
    """Blocks of other sizes, as right as the recorded one; where the kernel counts on one, that is found. An impossible
    variant is a row."""
    bundle = capture_launch(bench, "variants", replayed_command(bench, "saxpy"), "^saxpy$")
    status, said = replay(bench, bundle, "--block", "64", "--block", "512", "--block", "1000")
    expect_as_recorded(status, said, "variants of saxpy")
    expect(len(said["times"]) == 4 and all("outputs as recorded" in row["verdict"] for row in said["times"]),
           f"{[(row['variant'], row['verdict']) for row in said['times']]}")
    figures = {row["variant"]: row["median_ns"] for row in said["times"]}
    status, other = replay(bench, bundle, "--module", str(TREE / "tests" / "cubins" / "sample_75.cubin"))
    expect(status == 3 and "sm_75" in other["times"][1]["verdict"], f"of another architecture: {other['times'][1]['verdict']}")
    status, said = replay(bench, bundle, "--tune", "block=64..1024*2;cluster=1,3", XDG_DATA_HOME=str(bench.folder / "data"))
    expect(status == 0, f"--tune exits with {status}")
    refused = [row for row in said["times"] if "cannot be run" in row["verdict"]]
    # 3 divides none of the grids, which have powers of two of blocks.
    expect(len(said["times"]) == 11 and len(refused) == 5 and all("cluster=3" in row["variant"] for row in refused),
           f"{[(row['variant'], row['verdict']) for row in said['times']]}")
    kept = json.loads((bench.folder / "data" / "gputrace" / "tuned.json").read_text())["tuned"]
    expect(kept[0]["function"] == "saxpy" and kept[0]["best"]["ns"] > 0, f"what is kept of --tune: {kept}")
    forget_bundles(bench, "variants")
    bundle = capture_launch(bench, "block", replayed_command(bench, "fixed_block"), "^fixed_block$")
    status, said = replay(bench, bundle, "--block", "128")
    expect(status == 3 and "outputs as recorded" in said["times"][0]["verdict"]
           and "outputs" in said["times"][1]["verdict"] and "as recorded" not in said["times"][1]["verdict"],
           f"{[(row['variant'], row['verdict']) for row in said['times']]}")
    forget_bundles(bench, "block")
    return {**figures, "best": kept[0]["best"]["variant"], "fixed_block": said["times"][1]["verdict"]}


def wait_for_lock(bench, folder, process):
    """Until that process has the lock of its GPU."""
    while True:
        locks = list(folder.glob("gputrace/*.lock"))
        if any(lock.read_text().strip() == str(process.pid) for lock in locks):
            return locks[0].stem
        expect(process.poll() is None, f"gputrace replay ended with {process.returncode} before it had the lock")
        expect(bench.time_left() > 0, "nobody took the lock")
        time.sleep(0.01)


def end_process(process):
    """Its output; it is killed where it does not end by itself."""
    try:
        return process.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.communicate()


def test_replay_lock(bench):
    """Another gputrace waits for the GPU, and says for whom; other programs on it are named."""
    bundle = capture_launch(bench, "lock", replayed_command(bench, "saxpy"), "^saxpy$")
    folder = bench.folder / "runtime"
    folder.mkdir(mode=0o700)

    def begin(*command, **more):
        return subprocess.Popen(command, env=bench.environment(XDG_RUNTIME_DIR=str(folder)), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, **more)

    replaying = begin(bench.gputrace, "replay", "--json", str(bundle), stdin=subprocess.DEVNULL)
    try:
        uuid = wait_for_lock(bench, folder, replaying)
        # So that it keeps the lock for as long as it takes.
        replaying.send_signal(signal.SIGSTOP)
        calibrating = begin(bench.gputrace, "calibrate", "--device", "0", "--ceiling", "launch_latency",
                            stdin=subprocess.DEVNULL)
        complaint = calibrating.stderr.readline()
        time.sleep(1)
        waited = calibrating.poll() is None
    finally:
        replaying.send_signal(signal.SIGCONT)
        said, why = end_process(replaying)
    _, more = end_process(calibrating)
    words = f"waiting for process {replaying.pid}, which measures on {uuid}"
    expect(words in complaint and waited, f"calibrate did not wait: {(complaint + more).strip()[-300:]}")
    expect(calibrating.returncode == 0, f"calibrate exits with {calibrating.returncode}: {(complaint + more).strip()[-300:]}")
    expect(replaying.returncode == 0, f"replay exits with {replaying.returncode}: {why[-300:]}")
    idle = begin(bench.find("capture_cases"), "idle", stdin=subprocess.PIPE)
    try:
        expect(idle.stdout.readline() == "ready=1\n", "the other program does not use the GPU")
        beside = bench.run([bench.gputrace, "replay", "--runs", "10", str(bundle)])
    finally:
        end_process(idle)
    expect(beside.status == 0, f"replay beside another program exits with {beside.status}: {beside.tail()}")
    others = re.search(r"(\d+) other process", beside.stdout + beside.stderr)
    unknown = "whether others use the GPU is not known" in beside.stdout
    expect(unknown or others and int(others[1]) > 0, f"nothing is said of the other program: {beside.stderr.strip()[-300:]}")
    forget_bundles(bench, "lock")
    return {"said": complaint.strip(), "median_ns": json.loads(said)["times"][0]["median_ns"],
            "others": others[1] if others else "NVML does not say"}


def test_replay_breaking(bench):
    """A configuration that stops the GPU, and one that never ends, are rows; those behind them run."""
    bundle = capture_launch(bench, "breaking", replayed_command(bench, "breaking"), "^breaking$")
    status, said = replay(bench, bundle, "--tune", "block=64,1024,128,32,512,768", XDG_DATA_HOME=str(bench.folder / "data"))
    rows = {row["variant"]: row["verdict"] for row in said["times"]}
    wanted = {"as recorded": "outputs as recorded", "block=64": "outputs as recorded", "block=1024": "cannot be run",
              "block=128": "outputs as recorded", "block=32": "not ended", "block=512": "outputs as recorded",
              "block=768": "cannot be run"}
    expect(status == 0 and list(rows) == list(wanted) and all(words in rows[name] for name, words in wanted.items()),
           f"exit status {status}, {rows}")
    expect(len(list((bundle / "results").iterdir())) == len(wanted), "each variant is kept once")
    forget_bundles(bench, "breaking")
    return {name: verdict for name, verdict in rows.items() if "as recorded" not in verdict}


def test_replay_again(bench):
    """Launches that find in their outputs what they write there: runs over other contents show which memory that is, and
    faults of these runs lose nothing."""
    figures = {}
    roles = {"saxpy": "1 written with what was there, 2 read", "reduction": "1 written with what was there, 1 read",
             "pointer_table": None, "checked_gather": "1 written with what was there, 2 read"}
    for name, words in roles.items():
        bundle = capture_launch(bench, f"again-{name}", replayed_command(bench, name), f"^{name}$", first=3)
        status, said = replay(bench, bundle)
        row = expect_as_recorded(status, said, f"the third launch of {name}")
        found = [remark for remark in said["remarks"] if "holds the same afterwards" in remark]
        expect([buffer["known_by"] for buffer in said["buffers"]] == ["poison"], f"{name}: {said['buffers']}")
        expect(said["buffers"][0]["written_bytes"], f"{name}: what was written is not counted: {said['buffers']}")
        expect(len(found) == 1 and (not words or words in found[0]), f"{name}: {said['remarks']}")
        figures[name] = {"median_ns": row["median_ns"], "written_bytes": said["buffers"][0]["written_bytes"], "roles": found[0]}
        forget_bundles(bench, f"again-{name}")
    return figures
