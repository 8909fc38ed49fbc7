# SPDX-License-Identifier: Apache-2.0
"""One thread that runs the PTX of gputrace_device.py, as far as that is written in it: what the text does is tested
where there is no GPU."""
import re
import struct

import gputrace_device

MASK = (1 << 64) - 1


def inserted(text, *operands):
    """Inline assembly with the operands $0, $1, ... put in."""
    return re.sub(r"\$(\d)", lambda found: operands[int(found[1])], text)


def kernel_text(target):
    """A kernel with each piece of the PTX, one of them twice, as a compiler unrolls it."""
    pieces = [inserted(gputrace_device.START, "%state", "%ring")]
    pieces += [inserted(gputrace_device.PUT, "%state", "%state", "%ring", "%tag", "%value")] * 2
    pieces.append(inserted(gputrace_device.CLOSE, "%ignored", "%state", "%ring"))
    version = {"sm_70": "6.0", "sm_75": "6.3", "sm_80": "7.0", "sm_90": "7.8", "sm_100": "8.6"}[target]
    return f""".version {version}
.target {target}
.address_size 64
.visible .entry kernel(.param .u64 ring, .param .u64 tag, .param .u64 value)
{{
	.reg .b64 %state, %ring, %tag, %value, %ignored;
	ld.param.u64 %ring, [ring];
	ld.param.u64 %tag, [tag];
	ld.param.u64 %value, [value];
	{" ".join(pieces)}
	ret;
}}
"""
