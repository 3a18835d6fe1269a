"""Rules about documents: the map is complete, what they name exists, both languages agree."""
import os
import re

from tree import MAP, Finding, names

README_LINES_MAX = 30
PATH = re.compile(r'(?<![\w/.:~$@<-])((?:src|docs|tests|scripts|bench|cmake|\.ci)/[\w.*/<>+-]*'
                  r'|[A-Z]{3,}[\w.]*\.md)(?![\w${])')
INCLUDE_LIKE = re.compile(r'`([\w-]+/)?([\w-]+\.(?:h|cc))`')


def on_the_map(tree):
    """Every module has a row in the module table, every row a module."""
    rows = {names(row[1])[0]: row[0] for row in tree.table('module') if names(row[1])}
    for module in sorted(set(tree.modules()) - set(rows)):
        yield Finding('src/' + module, 1, 'map', f'{module} is not in the module table of {MAP}')
    for module in sorted(set(rows) - set(tree.modules())):
        yield Finding(MAP, rows[module], 'map', f'there is no module {module}')


def module_readme(tree):
    """Every module has a README.md of at most 30 lines."""
    for module in tree.modules():
        path = f'src/{module}/README.md'
        if path not in tree.files:
            yield Finding(path, 1, 'readme', f'{module} has no README.md')
        elif len(tree.files[path].rstrip('\n').split('\n')) > README_LINES_MAX:
            yield Finding(path, README_LINES_MAX + 1, 'readme',
                          f'longer than {README_LINES_MAX} lines')


def paths_exist(tree):
    """A path that a document or a comment names is there."""
    for path in tree.files:
        if path.endswith('.md'):
            lines = enumerate(tree.lines(path), 1)
        elif path.endswith(('.h', '.cc')):
            source = tree.source(path)
            lines = ((n, t) for n, t in enumerate(tree.lines(path), 1) if source.is_comment(n))
        else:
            continue
        for line, text in lines:
            for name in missing_paths(tree, path, text):
                yield Finding(path, line, 'paths', f'{name} does not exist')


def missing_paths(tree, path, text):
    text = re.sub(r'\w+://\S+', '', text)
    for match in PATH.finditer(text):
        name = re.sub(r'<\w*>', '*', match.group(1)).rstrip('.')
        if not tree.matches(name) and not tree.matches(beside(path, name)):
            yield name
    for match in re.finditer(r'\]\(([^)#:]+)(?:#[^)]*)?\)', text):
        if not tree.matches(beside(path, match.group(1))):
            yield match.group(1)
    for match in INCLUDE_LIKE.finditer(text):
        folder, name = match.groups()
        if not folder and not path.startswith('src/'):
            continue
        pattern = f'src/{folder}{name}' if folder else f'*/{name}'
        if not tree.matches(pattern):
            yield (folder or '') + name


def beside(path, name):
    return os.path.normpath(os.path.join(os.path.dirname(path), name))


def same_commands(tree):
    """README.md and README.zh.md show the same commands and samples in the same order."""
    english, chinese = (commands(tree.files.get(p, '')) for p in ('README.md', 'README.zh.md'))
    for (line, text), (_, other) in zip(english, chinese):
        if text != other:
            yield Finding('README.md', line, 'languages', 'README.zh.md shows something else here')
            return
    if len(english) != len(chinese):
        yield Finding('README.md', 1, 'languages',
                      f'{len(english)} blocks of commands, README.zh.md has {len(chinese)}')


def commands(text):
    """(line, content without comments) of every fenced block that has a language."""
    blocks = []
    for match in re.finditer(r'^```(\w+)\n(.*?)^```', text, re.M | re.S):
        lines = [re.sub(r'\s+#.*|^#.*', '', line).rstrip() for line in match.group(2).split('\n')]
        content = match.group(1), [line for line in lines if line]
        blocks.append((text[:match.start()].count('\n') + 1, content))
    return blocks


RULES = {'map': on_the_map, 'readme': module_readme, 'paths': paths_exist,
         'languages': same_commands}
