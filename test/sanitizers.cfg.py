#===- sanitizers.cfg.py - How the sanitizers are set up in tests ---------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# Loaded by the suite of commands and by that of unit tests. It does nothing for
# a build without sanitizers.
#
#===----------------------------------------------------------------------===//

# Debian's libMLIR and libLLVM are not instrumented. A container that they and
# we both change would be reported as overflowing, memory that one side poisons
# as misused by the other, and they keep what they once allocated until the
# process ends.
config.environment["ASAN_OPTIONS"] = ":".join([
    "allow_user_poisoning=0",
    "detect_container_overflow=0",
    "detect_stack_use_after_return=1",
    "strict_string_checks=1",
])
config.environment["UBSAN_OPTIONS"] = "print_stacktrace=1"
