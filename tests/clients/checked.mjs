// What a matrix run's evidence says about the requests that Headway sent up: are they legal in the
// upstream's dialect, did every text arrive, did fields of the client's dialect leak?
import fs from 'node:fs';
import path from 'node:path';
import { CLIENTS } from './clients.mjs';
import { brokenRules } from './legal.mjs';
import { foreignFields, lostTexts } from './kept.mjs';

// Scenarios in which a client gives a history back, and a plain one.
const SCENARIOS = new Set(['ok', 'tool', 'tool2', 'think', 'thinktool', 'nstool2']);

// Findings with a reason: where, what, why.
const EXPECTED = [
  {
    where: /^(openai-chat|cline-chat) messages thinktool/,
    what: /^lost \/messages\/\*\/reasoning(_content)?$/,
    why: 'reasoning without a signature is refused by messages; the call is marked lossy',
  },
  {
    where: / chat /,
    what: /^foreign message\.reasoning_content$/,
    why: 'servers of open models (vLLM, SGLang, llama.cpp) take reasoning back in this field',
  },
  {
    where: /./,
    what: /^lost \/(metadata\/user_id|prompt_cache_key|client_metadata\/.*)$/,
    why: "the caller's own: turned into a digest or dropped with a mark (docs/dialects.md)",
  },
];

function* requestsOf(cell) {
  const sent = cell.exchanges.filter(({ method, request }) => method === 'POST' && request);
  const got = cell.upstream.filter(({ body }) => body);
  for (const [i, { body, headers }] of got.entries()) {
    yield { asked: sent[Math.min(i, sent.length - 1)]?.request, sent: body, headers };
  }
}

function* findings(cell) {
  const { client, upstreamDialect: dialect } = cell;
  const translated = CLIENTS[client].dialect !== dialect;
  for (const { asked, sent, headers } of requestsOf(cell)) {
    for (const rule of brokenRules(dialect, sent, headers)) yield `illegal: ${rule}`;
    if (!translated) continue;
    for (const field of foreignFields(dialect, sent)) yield `foreign ${field}`;
    for (const where of asked ? lostTexts(asked, sent) : []) yield `lost ${where}`;
  }
}

// The cells of FOLDER, each with what was found: {where, bad: [what], known: [{what, why}]}.
export function checkEvidence(folder) {
  return fs
    .readdirSync(folder)
    .sort()
    .map((file) => JSON.parse(fs.readFileSync(path.join(folder, file), 'utf8')))
    .filter(({ scenario }) => SCENARIOS.has(scenario))
    .map(checkCell);
}

function checkCell(cell) {
  const where = `${cell.client} ${cell.upstreamDialect} ${cell.scenario}`;
  const checked = { where, bad: [], known: [] };
  for (const what of new Set(findings(cell))) {
    const reason = EXPECTED.find((e) => e.where.test(where) && e.what.test(what));
    if (reason) checked.known.push({ what, why: reason.why });
    else checked.bad.push(what);
  }
  return checked;
}
