"""Rules about what stands in a file of code."""
import os
import re

import cpp
from tree import Finding

COLUMNS_MAX = 100
CODE = ('.h', '.cc', '.py', '.sh', '.mjs', '.cmake')
# Put together from pieces, so that this file keeps the rules that it states.
UNFINISHED = re.compile(r'\b(' + '|'.join(('TO' 'DO', 'FIX' 'ME', 'X' 'XX', 'HA' 'CK')) + r')\b')
WORKPLACE = re.compile('|'.join((
    r'/wo' r'rk/\w', r'/tmp/bri' r'ef', r'\bissues? +#?\d', r'\bissue-?\d',
    r'\banother hel' r'per\b', r'\bthis work' r'place\b', r'\b[SPN]\d{1,2}\.\d{1,2}\b(?!\.)')))
BANNER = re.compile(r'^\s*(?://|#)\s*[-=*#~/]{4,}')


def enum_default(tree):
    """A switch over an enum of ours has no default: a new enumerator must not compile unnoticed."""
    enumerators = {}
    for path in tree.cpp_files(('src',)):
        enumerators.update(tree.source(path).enums())
    ours = {word for words in enumerators.values() for word in words}
    for path in tree.cpp_files():
        source = tree.source(path)
        for match in re.finditer(r'\bswitch\s*\(', source.code):
            brace = source.code.find('{', cpp.closing(source.code, match.end() - 1))
            body = own_labels(source.code, brace)
            labels = re.findall(r'\bcase\s+([\w:]+)\s*:(?!:)', body)
            default = re.search(r'\bdefault\s*:(?!:)', body)
            if default and any(label.split('::')[-1] in ours for label in labels):
                yield Finding(path, source.line(brace + default.start()), 'enum-default',
                              'name every enumerator instead of default')


def own_labels(code, brace):
    """A switch's body with the bodies of the switches inside it blanked."""
    body = code[brace:cpp.closing(code, brace)]
    while match := re.search(r'\bswitch\s*\(', body):
        inner = body.find('{', match.end())
        end = cpp.closing(body, inner)
        body = body[:match.start()] + re.sub(r'[^\n]', ' ', body[match.start():end]) + body[end:]
    return body


def awaits(tree):
    """Forms that g++ 12 compiles to a double free or a crash."""
    for path in tree.cpp_files():
        source = tree.source(path)
        for offset, text in cpp.await_expressions(source.code):
            problem = await_problem(text)
            if problem:
                yield Finding(path, source.line(offset), 'co-await', problem)
        for match in re.finditer(r'\bswitch\s*\(\s*co_await\b', source.code):
            yield Finding(path, source.line(match.start()), 'co-await',
                          'await into a variable, then switch')


def await_problem(text):
    """What is wrong with one co_await expression, or None."""
    if re.search(r'(?:^|[^\w\])\s])\s*\[\s*[^\]\s]', text):
        return 'a closure with captures inside co_await: name it on the line above'
    # What is left of a closure without captures is its body, which may have braces.
    while match := re.search(r'\[\s*\]\s*(?:\([^()]*\))?[^{;]*\{', text):
        text = text[:match.start()] + text[cpp.closing(text, match.end() - 1) + 1:]
    if '{' in text:
        return 'braces inside co_await: name the value on the line above'
    return None


def unfinished(tree):
    """What is not done is in the documents, not in a note beside the code."""
    for path in tree.files:
        for line, text in enumerate(tree.lines(path), 1):
            if UNFINISHED.search(text):
                yield Finding(path, line, 'unfinished', UNFINISHED.search(text).group(0))


def workplace(tree):
    """Nothing in the project speaks of where it was written."""
    for path in tree.files:
        for line, text in enumerate(tree.lines(path), 1):
            if WORKPLACE.search(text):
                yield Finding(path, line, 'workplace', WORKPLACE.search(text).group(0))


def columns(tree):
    """Code fits into 100 columns."""
    for path in tree.files:
        if is_code(tree, path):
            for line, text in enumerate(tree.lines(path), 1):
                if len(text) > COLUMNS_MAX:
                    yield Finding(path, line, 'columns', f'{len(text)} columns')


def is_code(tree, path):
    if path.endswith(CODE) or path.endswith('CMakeLists.txt'):
        return True
    return '.' not in os.path.basename(path) and tree.files[path].startswith('#!')


def banners(tree):
    """No lines of dashes: a file that needs them is two files."""
    for path in tree.files:
        if is_code(tree, path):
            for line, text in enumerate(tree.lines(path), 1):
                if BANNER.match(text):
                    yield Finding(path, line, 'banners', 'a line that only draws')


RULES = {'enum-default': enum_default, 'co-await': awaits, 'unfinished': unfinished,
         'workplace': workplace, 'columns': columns, 'banners': banners}
