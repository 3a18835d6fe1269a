// A plain conversation of each client with the small model that `headway up` runs. One line a
// client, last line "N passed, N failed"; results go to build/clients/embedded.jsonl.
//
// A client must show what the model said, and the gateway must have recorded each call as ok. So
// small a model does not always come to an end by itself: then its answer is cut at TOKENS_MAX, and
// where the client says so instead of showing what there is, it is asked again.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { CLIENTS } from './clients.mjs';
import { BINARY } from './headway.mjs';

const TOKENS_MAX = 200;
const TRIES_MAX = 5;
const TIMEOUT_MS = 600_000; // a coding client's prompt is thousands of tokens, on a CPU
const START_TIMEOUT_MS = 120_000;
const MODEL = 'smollm2-135m';
const SAYS_TOO_LONG = /output token (maximum|limit)|max_output_tokens|max_tokens/i;
const wanted = new RegExp(process.argv[2] ?? '.');

// The plainest client of all.
const curl = {
  name: 'curl',
  run: async ({ port, key, model }) => {
    const body = { model, messages: [{ role: 'user', content: 'say hi' }] };
    const { status, stdout } = spawnSync('curl', [
      ...['-sS', '--fail', '-H', `Authorization: Bearer ${key}`, '-d', JSON.stringify(body)],
      ...['-H', 'Content-Type: application/json', `http://127.0.0.1:${port}/v1/chat/completions`],
    ]);
    const text = status === 0 ? JSON.parse(stdout).choices[0].message.content : '';
    return { ok: status === 0, text, error: null };
  },
};

// Starts `headway up` in a folder of its own; gives its JSON line and how to end it.
async function startUp() {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'headway-embedded-'));
  const log = fs.openSync(path.join(dir, 'log'), 'a');
  const settings = {
    'server.request_timeout_seconds': TIMEOUT_MS / 1000,
    'model.max_tokens': TOKENS_MAX,
    'scheduler.enable_prefix_caching': true,
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, `${value}`]);
  const child = spawn(BINARY, ['up', '--port', '0', '--data', dir, '--json', ...flags], {
    stdio: ['ignore', 'pipe', log],
  });
  const line = await new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (bytes) => {
      text += bytes;
      if (text.includes('\n')) resolve(text.split('\n')[0]);
    });
    const words = () => new Error(fs.readFileSync(path.join(dir, 'log'), 'utf8').slice(-1500));
    child.on('close', () => reject(words()));
    setTimeout(() => reject(words()), START_TIMEOUT_MS).unref();
  });
  const stop = () =>
    new Promise((resolve) => {
      child.on('close', () => {
        fs.rmSync(dir, { recursive: true, force: true });
        resolve();
      });
      child.kill('SIGTERM');
    });
  return { ...JSON.parse(line), stop };
}

// The calls that ended since `before`, oldest first.
async function callsSince(up, before) {
  const answer = await fetch(`${up.base_url}/api/calls?limit=50`, {
    headers: { authorization: `Bearer ${up.admin_token}` },
  });
  const { calls } = await answer.json();
  return calls.reverse().slice(before);
}

async function converse(up, client, before) {
  const began = Date.now();
  const { port } = new URL(up.base_url);
  const result = await client.run({
    ...{ port: Number(port), key: up.api_key, model: MODEL, scenario: 'ok' },
    ...{ timeoutMs: TIMEOUT_MS, small: true },
  });
  const calls = await callsSince(up, before);
  const whole = calls.length > 0 && calls.every((call) => call.outcome === 'ok');
  const cut = !result.ok && SAYS_TOO_LONG.test(`${result.error} ${result.text}`);
  const shown = result.ok && result.text.trim().length > 0;
  return {
    client: client.name,
    pass: whole && shown,
    cut: whole && cut,
    tokens: calls.map((call) => [call.tokens.input, call.tokens.output]),
    text: result.text.slice(0, 200),
    error: result.error?.slice(0, 300) ?? null,
    outcomes: calls.map((call) => call.outcome),
    seconds: Math.round((Date.now() - began) / 1000),
  };
}

const up = await startUp();
const results = [];
let before = 0;
for (const client of [curl, ...Object.values(CLIENTS)].filter(({ name }) => wanted.test(name))) {
  let result;
  for (let tries = 1; tries <= TRIES_MAX && !result?.pass; tries++) {
    result = { ...(await converse(up, client, before)), tries };
    before += result.outcomes.length;
    if (!result.cut) break;
  }
  results.push(result);
  console.log(`${result.pass ? 'ok  ' : 'FAIL'} ${JSON.stringify(result)}`);
}
await up.stop();
const target = fileURLToPath(new URL('../../build/clients/embedded.jsonl', import.meta.url));
fs.mkdirSync(path.dirname(target), { recursive: true });
fs.writeFileSync(target, results.map((result) => `${JSON.stringify(result)}\n`).join(''));
const failed = results.filter((result) => !result.pass).length;
console.log(`${results.length - failed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
