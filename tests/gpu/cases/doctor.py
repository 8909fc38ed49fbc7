# SPDX-License-Identifier: Apache-2.0
"""gputrace doctor on the machine that the tests run on."""
import json

from cases.support.bench import expect


def test_doctor(bench):
    """It ends with what is right here: recording works, so nothing may be said to prevent it."""
    done = bench.run([bench.gputrace, "doctor", "--json"])
    expect(done.status == 0, f"gputrace doctor exits with {done.status}: {done.tail()}")
    return {"seconds": round(done.seconds, 2), "said": json.loads(done.stdout)}
