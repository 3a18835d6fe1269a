"""Rules about who may include, link and wrap whom. The tables are in docs/ARCHITECTURE.md."""
import collections
import fnmatch
import os
import re

from tree import MAP, Finding, is_aside, names

SYSTEM_FOLDERS = ('sys/', 'netinet/', 'arpa/', 'linux/')
SYSTEM = set('''ctype dlfcn errno execinfo fcntl fts grp ifaddrs inttypes limits locale malloc netdb
    poll pthread pwd sched semaphore signal spawn stdint stdio stdlib string strings syslog
    termios time ucontext unistd arm_acle arm_neon emmintrin immintrin nmmintrin'''.split())
NO_NAMES = {'util', 'utils', 'common', 'helper', 'helpers', 'manager', 'managers', 'service',
            'services', 'misc'}
FOLDER_FILES_MAX = 25


def arrows(tree):
    """A file includes only its own module, base, and what the module table allows."""
    allowed = tree.arrows()
    for module, paths in tree.modules().items():
        for path in paths:
            for line, name, quoted in tree.source(path).includes():
                target = name.split('/')[0]
                if not quoted or '/' not in name or target == module:
                    continue
                if not {target, name} & allowed.get(module, set()):
                    yield Finding(path, line, 'arrows',
                                  f'{module} may not include {name}; see the module table of {MAP}')


def unused_arrows(tree):
    """The module table allows nothing that no file makes use of: else it would say little."""
    modules = tree.modules()
    for row in tree.table('module'):
        module = names(row[1])[0]
        included = {name for path in modules.get(module, ())
                    for _, name, quoted in tree.source(path).includes() if quoted}
        included |= {name.split('/')[0] for name in included}
        for name in names(row[2]):
            if module in modules and name not in included:
                yield Finding(MAP, row[0], 'unused-arrows', f'{module} includes nothing of {name}')


def links(tree):
    """CMake links only what the module table allows."""
    allowed = tree.arrows()
    for path, text in tree.files.items():
        call = re.search(r'hw_module\(\s*(\w+)([^)]*)\)', text)
        if not call or not re.fullmatch(r'src/\w+/CMakeLists\.txt', path):
            continue
        module = call.group(1)
        may = {name.split('/')[0] for name in allowed.get(module, set())}
        deps = re.search(r'\bDEPS\b([^)]*?)(?:\bLIBS\b|$)', call.group(2), re.S)
        for dep in deps.group(1).split() if deps else []:
            if dep not in may:
                line = text[:call.start()].count('\n') + 1
                yield Finding(path, line, 'links', f'{module} may not link {dep}')


def cycles(tree):
    """No module reaches itself through what its files include."""
    graph = collections.defaultdict(set)
    for module, paths in tree.modules().items():
        for path in paths:
            for _, name, quoted in tree.source(path).includes():
                if quoted and '/' in name and name.split('/')[0] != module:
                    graph[module].add(name.split('/')[0])
    for module in sorted(graph):
        ring = path_to(graph, module, module)
        if ring and module == min(ring):
            yield Finding('src/' + module, 1, 'cycles', ' -> '.join([module] + ring))


def path_to(graph, start, goal):
    """The shortest way from start to goal along the graph, goal included; None if there is none."""
    queue, seen = collections.deque([(start, [])]), set()
    while queue:
        node, way = queue.popleft()
        for following in sorted(graph.get(node, ())):
            if following == goal:
                return way + [goal]
            if following not in seen:
                seen.add(following)
                queue.append((following, way + [following]))
    return None


def third_party(tree):
    """A third-party header stands only where the table of libraries says."""
    rows = [(names(row[2]), names(row[3])) for row in tree.table('library')]
    for_tests = test_headers(tree)
    for path in tree.cpp_files(('src',)):
        for line, name, quoted in tree.source(path).includes():
            if quoted or is_system(name):
                continue
            places = [p for prefixes, places in rows if name.startswith(tuple(prefixes))
                      for p in places]
            seen_as = path[:-2] + '_test.cc' if path in for_tests else path
            if not any(fnmatch.fnmatch(seen_as, 'src/' + place) for place in places):
                yield Finding(path, line, 'third-party',
                              f'<{name}> may not stand here; see the table of libraries in {MAP}')


def test_headers(tree):
    """Headers that nothing but tests, benchmarks and fuzz targets includes, directly or not."""
    users = collections.defaultdict(set)
    for path in tree.cpp_files(('src',)):
        for _, name, _ in tree.source(path).includes():
            users['src/' + name].add(path)
    found, before = set(), None
    while found != before:
        before = set(found)
        found = {path for path in tree.headers()
                 if users[path] and all(is_aside(u) or u in before for u in users[path])}
    return found


def is_system(name):
    """A header of the C++ library or of the operating system."""
    stem, extension = os.path.splitext(name)
    return ('/' not in name and not extension) or name.startswith(SYSTEM_FOLDERS) or (
        extension == '.h' and stem in SYSTEM)


def file_names(tree):
    """Nothing has a name without content, which would attract everything."""
    for path in sorted(tree.paths | tree.folders):
        words = re.split(r'[._-]', os.path.basename(path).lower())
        for word in NO_NAMES & set(words):
            yield Finding(path, 1, 'names', f'"{word}" says nothing about what is inside')


def folder_size(tree):
    """A module of more than 25 files, tests and what only they include apart, is two modules."""
    for_tests = test_headers(tree)
    for module, paths in tree.modules().items():
        count = sum(not is_aside(path) and path not in for_tests for path in paths)
        if count > FOLDER_FILES_MAX:
            yield Finding('src/' + module, 1, 'folder-size',
                          f'{count} files, more than {FOLDER_FILES_MAX}')


RULES = {'arrows': arrows, 'unused-arrows': unused_arrows, 'links': links, 'cycles': cycles,
         'third-party': third_party, 'names': file_names, 'folder-size': folder_size}
