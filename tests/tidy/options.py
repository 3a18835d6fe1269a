"""The reference page of options says what the program's own --help-options says."""
import re
import subprocess

from tree import Finding

PAGE = 'docs/configuration.md'
# Which command shows the options of which file of the page.
COMMANDS = {'headway.toml': 'serve', 'engine.toml': 'engine'}
HEADING = r'\[{1,2}([a-z_]+)\]{1,2}'


def of_page(text):
    """{(file, section, option): (line, default)} of the reference page; 'none' is no default."""
    found, file, section = {}, '', ''
    for number, line in enumerate(text.split('\n'), 1):
        if match := re.match(r'## `(\S+)`', line):
            file = match.group(1)
        elif match := re.match(rf'### `{HEADING}`', line):
            section = match.group(1)
        elif match := re.match(r'\| `([a-z_.]+)` \|', line):
            default = line.split(' | ')[3].strip('`')
            found[file, section, match.group(1)] = (number, default)
    return found


def of_help(text, file):
    """{(file, section, option): default} of what --help-options prints for one file."""
    found, section = {}, ''
    for line in text.split('\n'):
        if match := re.match(rf'{HEADING}  ', line):
            section = match.group(1)
        elif match := re.match(r'  ([a-z_.]+)(?: \((required)\)| = (.*))?$', line):
            found[file, section, match.group(1)] = match.group(2) or match.group(3) or 'none'
    return found


def differences(page_text, help_texts):
    """Options that stand in one of the two only, or with another default."""
    page = of_page(page_text)
    shown = {}
    for file, text in help_texts.items():
        shown.update(of_help(text, file))
    for key in sorted(set(page) | set(shown)):
        line, default = page.get(key, (1, None))
        if default != shown.get(key):
            file, section, option = key
            yield Finding(PAGE, line, 'options',
                          f'{file} [{section}] {option}: {default or "not on the page"}, the '
                          f'program says {shown.get(key) or "that there is none"}')


def check(tree, program):
    """(number of options, differences) of the page and the built program."""
    texts = {file: subprocess.run([program, command, '--help-options', '--lang', 'en'],
                                  capture_output=True, text=True, check=True).stdout
             for file, command in COMMANDS.items()}
    return len(of_page(tree.files[PAGE])), list(differences(tree.files[PAGE], texts))
