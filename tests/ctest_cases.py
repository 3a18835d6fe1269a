"""Runs ctest and counts test cases rather than programs.

    python3 tests/ctest_cases.py BUILD_DIR [CTEST_ARGUMENT...]

A doctest program counts with its cases, a Python suite with its last line, anything else as one.
Output of what failed is shown. The last line is `N passed, N failed`.
"""
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

DOCTEST = re.compile(r'^\[doctest\] test cases:\s*\d+ *\| *(\d+) passed *\| *(\d+) failed', re.M)
SUITE = re.compile(r'^(\d+) passed, (\d+) failed$', re.M)
OUTPUT_BYTES_MAX = 1 << 20


def run_ctest(build, arguments):
    """The <testcase> elements of ctest's report, and ctest's exit code."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, 'report.xml')
        sizes = [f'--test-output-size-{kind}={OUTPUT_BYTES_MAX}' for kind in ('passed', 'failed')]
        code = subprocess.run(['ctest', '--test-dir', build, '--output-junit', report, '--quiet',
                               f'-j{os.cpu_count()}', *sizes, *arguments],
                              stdin=subprocess.DEVNULL).returncode
        if not os.path.exists(report):
            return [], code
        return list(xml.etree.ElementTree.parse(report).iter('testcase')), code


def count(case):
    """(passed, failed) of one ctest test. A crash after the last case is a failure of its own."""
    output = case.findtext('system-out') or ''
    ok = case.get('status') == 'run'
    tally = DOCTEST.findall(output) or SUITE.findall(output)
    passed, failed = map(int, tally[-1]) if tally else (int(ok), int(not ok))
    return passed, failed if ok else max(failed, 1)


def main():
    cases, code = run_ctest(sys.argv[1], sys.argv[2:])
    passed = failed = 0
    for case in cases:
        good, bad = count(case)
        passed, failed = passed + good, failed + bad
        print(f'{case.get("name"):32} {good:5} passed {bad:3} failed '
              f'{float(case.get("time", 0)):7.2f} s')
        if bad:
            print(case.findtext('system-out') or '(no output)')
    if not cases or (code != 0 and failed == 0):
        print(f'ctest ended with exit code {code} after {len(cases)} tests')
        failed += 1
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


sys.exit(main())
