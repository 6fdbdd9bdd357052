#===- count_results.py - How many tests of a lit run passed --------------===//
#
# Part of the Isobath project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
#
# Prints two numbers, passed and failed, from the file that lit's --output
# writes. A test that is not supported by the build counts as neither; a result
# that lit may learn to give one day counts as failed.
#
#     count_results.py RESULTS.json
#
#===----------------------------------------------------------------------===//

import json
import sys

PASSED = {"PASS", "XFAIL"}
NOT_RUN = {"UNSUPPORTED", "EXCLUDED", "SKIPPED"}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        codes = [test["code"] for test in json.load(file)["tests"]]
    if not codes:
        sys.exit(f"error: {sys.argv[1]}: no tests, expected some")
    passed = sum(code in PASSED for code in codes)
    failed = len(codes) - passed - sum(code in NOT_RUN for code in codes)
    print(passed, failed)


if __name__ == "__main__":
    main()
