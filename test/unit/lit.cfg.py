#===- lit.cfg.py - How the unit tests run --------------------------------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# Every program in the build's bin/ whose name ends in Tests is a GoogleTest
# program; each of its tests counts as one.
#
#===----------------------------------------------------------------------===//

import os

import lit.formats

config.name = "Isobath-Unit"
config.test_format = lit.formats.GoogleTest(".", "Tests")
config.test_source_root = config.tools_dir
config.test_exec_root = os.path.join(config.build_root, "test", "unit")
lit_config.load_config(config, config.sanitizers_config)
