# SPDX-License-Identifier: Apache-2.0
from .optimizer import Optimizer


class AdamW(Optimizer):
    def work(self):
        from .. import operation
        operation("fused_adamw")
