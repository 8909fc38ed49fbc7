# SPDX-License-Identifier: Apache-2.0
"""Tests of captures and of their replay."""
