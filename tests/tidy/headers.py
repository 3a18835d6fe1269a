"""Rules about headers: introduced, self-contained, documented."""
import os
import re
import subprocess

import layers
from tree import Finding

INTRODUCTION_WORDS_MIN = 5
# How many neighbours without a comment of their own may share the one above them.
SHARED_MAX = 3
NEEDS_COMMENT = {'function', 'type', 'enum', 'alias', 'variable'}


def introduced(tree):
    """A header begins with a sentence that says what it is, then #pragma once."""
    for path in tree.headers():
        words = 0
        for line, text in enumerate(tree.lines(path), 1):
            if text.startswith('//'):
                words += len(re.findall(r'[A-Za-z]{2,}', text))
            elif text.strip():
                if words < INTRODUCTION_WORDS_MIN:
                    yield Finding(path, 1, 'introduced', 'begin with a sentence on what it is')
                if text.strip() != '#pragma once':
                    yield Finding(path, line, 'introduced', 'the first code is #pragma once')
                break


def own_header_first(tree):
    """thing.cc includes thing.h first, so that the build proves the header self-contained."""
    for path in tree.cpp_files(('src',)):
        own = re.sub(r'\.cc$', '.h', path)
        if path == own or own not in tree.files:
            continue
        first = next(iter(tree.source(path).includes()), None)
        if first is None or 'src/' + first[1] != own:
            yield Finding(path, first[0] if first else 1, 'own-header-first',
                          f'include "{own[4:]}" before anything else')


def documented(tree):
    """Every public declaration of a header has a comment, or shares one with its neighbours."""
    for_tests = layers.test_headers(tree)
    for path in tree.headers():
        if path in for_tests:
            continue
        source = tree.source(path)
        ends = {s.last: s for s in source.statements()}
        for statement in source.statements():
            if needs_comment(statement) and not has_comment(source, ends, statement):
                yield Finding(path, statement.first, 'documented',
                              f'{statement.name} has no comment that says what it means')


def needs_comment(statement):
    """Declarations that take their meaning from elsewhere need none; nor do a type's fields."""
    if not statement.public or statement.kind not in NEEDS_COMMENT:
        return False
    if statement.inside is not None and statement.inside.name.endswith('_detail'):
        return False
    if re.search(r'\b(override|final)\b|=\s*(default|delete)$|\boperator\b|~\w+\s*\('
                 rf'|::{re.escape(statement.name)}\s*\(', statement.head):
        return False
    in_type = statement.inside is not None and statement.inside.kind == 'type'
    if in_type and statement.name == statement.inside.name:  # a constructor
        return False
    return not (in_type and statement.kind in ('variable', 'alias')) and (
        not statement.head.startswith('friend'))


def has_comment(source, ends, statement):
    """Looks at the statement's own lines, then upwards through at most SHARED_MAX neighbours.

    The type that a header is about may have its comment as the header's own: `// Name: ...`."""
    if any(source.has_comment(n) for n in (statement.first, statement.last)):
        return True
    if statement.kind == 'type' and source.text.startswith(f'// {statement.name}: '):
        return True
    line, shared = statement.first - 1, 0
    while line >= 1:
        text = source.code_lines[line - 1].strip()
        if source.is_comment(line):
            return True
        if re.fullmatch(r'(public|protected)\s*:', text):
            line -= 1
        elif statement.inside and statement.inside.kind == 'type' and text.endswith('{') and (
                line >= statement.inside.first and line not in ends):
            line = statement.inside.first - 1
        elif line in ends and shared < SHARED_MAX:
            if source.has_comment(line):
                return True
            line, shared = ends[line].first - 1, shared + 1
        else:
            return False
    return False


def unproven(tree):
    """Headers that no .cc file includes first: nothing in the build shows them self-contained."""
    first = set()
    for path in tree.cpp_files(('src',)):
        include = next(iter(tree.source(path).includes()), None)
        if path.endswith('.cc') and include:
            first.add('src/' + include[1])
    return [path for path in tree.headers() if path not in first]


def compile_alone(root, tree, compiler):
    """The slow half of self-contained: compiles each unproven header on its own."""
    for path in unproven(tree):
        command = [*compiler.split(), '-std=c++20', '-fsyntax-only', '-x', 'c++', '-Isrc',
                   '-DBOOST_ASIO_SEPARATE_COMPILATION', path]
        run = subprocess.run(command, cwd=root, capture_output=True, text=True)
        if run.returncode != 0:
            message = next((x for x in run.stderr.split('\n') if 'error' in x), 'does not compile')
            yield Finding(os.path.relpath(path), 1, 'self-contained', message)


RULES = {'introduced': introduced, 'own-header-first': own_header_first, 'documented': documented}
