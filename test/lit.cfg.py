#===- lit.cfg.py - How the tests of this folder run ----------------------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# The suite of everything that runs as commands: .mlir and .test files with RUN
# lines. C++ unit tests are a suite of their own, in unit/.
#
#===----------------------------------------------------------------------===//

import os
import pathlib
import shlex
import shutil
import sys

import lit.formats

config.name = "Isobath"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["support", "fuzz"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.build_root, "test")

# isobath, isobath-opt, FileCheck, not, split-file, … are found by name.
config.environment["PATH"] = os.pathsep.join(
    [config.tools_dir, config.llvm_tools_dir, config.environment["PATH"]])
config.environment["PYTHONDONTWRITEBYTECODE"] = "1"
# Compiled models are shared between tests, and with nothing outside them.
config.environment["ISOBATH_CACHE_DIR"] = os.path.join(
    config.build_root, "test", "cache")

source_root = pathlib.Path(config.source_root)
novels = source_root / "data" / "novels-text"
for name, value in [("%python", sys.executable),
                    ("%build", config.build_root),
                    ("%cxx", config.cxx_compiler),
                    ("%examples", source_root / "examples"),
                    ("%scripts", source_root / "scripts"),
                    ("%novels", novels),
                    ("%readme", source_root / "README.md"),
                    ("%version", config.version)]:
    config.substitutions.append((name, shlex.quote(str(value))))

# What a test may ask for with REQUIRES or UNSUPPORTED.
if "address" in config.sanitize:
    config.available_features.add("asan")
if (novels / "valid" / "persuasion.txt").exists():
    config.available_features.add("novels")
# The assembler of a CUDA toolkit, where isobath would look for it.
for variable in ("CUDA_ROOT", "CUDA_HOME", "CUDA_PATH"):
    ptxas = os.path.join(os.environ.get(variable, ""), "bin", "ptxas")
    if os.environ.get(variable) and os.access(ptxas, os.X_OK):
        config.environment["CUDA_HOME"] = os.environ[variable]
        config.available_features.add("ptxas")
        break
else:
    if shutil.which("ptxas"):
        config.available_features.add("ptxas")
lit_config.load_config(config, config.sanitizers_config)
