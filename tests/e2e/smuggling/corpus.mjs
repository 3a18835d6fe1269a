// Reads tests/corpus/http_requests.txt; the file explains its own form.
import fs from 'node:fs';

const FILE = new URL('../../corpus/http_requests.txt', import.meta.url);

// [{name, why, answers: [[status]], codec, upstream: [count], hidden, bytes: Buffer}]
export function readCorpus() {
  const cases = [];
  for (const [index, line] of fs.readFileSync(FILE, 'utf8').split('\n').entries()) {
    if (line === '' || line.startsWith('#')) continue;
    const title = /^\[([\w-]+)\]$/.exec(line);
    const pair = /^(\w+) = (.*)$/.exec(line);
    const bytes = /^>(\d*) (.*)$/.exec(line);
    if (title) cases.push({ name: title[1], parts: [] });
    else if (pair) cases.at(-1)[pair[1]] = pair[2];
    else if (bytes)
      cases.at(-1).parts.push(...Array(Number(bytes[1] || 1)).fill(unescape(bytes[2])));
    else
      throw new Error(`http_requests.txt:${index + 1}: neither a title, a pair nor bytes: ${line}`);
  }
  return cases.map(({ parts, ...fields }) => ({
    ...fields,
    bytes: Buffer.concat(parts),
    answers: fields.answers
      .split('|')
      .map((list) => list.split(' ').filter((word) => word !== 'none')),
    upstream: (fields.upstream || '0').split('|').map(Number),
    hidden: fields.hidden ? unescape(fields.hidden).toString('latin1') : null,
  }));
}

function unescape(text) {
  const bytes = Buffer.from(text, 'utf8').toString('latin1');
  const named = { r: '\r', n: '\n', t: '\t', 0: '\0', '\\': '\\' };
  const plain = bytes.replace(/\\(?:x([0-9a-f]{2})|(.))/g, (_, hex, letter) => {
    if (hex === undefined && !(letter in named))
      throw new Error(`unknown escape \\${letter} in ${text}`);
    return hex === undefined ? named[letter] : String.fromCharCode(parseInt(hex, 16));
  });
  return Buffer.from(plain, 'latin1');
}
