"""What tidy measures without judging: the longest files and functions."""
from tree import is_aside

LONG_LINES = 70


def lines(tree, count=5):
    """The report, ready to print."""
    files, functions = [], []
    for path in tree.cpp_files(('src',)):
        if is_aside(path):
            continue
        files.append((tree.files[path].count('\n'), path))
        functions += [(s.last - s.first + 1, f'{path}:{s.first} {s.name}')
                      for s in tree.source(path).functions()]
    if not functions:
        return []
    total = sum(n for n, _ in functions)
    long = sum(n for n, _ in functions if n > LONG_LINES)
    median = sorted(n for n, _ in functions)[len(functions) // 2]
    out = [f'{len(files)} files, {sum(n for n, _ in files)} lines, {len(functions)} functions, '
           f'median {median} lines, {100 * long / total:.1f} % of their lines in functions above '
           f'{LONG_LINES}']
    out += [f'{n:6} lines  {path}' for n, path in sorted(files, reverse=True)[:count]]
    out += [f'{n:6} lines  {place}' for n, place in sorted(functions, reverse=True)[:count]]
    return out
