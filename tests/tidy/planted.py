"""A violation of every rule, planted in a small clean tree: tidy's own test.

Each case is (rule, {path: text or None}, path and line where it must be found). The clean tree
itself must pass every rule, and so must each of CLEAN, forms that look wrong and are not.
"""
import options
from tree import MAP, Tree

MAP_TEXT = '''# Map

| module | may include | owns |
|---|---|---|
| `base` | – | words |
| `http` | – | heads |
| `wire` | `http/sse.h` | dialects |

| library | headers | stands in |
|---|---|---|
| simdjson | `simdjson.h` | `wire/*.cc` |
'''
HEADER = '''// A head of a message, as it stands on the wire.
#pragma once

#include "base/word.h"

namespace hw::http {

// What a head says.
struct Head {
  int status = 0;
  // True where there is nothing in it.
  bool empty() const;
};

}  // namespace hw::http
'''
CODE = '''#include "http/head.h"

#include <string>

namespace hw::http {
bool Head::empty() const {
  return status == 0;
}
}  // namespace hw::http
'''
BASE = {
    MAP: MAP_TEXT,
    'README.md': '# A thing\n\n```sh\nscripts/up   # starts it\n```\nSee `docs/ARCHITECTURE.md`.\n',
    'README.zh.md': '# 东西\n\n```sh\nscripts/up   # 启动\n```\n',
    'scripts/up': '#!/usr/bin/env bash\necho up\n',
    'src/base/README.md': '# base\n',
    'src/base/CMakeLists.txt': 'hw_module(base)\n',
    'src/base/word.h': '// The words that every module shares with the others.\n#pragma once\n\n'
                       'namespace hw {\n// Who has to act.\n'
                       'enum class Fault { kRequest, kKey };\n}\n',
    'src/http/README.md': '# http\n\nBegin with `head.h`.\n',
    'src/http/CMakeLists.txt': 'hw_module(http)\n',
    'src/http/head.h': HEADER,
    'src/http/head.cc': CODE,
    'src/http/sse.h': '// Splits a stream of events into single events.\n#pragma once\n',
    'src/wire/README.md': '# wire\n',
    'src/wire/CMakeLists.txt': 'hw_module(wire DEPS http LIBS simdjson::simdjson)\n',
    'src/wire/facts.cc': '#include <simdjson.h>\n\n#include "http/sse.h"\n',
}


def method(declaration):
    """The header with one more public declaration, a paragraph of its own."""
    return HEADER.replace('bool empty() const;\n', 'bool empty() const;\n\n' + declaration)


def body(*lines):
    """The source file with these lines in a function."""
    return CODE.replace('  return status == 0;', '\n'.join('  ' + line for line in lines))


CASES = [
    ('arrows', {'src/http/head.cc': '#include "http/head.h"\n#include "wire/facts.h"\n'},
     'src/http/head.cc:2'),
    ('arrows', {'src/wire/facts.cc': '#include "http/head.h"\n'}, 'src/wire/facts.cc:1'),
    ('unused-arrows', {'src/wire/facts.cc': '#include <simdjson.h>\n'}, MAP + ':7'),
    ('links', {'src/http/CMakeLists.txt': 'hw_module(http DEPS\n  wire)\n'},
     'src/http/CMakeLists.txt:1'),
    ('cycles', {'src/base/word.cc': '#include "base/word.h"\n#include "wire/facts.h"\n',
                'src/wire/facts.cc': '#include "base/word.h"\n'}, 'src/base:1'),
    ('third-party', {'src/http/head.cc': '#include "http/head.h"\n\n#include <simdjson.h>\n'},
     'src/http/head.cc:3'),
    ('third-party', {'src/wire/facts.h': '#include <simdjson.h>\n'}, 'src/wire/facts.h:1'),
    ('third-party', {'src/http/head.cc': '#include "http/head.h"\n#include <boost/asio.hpp>\n'},
     'src/http/head.cc:2'),
    ('names', {'src/http/string_ut' 'il.h': HEADER}, 'src/http/string_ut' 'il.h:1'),
    ('names', {'src/mi' 'sc/README.md': ''}, 'src/mi' 'sc:1'),
    ('folder-size', {f'src/http/part{n}.h': HEADER for n in range(26)}, 'src/http:1'),
    ('introduced', {'src/http/head.h': '#pragma once\n'}, 'src/http/head.h:1'),
    ('introduced', {'src/http/head.h': HEADER.replace('#pragma once', '#ifndef HEAD')},
     'src/http/head.h:2'),
    ('own-header-first', {'src/http/head.cc': '#include <string>\n#include "http/head.h"\n'},
     'src/http/head.cc:1'),
    ('documented', {'src/http/head.h': method('  int size() const;\n')}, 'src/http/head.h:14'),
    ('documented', {'src/http/head.h': method('  int size() const { return 1; }\n')},
     'src/http/head.h:14'),
    ('documented', {'src/http/head.h': HEADER.replace('// What a head says.\n', '')},
     'src/http/head.h:8'),
    ('documented', {'src/http/head.h': method('  // First.\n  int a();\n  int b();\n  int c();\n'
                                              '  int d();\n  int e();\n')}, 'src/http/head.h:19'),
    ('documented', {'src/base/word.h': BASE['src/base/word.h'].replace('}\n', '\n'
                                       'constexpr int kLimit = 3;\n}\n')}, 'src/base/word.h:8'),
    ('enum-default', {'src/http/head.cc': body('switch (fault) {', '  case Fault::kKey: return 1;',
                                               '  default: return 0;', '}')},
     'src/http/head.cc:9'),
    ('co-await', {'src/http/head.cc': body('co_await run([n = 1] { return n; });')},
     'src/http/head.cc:7'),
    ('co-await', {'src/http/head.cc': body('co_await run(', '    [&] { return n; });')},
     'src/http/head.cc:7'),
    ('co-await', {'src/http/head.cc': body('auto r = co_await send(Options{name, 1});')},
     'src/http/head.cc:7'),
    ('co-await', {'src/http/head.cc': body('co_await send({a, b});')}, 'src/http/head.cc:7'),
    ('co-await', {'src/http/head.cc': body('switch (co_await next()) {', '}')},
     'src/http/head.cc:7'),
    ('unfinished', {'scripts/up': '#!/bin/sh\n# TO' 'DO: start\n'}, 'scripts/up:2'),
    ('workplace', {'src/base/README.md': 'see iss' 'ue 12\n'}, 'src/base/README.md:1'),
    ('workplace', {'src/base/README.md': 'cp /wo' 'rk/shared/x .\n'}, 'src/base/README.md:1'),
    ('columns', {'scripts/up': '#!/bin/sh\necho ' + 'a' * 100 + '\n'}, 'scripts/up:2'),
    ('columns', {'src/http/head.cc': CODE + '// ' + 'b' * 98 + '\n'}, 'src/http/head.cc:10'),
    ('banners', {'src/http/head.cc': CODE + '// ---' '-----\n'}, 'src/http/head.cc:10'),
    ('map', {'src/net/loop.cc': '\n', 'src/net/README.md': '# net\n'}, 'src/net:1'),
    ('map', {'src/wire/facts.cc': None}, MAP + ':7'),
    ('readme', {'src/http/README.md': None}, 'src/http/README.md:1'),
    ('readme', {'src/http/README.md': 'a\n' * 31}, 'src/http/README.md:31'),
    ('paths', {'README.zh.md': BASE['README.zh.md'] + '\n`src/http/' 'tail.h`\n'},
     'README.zh.md:7'),
    ('paths', {'src/http/README.md': '# http\n\nBegin with `tail.h`.\n'}, 'src/http/README.md:3'),
    ('paths', {'src/base/README.md': 'See [the map](../docs/' 'MAP.md).\n'},
     'src/base/README.md:1'),
    ('paths', {'src/http/head.cc': CODE + '// See NOWHERE.' 'md.\n'}, 'src/http/head.cc:10'),
    ('languages', {'README.zh.md': '```sh\nscripts/test\n```\n'}, 'README.md:3'),
    ('languages', {'README.zh.md': '# 东西\n'}, 'README.md:1'),
]
CLEAN = [
    {**{f'src/http/part{n}.h': HEADER for n in range(22)}, 'src/http/fake.h': HEADER,
     'src/http/head_test.cc': '#include "http/fake.h"\n'},
    {'src/http/head.cc': body('auto read = [&] { return 1; };',
                              'const int n = co_await run(std::move(read), a[1], b);',
                              'co_await run([](int x) { return x; });',
                              'if (co_await next()) { stop(); }')},
    {'src/http/head.cc': body('switch (n) {', '  case 1: return true;', '  default: return a;', '}',
                              'switch (fault) {', '  case Fault::kKey: switch (n) {',
                              '    default: return 1;', '  }', '}')},
    {'src/http/head.h': method('  // First.\n  int a();\n  int b();\n  int c();\n\n'
                               '  ~Head() override;\n\n  Head() : a_(1), b_{2} {}\n\n'
                               '  int g(); // trailing\n\n private:\n  void hidden();\n\n'
                               '  int secret() { return 1; }\n')},
    {'src/http/head.h': HEADER.replace('// What a head says.\n', '').replace('// A', '// Head: a')},
    {'src/http/head.cc': CODE + '// "TO' 'DOS" and R"(x)"\nconst char* c = "// TO' 'DOS {";\n'},
    {'README.md': BASE['README.md'] + '\nSee src/*/README.md, `src/<module>/CMakeLists.txt` and '
                  'https://example.org/docs/x.md; made: build/release/headway.\n'},
]


PAGE = '''## `headway.toml`
### `[gateway]`
| name | type | unit | default | change takes |
|---|---|---|---|---|
| `listen` | text |  | `"127.0.0.1:8080"` | restart |
| `tls.key` | text |  | none | restart |
### `[[keys]]`
| `name` | text |  | required | reload |
'''
HELP = '''[gateway]  The listening side.
  listen = "127.0.0.1:8080"
      Address and port. Takes a text; HEADWAY_GATEWAY_LISTEN
  tls.key
      PEM file.
[[keys]]  Keys.
  name (required)
      Shown in calls.
'''
# (page, help, line of the page where the difference must be found or None for none)
OPTIONS = [
    (PAGE, HELP, None),
    (PAGE.replace('8080', '8081'), HELP, 5),
    (PAGE.replace('none', '`"x"`'), HELP, 6),
    (PAGE, HELP.replace(' (required)', ''), 8),
    (PAGE, HELP.replace('  tls.key\n', ''), 6),
    (PAGE.replace('| `tls.key` | text |  | none | restart |\n', ''), HELP, 1),
]


def overlay(changes):
    """The clean tree with some files replaced, added or (None) removed."""
    files = {**BASE, **changes}
    return Tree({path: text for path, text in files.items() if text is not None})


def run(rules):
    """Every case against its rule, every clean tree against all; gives (passed, failed)."""
    failures = [f'no violation is planted for the rule {name}'
                for name in rules if name not in {rule for rule, _, _ in CASES}]
    for rule, changes, place in CASES:
        found = {f'{f.path}:{f.line}' for f in rules[rule](overlay(changes))}
        if place not in found:
            failures.append(f'{rule}: planted at {place}, found {sorted(found) or "nothing"}')
    for number, changes in enumerate([{}] + CLEAN):
        for name, rule in rules.items():
            failures += [f'clean tree {number}: {name} finds {f.path}:{f.line} {f.message}'
                         for f in rule(overlay(changes))]
    for number, (page, shown, line) in enumerate(OPTIONS):
        found = [f.line for f in options.differences(page, {'headway.toml': shown})]
        if found != ([line] if line else []):
            failures.append(f'options {number}: planted in line {line}, found {found}')
    for failure in failures:
        print(failure)
    total = len(CASES) + len(CLEAN) + len(OPTIONS) + 1
    return max(0, total - len(failures)), len(failures)
