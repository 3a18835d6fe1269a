// Writes docs/compatibility.md from the results of the matrix (build/clients/*.jsonl, or DIR).
//   tests/clients/run --all && tests/clients/run --all --gateway direct &&
//     tests/clients/run embedded && tests/clients/report
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { CLIENTS, FAILS_BY_ITSELF, PAIRS, SCENARIOS, cellName, cellsOf } from './clients.mjs';
import { checkEvidence } from './checked.mjs';
import { SCENARIOS as MEANINGS } from './mock/scenarios.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const RESULTS = process.argv[2] || path.join(ROOT, 'build/clients');
const TARGET = path.join(ROOT, 'docs/compatibility.md');
const COLUMNS = [...SCENARIOS, 'nstool2'];

const PASSES_WHEN = {
  'err429:1':
    'always 429 with retry-after 1: the client shows an error; status, retry-after and message ' +
    'of the upstream are kept; one upstream call for each of its own',
  'err529,once': 'one 529: the client ends with the right text',
  cut:
    'the connection breaks half-way: the whole text (by a retry of the client) or an error, ' +
    'never the half as success',
  cutclean: 'the answer ends cleanly half-way, without its final event: as cut',
  sseerr: "an error event half-way: as cut, with the upstream's message",
  nstool2: 'two parallel tool calls, not streamed',
};

function read(name) {
  const file = path.join(RESULTS, `${name}.jsonl`);
  const lines = fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim().split('\n') : [];
  return new Map(
    lines
      .filter(Boolean)
      .map((line) => JSON.parse(line))
      .map((r) => [cellName(r), r]),
  );
}

// Whether requests to the upstream were legal and whole: the kinds of what was found, with reasons.
function wentUp() {
  const folder = path.join(RESULTS, 'evidence/headway');
  if (!fs.existsSync(folder)) return 'Not checked.';
  const cells = checkEvidence(folder);
  const bad = cells.flatMap((cell) => cell.bad.map((what) => `- **${cell.where}: ${what}**`));
  const kinds = new Map();
  for (const { where, known } of cells) {
    for (const { what, why } of known) {
      const kind = `${what.replace(/client_metadata\/.*/, 'client_metadata')}: ${why}`;
      kinds.set(kind, (kinds.get(kind) ?? new Set()).add(where.split(' ').slice(0, 2).join(' → ')));
    }
  }
  const rows = [...kinds].map(([kind, where]) => `- ${kind} (${[...where].join(', ')})`);
  const verdict = `${cells.filter((cell) => !cell.bad.length).length} of ${cells.length} cells`;
  return [
    'The histories that clients give back, as Headway sent them on: legal by the public rules of',
    "the three APIs, every text there, no field of the client's dialect left in",
    `(\`tests/clients/run check\`): ${verdict}. Known, with reasons:`,
    '',
    ...rows,
    ...bad,
  ].join('\n');
}

// One row for each conversation with the embedded model.
function embedded() {
  const file = path.join(RESULTS, 'embedded.jsonl');
  if (!fs.existsSync(file)) return 'Not run.';
  const rows = fs
    .readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .map(({ client, pass, tokens }) => {
      const counts = tokens.map(([input, output]) => `${input} → ${output}`).join(', ');
      return `| ${client} | ${pass ? 'showed the answer' : '**failed**'} | ${counts} |`;
    });
  const head = ['| client | it | tokens in → out, by call |', '| --- | --- | --- |'];
  return [...head, ...rows].join('\n');
}

function mark(cell, key) {
  if (!cell) return ' ';
  if (cell.pass) return cell.losses.length ? `p (${cell.losses.join(', ')})` : 'P';
  return FAILS_BY_ITSELF.has(key) ? `${cell.code}*` : `**${cell.code}**`;
}

const isOwn = ({ client, upstream }) => CLIENTS[client].dialect === upstream;
const OWN = PAIRS.filter(isOwn);
const FOREIGN = PAIRS.filter((pair) => !isOwn(pair));

function table(results, pairs) {
  const rows = pairs.map((pair) => {
    const marks = COLUMNS.map((scenario) => {
      const key = cellName({ ...pair, scenario });
      return mark(results.get(key), key);
    });
    const total = cellsOf(pair).length;
    const clean = marks.filter((m) => m === 'P').length;
    const name = `${CLIENTS[pair.client].name}${isOwn(pair) ? '' : ` → ${pair.upstream}`}`;
    return `| ${name} | ${marks.join(' | ')} | ${clean} of ${total} |`;
  });
  return [
    `| client | ${COLUMNS.join(' | ')} | P |`,
    `|${' --- |'.repeat(COLUMNS.length + 2)}`,
    ...rows,
  ].join('\n');
}

function totals(results, pairs) {
  const keys = pairs.flatMap(cellsOf).map(cellName);
  const clean = keys.filter((key) => mark(results.get(key), key) === 'P').length;
  return `${clean} of ${keys.length}`;
}

// Where broken streams ended differently with a gateway and without.
function endings(gateway, direct) {
  const rows = Object.entries(CLIENTS)
    .filter(([, c]) => c.kind === 'sdk')
    .map(([id, client]) => {
      const pair = (scenario) => {
        const key = cellName({ client: id, upstream: client.dialect, scenario });
        return [direct, gateway].map((r) => r.get(key)?.wireEnd ?? '-').join(' → ');
      };
      return `| ${client.name} | ${['cut', 'cutclean', 'sseerr'].map(pair).join(' | ')} |`;
    });
  return ['| client | cut | cutclean | sseerr |', '| --- | --- | --- | --- |', ...rows].join('\n');
}

const gateway = read('headway');
const direct = read('direct');
const meanings = COLUMNS.map(
  (name) => `| ${name} | ${PASSES_WHEN[name] || MEANINGS[name.split(/[:,]/)[0]]} |`,
);

fs.writeFileSync(
  TARGET,
  `# Clients that were tested

Written by \`tests/clients/report\` from the results of \`tests/clients/run --all\`; do not edit.

Each cell is one run of the real client through Headway to a model server that speaks the client's
dialect, or another one by translation, and misbehaves as the column says. Two-turn scenarios
execute a real tool and send its result back. **P**: the client ended as it should and nothing was
lost; *p* names what was lost; a word in bold is a failure (TRUNC: half an answer reported as
success; ERR: an error where none was due). With \`*\`: the client fails in this case without a
gateway too, and bytes passed on unchanged cannot mend it.

Through Headway: **${totals(gateway, PAIRS)}**; in the client's own dialect ${totals(gateway, OWN)},
translated ${totals(gateway, FOREIGN)}.
Without a gateway, the same clients at a server of their dialect: ${totals(direct, OWN)}.

## Through Headway, in the client's own dialect

${table(gateway, OWN)}

## Through Headway, translated

${table(gateway, FOREIGN)}

## What goes up

${wentUp()}

## With the embedded model

A plain conversation of each client with the small model of \`headway up\` (\`tests/clients/run
embedded\`). Its answers are cut at 200 tokens here, since so small a model does not always come to
an end by itself. Claude Code runs with \`--bare\`, no tools and a short system prompt: its usual
four thousand tokens of instructions make this model ramble, and a cut answer is an error to it.

${embedded()}

## Without a gateway

${table(direct, OWN)}

## How a broken stream ends on the client's wire

Without a gateway → through Headway. \`clean-no-final\` is a correct end of the HTTP body without
the dialect's final event: several clients take that for success, so Headway never lets one through.

${endings(gateway, direct)}

## The scenarios

| column | passes when |
| --- | --- |
${meanings.join('\n')}

Cline's Anthropic provider refuses a \`message_start\` without \`usage\`; that is its failure in
\`nousage\`.
`,
);
console.log(
  `${path.relative(process.cwd(), TARGET)}: ` +
    `${totals(gateway, PAIRS)} through Headway, ${totals(direct, OWN)} without`,
);
