"""The files that tidy reads, and the tables of the map that some rules are about."""
import collections
import fnmatch
import os
import re

import cpp

MAP = 'docs/ARCHITECTURE.md'
SKIPPED = {'.git', 'build', 'data', 'node_modules', '__pycache__', '.cache', '.venv'}
TEXT = {'.h', '.cc', '.cmake', '.txt', '.md', '.py', '.sh', '.mjs', '.js', '.toml', '.json', ''}
ASIDE = ('_test.cc', '_bench.cc', '_fuzz.cc')  # stand beside the code, do not count as it
TEXT_BYTES_MAX = 400_000  # larger files are recorded data, not something a person writes

Finding = collections.namedtuple('Finding', 'path line rule message')


class Tree:
    """Every text file below a folder: path from the root -> text. Reads once, never writes."""

    def __init__(self, files, paths=None):
        self.files = files
        self.paths = set(paths or files)
        self.folders = {os.path.dirname(p) for p in self.paths}
        for folder in list(self.folders):
            while folder:
                folder = os.path.dirname(folder)
                self.folders.add(folder)
        self._sources = {}

    @classmethod
    def load(cls, root):
        files, paths = {}, []
        for base, folders, names in os.walk(root):
            folders[:] = sorted(f for f in folders if f not in SKIPPED)
            for name in sorted(names):
                path = os.path.relpath(os.path.join(base, name), root)
                paths.append(path)
                text = read_text(os.path.join(base, name))
                if text is not None:
                    files[path] = text
        return cls(files, paths)

    def lines(self, path):
        return self.files[path].split('\n')

    def source(self, path):
        """The C++ file's cpp.Source, scanned once."""
        if path not in self._sources:
            self._sources[path] = cpp.Source(self.files[path])
        return self._sources[path]

    def cpp_files(self, under=('src', 'tests', 'bench')):
        return [p for p in self.files if p.endswith(('.h', '.cc')) and p.split('/')[0] in under]

    def headers(self):
        return [p for p in self.cpp_files(('src',)) if p.endswith('.h')]

    def modules(self):
        """Module name -> its C++ files, tests included."""
        found = collections.defaultdict(list)
        for path in self.cpp_files(('src',)):
            if path.count('/') >= 2:
                found[path.split('/')[1]].append(path)
        return found

    def matches(self, pattern):
        """Does a file or folder of that name exist? `*` stands for any characters."""
        pattern = pattern.rstrip('/')
        if '*' not in pattern:
            return pattern in self.paths or pattern in self.folders
        return any(fnmatch.fnmatch(p, pattern) for p in self.paths | self.folders)

    def table(self, first_column, path=MAP):
        """Rows of the Markdown table in `path` whose head starts with `first_column`.

        Each row is its cells' text with the line number in front."""
        rows, inside = [], False
        for number, line in enumerate(self.files.get(path, '').split('\n'), 1):
            cells = [c.strip() for c in line.strip().strip('|').split('|')]
            if not line.startswith('|'):
                inside = False
            elif cells[0] == first_column:
                inside = True
            elif inside and not set(cells[0]) <= set('-: '):
                rows.append([number] + cells)
        return rows

    def arrows(self):
        """The module table: module -> set of modules and `module/header.h` that it may include."""
        return {names(row[1])[0]: set(names(row[2])) | {'base'}
                for row in self.table('module') if names(row[1])}


def names(cell):
    """The words in backticks of a table cell."""
    return re.findall(r'`([^`]+)`', cell)


def read_text(path):
    if os.path.splitext(path)[1] not in TEXT or os.path.islink(path):
        return None
    if os.path.getsize(path) > TEXT_BYTES_MAX:
        return None
    try:
        with open(path, encoding='utf-8') as file:
            return file.read()
    except UnicodeDecodeError:
        return None


def is_aside(path):
    return path.endswith(ASIDE)
