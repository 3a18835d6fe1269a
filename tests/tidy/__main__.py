"""Checks what a compiler does not: layers, headers, documents, and forms that g++ 12 miscompiles.

    python3 tests/tidy               every rule over the project; exit 1 when one is broken
    python3 tests/tidy --self-test   every rule against a violation planted for it
    python3 tests/tidy --headers CXX compiles each header that no .cc file includes first
    python3 tests/tidy --options HEADWAY  the option reference against the program's own help

Python's standard library only. Reads the whole tree in about a second; writes nothing.
The last line is `N passed, N failed`, a rule counting as one test.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import documents  # noqa: E402 (beside this file)
import forms  # noqa: E402
import headers  # noqa: E402
import layers  # noqa: E402
import options  # noqa: E402
import planted  # noqa: E402
import report  # noqa: E402
from tree import Tree  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RULES = {**layers.RULES, **headers.RULES, **forms.RULES, **documents.RULES}


def check():
    tree = Tree.load(ROOT)
    broken = 0
    for rule in RULES.values():
        findings = sorted(set(rule(tree)))
        broken += bool(findings)
        for finding in findings:
            print(f'{finding.path}:{finding.line}: {finding.rule}: {finding.message}')
    for line in report.lines(tree):
        print(line)
    return len(RULES) - broken, broken


def check_headers(compiler):
    tree = Tree.load(ROOT)
    alone = headers.unproven(tree)
    findings = list(headers.compile_alone(ROOT, tree, compiler))
    for finding in findings:
        print(f'{finding.path}: {finding.rule}: {finding.message}')
    return len(alone) - len(findings), len(findings)


def check_options(program):
    total, findings = options.check(Tree.load(ROOT), program)
    for finding in findings:
        print(f'{finding.path}:{finding.line}: {finding.rule}: {finding.message}')
    return max(total - len(findings), 0), len(findings) + (total == 0)


def main(arguments):
    if arguments == ['--self-test']:
        passed, failed = planted.run(RULES)
    elif arguments[:1] == ['--headers'] and len(arguments) == 2:
        passed, failed = check_headers(arguments[1])
    elif arguments[:1] == ['--options'] and len(arguments) == 2:
        passed, failed = check_options(arguments[1])
    elif not arguments:
        passed, failed = check()
    else:
        print(__doc__, file=sys.stderr)
        return 2
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


sys.exit(main(sys.argv[1:]))
