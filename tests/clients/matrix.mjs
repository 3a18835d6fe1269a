// The client matrix: every client through every scenario, one line a cell. See `run --help`.
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import {
  CLIENTS,
  FAILS_BY_ITSELF,
  LOSES_BY_ITSELF,
  PAIRS,
  cellName,
  cellsOf,
} from './clients.mjs';
import { runCell } from './cell.mjs';

const BUILD = fileURLToPath(new URL('../../build/clients', import.meta.url));
const HELP = `tests/clients/run [--all] [--gateway headway|direct] [--client RE] [--upstream RE]
                  [--scenario RE] [--jobs N] [--out DIR]

Without --all: the SDKs only (120 cells). With it: Claude Code, Codex and Cline too (288 cells);
they are installed on demand, about 1.3 GB. --gateway direct leaves the gateway out and shows what
the clients do by themselves. Results go to DIR/GATEWAY.jsonl and the evidence of each cell to
DIR/evidence/GATEWAY/ (build/clients unless told).`;

const { values: options } = parseArgs({
  options: {
    all: { type: 'boolean', default: false },
    gateway: { type: 'string', default: 'headway' },
    client: { type: 'string', default: '.' },
    upstream: { type: 'string', default: '.' },
    scenario: { type: 'string', default: '.' },
    jobs: { type: 'string', default: '3' },
    out: { type: 'string', default: BUILD },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
if (options.help) {
  console.log(HELP);
  process.exit(0);
}

const waiting = wantedCells();
const results = [];
const counts = { passed: 0, failed: 0 };
const evidenceDir = path.join(options.out, 'evidence', options.gateway);
fs.mkdirSync(evidenceDir, { recursive: true });
await Promise.all(Array.from({ length: Number(options.jobs) }, work));
writeResults();
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exit(counts.failed ? 1 : 0);

function wantedCells() {
  const [client, upstream, scenario] = [options.client, options.upstream, options.scenario].map(
    (text) => new RegExp(`^(${text})`),
  );
  return PAIRS.filter(
    (pair) =>
      client.test(pair.client) &&
      upstream.test(pair.upstream) &&
      (options.all || CLIENTS[pair.client].kind === 'sdk') &&
      (options.gateway !== 'direct' || CLIENTS[pair.client].dialect === pair.upstream),
  )
    .flatMap(cellsOf)
    .filter((cell) => scenario.test(cell.scenario));
}

async function work() {
  for (let cell = waiting.shift(); cell; cell = waiting.shift()) {
    try {
      report(await runCell(options.gateway, cell));
    } catch (error) {
      counts.failed++;
      console.log(`FAIL ${cellName(cell)}: ${error.stack}`);
    }
  }
}

function report(cell) {
  const { client, upstreamDialect: upstream, scenario, verdict, stray, wallMs } = cell;
  const name = cellName({ client, upstream, scenario });
  results.push({ gateway: cell.gateway, client, upstream, scenario, ...verdict, stray, wallMs });
  fs.writeFileSync(
    path.join(evidenceDir, `${client}.${upstream}.${scenario.replace(/\W/g, '_')}.json`),
    evidence(cell),
  );
  if (verdict.pass && !verdict.losses.length) {
    counts.passed++;
    console.log(`ok   ${name}`);
  } else if (verdict.pass && LOSES_BY_ITSELF.has(name)) {
    const lost = verdict.losses.join(',');
    console.log(`skip ${name}: lost ${lost}, which the client does not give back`);
  } else if (FAILS_BY_ITSELF.has(name)) {
    console.log(`skip ${name}: ${verdict.code}, fails without a gateway too`);
  } else {
    counts.failed++;
    console.log(
      `FAIL ${name}: ${verdict.code || `lost ${verdict.losses.join(',')}`} ${verdict.why || ''} ` +
        `(requests: client ${verdict.clientRequests}, upstream ${verdict.upstreamRequests}; ` +
        `wire ${verdict.wireEnd})`,
    );
  }
}

function evidence(cell) {
  const plain = (record) => ({ ...record, raw: undefined, events: undefined });
  return JSON.stringify({ ...cell, upstream: cell.upstream.map(plain) }, null, 1);
}

// One line a cell in a fixed order; cells that were not run this time keep their earlier line.
function writeResults() {
  const file = path.join(options.out, `${options.gateway}.jsonl`);
  const earlier = fs.existsSync(file)
    ? fs
        .readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    : [];
  const fresh = new Set(results.map(cellName));
  const all = [...earlier.filter((r) => !fresh.has(cellName(r))), ...results];
  const order = PAIRS.flatMap(cellsOf).map(cellName);
  all.sort((a, b) => order.indexOf(cellName(a)) - order.indexOf(cellName(b)));
  fs.writeFileSync(file, all.map((r) => `${JSON.stringify(r)}\n`).join(''));
}
