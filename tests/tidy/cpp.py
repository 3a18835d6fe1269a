"""Reads C++ by its braces: no compiler is run, so the fast tests stay fast.

Text is blanked first (comments to spaces, strings and characters to x), so that offsets and lines
stay true and nothing inside a literal is taken for code.
"""
import bisect
import collections
import re

TOKEN = re.compile(
    r'//(?:[^\n\\]|\\.|\\\n)*|/\*.*?\*/'
    r'|R"(?P<mark>[^\s()\\"]{0,16})\(.*?\)(?P=mark)"'
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|\b\d[\w']*"
    r"|'(?:[^'\\\n]|\\.)+'", re.S)
# A function, type or other statement at namespace or class level. `public` is false inside a
# private part; `inside` is the statement that encloses it, or None.
Statement = collections.namedtuple('Statement', 'kind name first last public inside head')
Scope = collections.namedtuple('Scope', 'access statement')

TYPE_HEAD = re.compile(r'^(?:template\s*<.*?>\s*)?(?:requires\b.*?\s)?'
                       r'(?:class|struct|union|enum)\b', re.S)
CONSTRUCTOR_LIST = re.compile(r'\)\s*(?:noexcept\s*)?:(?!:)')
LABEL = re.compile(r'\s*(public|private|protected)\s*:(?!:)')
NO_NAME = {'if', 'for', 'while', 'switch', 'catch', 'decltype', 'requires', 'noexcept', 'alignas'}


def blank(text):
    """`text` with comments as spaces and literals as x between their quotes."""
    def empty(match):
        token = match.group(0)
        if token.startswith(('//', '/*')):
            return re.sub(r'[^\n]', ' ', token)
        if token[0].isdigit():
            return token
        return token[0] + re.sub(r'[^\n]', 'x', token[1:-1]) + token[-1]
    return TOKEN.sub(empty, text)


def without_directives(code):
    """Blanked code without its preprocessor lines."""
    out, continued = [], False
    for line in code.split('\n'):
        directive = continued or line.lstrip().startswith('#')
        continued = directive and line.rstrip().endswith('\\')
        out.append(' ' * len(line) if directive else line)
    return '\n'.join(out)


def closing(code, at):
    """Offset of the bracket that closes the one at `at`; the end where none does."""
    pairs = {'{': '}', '(': ')', '[': ']'}
    opened, closed = code[at], pairs[code[at]]
    depth = 0
    for match in re.compile('[' + re.escape(opened + closed) + ']').finditer(code, at):
        depth += 1 if match.group(0) == opened else -1
        if depth == 0:
            return match.start()
    return len(code) - 1


class Source:
    """One C++ file: its text, its blanked code and what stands in it."""

    def __init__(self, text):
        self.text = text
        self.code = blank(text)
        self.plain = without_directives(self.code)
        self.raw_lines = text.split('\n')
        self.code_lines = self.code.split('\n')
        self._starts = [0] + [m.end() for m in re.finditer('\n', self.code)]
        self._statements = None

    def line(self, offset):
        return bisect.bisect_right(self._starts, offset)

    def is_comment(self, line):
        """True where the line (from 1) has a comment and no code."""
        inside = 1 <= line <= len(self.raw_lines)
        return inside and bool(self.raw_lines[line - 1].strip()) and (
            not self.code_lines[line - 1].strip())

    def has_comment(self, line):
        return self.raw_lines[line - 1].rstrip() != self.code_lines[line - 1].rstrip() and (
            '//' in self.raw_lines[line - 1] or '/*' in self.raw_lines[line - 1])

    def includes(self):
        """(line, name, quoted) of every #include."""
        for number, line in enumerate(self.raw_lines, 1):
            match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
            if match and self.code_lines[number - 1].strip():
                yield number, match.group(2), match.group(1) == '"'

    def statements(self):
        """Every statement at namespace and class level, in the order of their ends."""
        if self._statements is None:
            self._statements = list(self._scan())
        return self._statements

    def functions(self):
        return [s for s in self.statements() if s.kind == 'function' and '{' in s.head[-1:]]

    def enums(self):
        """Enum name -> its enumerators."""
        found = {}
        for match in re.finditer(r'\benum\s+(?:class\s+|struct\s+)?(\w+)[^;{]*\{', self.code):
            body = self.code[match.end():closing(self.code, match.end() - 1)]
            found[match.group(1)] = re.findall(r'(?:^|,)\s*(\w+)', body)
        return found

    def _scan(self):
        scopes, head_at, i = [], 0, 0
        code = self.plain
        delimiter = re.compile(r'[{}();\[]')
        while match := delimiter.search(code, i):
            at, char = match.start(), match.group(0)
            i = at + 1
            if char in '([':
                i = closing(code, at) + 1
                continue
            if char in '{;':
                head_at = self._skip_labels(scopes, head_at, at)
            head = code[head_at:at].strip()
            if char == '{':
                kind = opening_kind(head)
                after = closing(code, at) + 1
                if kind == 'initializer' or continues(code, head, after):
                    i = after
                    continue
                if kind in ('namespace', 'type'):
                    scopes.append(self._enter(scopes, kind, head, head_at, at))
                else:
                    yield self._statement(scopes, kind, head + '{', head_at, after - 1)
                    i = after
                head_at = i
            elif char == '}':
                if scopes:
                    scope = scopes.pop()
                    if scope.statement.kind == 'type':
                        yield scope.statement._replace(last=self.line(at))
                head_at = i
            elif char == ';':
                if head:
                    yield self._statement(scopes, statement_kind(head), head, head_at, at)
                head_at = i

    def _skip_labels(self, scopes, start, end):
        """Notes `public:` and the like in front of a head; gives where the head really starts."""
        while label := LABEL.match(self.plain, start, end):
            if scopes:
                scopes[-1] = scopes[-1]._replace(access=label.group(1))
            start = label.end()
        return start

    def _enter(self, scopes, kind, head, head_at, brace):
        access = 'private' if re.search(r'\bclass\b', head) and 'enum' not in head else 'public'
        return Scope(access, self._statement(scopes, kind, head, head_at, brace))

    def _statement(self, scopes, kind, head, head_at, end):
        text = self.plain[head_at:end]
        first = self.line(head_at + len(text) - len(text.lstrip()))
        public = all(scope.access == 'public' for scope in scopes)
        inside = scopes[-1].statement if scopes else None
        return Statement(kind, name_of(head), first, self.line(end), public, inside, head)


def opening_kind(head):
    """What a brace after `head` opens."""
    if re.match(r'(?:inline\s+)?namespace\b|extern\b\s*"', head):
        return 'namespace'
    if re.match(r'enum\b', head):
        return 'enum'
    if TYPE_HEAD.match(head) and not re.search(r'\)\s*(?:const|noexcept|\s)*$', head):
        return 'type'
    if re.search(r'(=|,|\breturn)$', head) or '(' not in head:
        return 'initializer'
    return 'function'


def continues(code, head, after):
    """A brace inside a constructor's member list: another member or the body follows."""
    if not CONSTRUCTOR_LIST.search(head) or head.endswith(')'):
        return False
    return code[after:after + 200].lstrip()[:1] in (',', '{')


def statement_kind(head):
    """What a statement that ends in a semicolon is."""
    if re.match(r'(?:using|typedef)\b', head):
        return 'alias' if '=' in head or head.startswith('typedef') else 'using'
    if re.match(r'(?:friend|static_assert|extern template|template\s+class)\b', head):
        return 'other'
    if re.match(r'(?:template\s*<[^;]*>\s*)?(?:class|struct|enum|union)\b[^({=]*$', head):
        return 'forward'
    before = re.split(r'(?<![<>=!])=(?!=)', head)[0]
    if re.search(r'[\w>]\s*\(', before):
        return 'function'
    return 'variable'


def name_of(head):
    """The word that a head declares, good enough for a message."""
    head = re.sub(r'^template\s*<[^;{]*?>\s*(?=\w)', '', head)
    match = re.match(r'(?:class|struct|union|enum(?:\s+class)?)\s+(\w+)', head)
    if match:
        return match.group(1)
    for match in re.finditer(r'(~?\w+|operator\s*[^\s\w]{1,3})\s*\(', head):
        if match.group(1) not in NO_NAME:
            return match.group(1)
    words = re.findall(r'\w+', re.split(r'=', head)[0])
    return words[-1] if words else '?'


def await_expressions(code):
    """(offset, text) of every co_await with its whole operand, up to where the expression ends."""
    for match in re.finditer(r'\bco_await\b', code):
        depth = 0
        for stop in re.compile(r'[(){}\[\];,]').finditer(code, match.end()):
            char = stop.group(0)
            if depth == 0 and char in ')]};,':
                yield match.start(), code[match.start():stop.start()]
                break
            depth += (char in '([{') - (char in ')]}')
