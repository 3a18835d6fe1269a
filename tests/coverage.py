"""Line coverage of modules.

    python3 tests/coverage.py BUILD_DIR MODULE... [--and MODULE...]

BUILD_DIR was built with g++ --coverage. Runs MODULE_test for each module, those behind --and too,
which reach code of the first ones. Reads the counters with gcov, prints a row for each module in
front of --and with the lines that no test reached, and fails below PERCENT_MIN.
"""
import glob
import gzip
import json
import os
import subprocess
import sys

PERCENT_MIN = 90
MISSED_SHOWN = 12  # ranges of unreached lines shown for a file
ASIDE = ('_test.cc', '_bench.cc', '_fuzz.cc')


def run_tests(build, modules):
    """Runs the test programs from nothing; gives the modules whose program failed."""
    for counters in glob.glob(f'{build}/**/*.gcda', recursive=True):
        os.remove(counters)
    broken = []
    for module in modules:
        run = subprocess.run([f'{build}/src/{module}/{module}_test'], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if run.returncode != 0:
            print(run.stdout)
            broken.append(module)
    return broken


def line_counts(build):
    """Path below src -> {line: times executed}, over every object file that was built.

    A file whose object no program linked has no counters but counts all the same: with 0."""
    counts = {}
    for notes in glob.glob(f'{build}/**/*.gcno', recursive=True):
        out = subprocess.run(['gcov', '--json-format', '--stdout', os.path.abspath(notes)],
                             cwd=build, capture_output=True, check=True).stdout
        for document in filter(None, unzip(out).split(b'\n')):
            add(counts, json.loads(document))
    return counts


def unzip(data):
    return gzip.decompress(data) if data[:2] == b'\x1f\x8b' else data


def add(counts, report):
    for file in report['files']:
        path = os.path.join(report['current_working_directory'], file['file'])
        path = os.path.relpath(path, 'src')
        if path.startswith('..') or path.endswith(ASIDE):
            continue
        lines = counts.setdefault(path, {})
        for line in file['lines']:
            number = line['line_number']
            lines[number] = max(lines.get(number, 0), line['count'])


def ranges(numbers):
    """[1, 2, 3, 7] -> ['1-3', '7']."""
    out = []
    for n in sorted(numbers):
        if out and out[-1][1] == n - 1:
            out[-1][1] = n
        else:
            out.append([n, n])
    return [f'{a}' if a == b else f'{a}-{b}' for a, b in out]


def report_module(module, counts):
    """Prints a module's row and its unreached lines; gives its coverage in percent."""
    files = {p: lines for p, lines in counts.items() if p.split('/')[0] == module}
    total = sum(len(lines) for lines in files.values())
    missed = {p: [n for n, count in lines.items() if count == 0] for p, lines in files.items()}
    hit = total - sum(len(numbers) for numbers in missed.values())
    percent = 100 * hit / total if total else 0
    print(f'{module:10} {percent:6.1f} % of {total} lines')
    for path, numbers in sorted(missed.items()):
        if numbers:
            shown = ranges(numbers)
            more = ' ...' if len(shown) > MISSED_SHOWN else ''
            print(f'    src/{path}: {", ".join(shown[:MISSED_SHOWN])}{more}')
    return percent


def main():
    build, modules, others = sys.argv[1], sys.argv[2:], []
    if '--and' in modules:
        at = modules.index('--and')
        modules, others = modules[:at], modules[at + 1:]
    broken = run_tests(build, modules + others)
    counts = line_counts(build)
    low = [m for m in modules if report_module(m, counts) < PERCENT_MIN]
    for module in broken:
        print(f'{module}: its tests fail')
    for module in low:
        print(f'{module}: below {PERCENT_MIN} %')
    failed = len(set(broken) | set(low))
    print(f'{len(modules + others) - failed} passed, {failed} failed')
    return 1 if failed else 0


sys.exit(main())
