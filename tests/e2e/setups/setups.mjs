// Each client on each of its files: a throw-away home gets the file as it was, `headway config`
// merges its set-up in, `--check` must find it right, the client must answer through the gateway,
// and a second `--write` must change nothing.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { startMock } from '../../clients/mock/server.mjs';
import { startHeadway, BINARY } from '../../clients/headway.mjs';
import { runProgram } from '../../clients/program.mjs';
import * as claudeCode from '../../clients/program_claude_code.mjs';
import * as codex from '../../clients/program_codex.mjs';
import * as cline from '../../clients/program_cline.mjs';

const DATA = fileURLToPath(new URL('../../../src/setup/testdata/', import.meta.url));
const MODEL = 'mock-large';
const TIMEOUT_MS = 90000;

// How each client is started when everything it needs is in its files; `file` is below its home.
const CLIENTS = {
  'claude-code': {
    driver: claudeCode,
    folder: 'claude_code',
    file: '.claude/settings.json',
    args: ['-p', 'say hi', '--output-format', 'stream-json', '--verbose'],
    env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1' },
  },
  codex: {
    driver: codex,
    folder: 'codex',
    file: '.codex/config.toml',
    args: ['exec', '--skip-git-repo-check', '--json', 'say hi'],
    env: {},
  },
  cline: {
    driver: cline,
    folder: 'cline',
    file: '.cline/data/settings/providers.json',
    args: ['--json', 'say hi'],
    env: { CLINE_NO_AUTO_UPDATE: '1', CLINE_SESSION_BACKEND_MODE: 'local' },
    others: {
      '.cline/data/settings/global-settings.json':
        '{"telemetryOptOut":true,"autoUpdateEnabled":false}',
    },
    dialects: { many_providers: 'messages', one_line: 'responses' },
  },
};

// Every file of a client, and no file at all.
const casesOf = (client) => [
  'nothing',
  ...fs
    .readdirSync(path.join(DATA, CLIENTS[client].folder))
    .filter((name) => name.includes('.before.'))
    .map((name) => name.split('.')[0]),
];

function config(home, gateway, client, words, more = {}) {
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    HEADWAY_BASE_URL: gateway.url,
    HEADWAY_API_KEY: gateway.key,
    HEADWAY_MODEL: MODEL,
    ...more,
  };
  const ended = spawnSync(BINARY, ['config', client, ...words, '--json'], {
    env,
    cwd: home,
    encoding: 'utf8',
  });
  const parse = () => {
    try {
      return JSON.parse(ended.stdout);
    } catch {
      return null;
    }
  };
  return { code: ended.status, answer: parse(), error: ended.stderr };
}

// null, or what is wrong.
async function trial(gateway, client, name) {
  const { driver, folder, file, args, env, others = {}, dialects = {} } = CLIENTS[client];
  const faults = [];
  const start = (home) => {
    const target = path.join(home, file);
    fs.mkdirSync(path.dirname(target), { recursive: true });
    for (const [other, text] of Object.entries(others)) {
      fs.writeFileSync(path.join(home, other), text);
    }
    if (name !== 'nothing') {
      const before = `${name}.before${path.extname(file)}`;
      fs.copyFileSync(path.join(DATA, folder, before), target);
    }
    const dialect = dialects[name] ? ['--dialect', dialects[name]] : [];
    const written = config(home, gateway, client, ['--write', ...dialect]);
    if (written.code !== 0) faults.push(`--write: ${written.error}`);
    const again = config(home, gateway, client, ['--write', ...dialect]);
    if (!again.answer || again.answer.files.some((one) => one.changed)) {
      faults.push('a second --write changes something');
    }
    const check = config(home, gateway, client, ['--check']);
    const wrong = (check.answer?.findings || []).filter((one) => one.severity === 'wrong');
    if (!check.answer || wrong.length > 0) faults.push(`--check: ${JSON.stringify(wrong)}`);
    return { command: driver.BINARY, args, env };
  };
  const result = await runProgram({ start, read: driver.read, timeoutMs: TIMEOUT_MS });
  if (!result.ok || !result.text) {
    faults.push(`no answer: ${result.timedOut ? 'timed out' : result.error}`);
    if (process.env.VERBOSE) faults.push(result.stderr, result.stdout);
  }
  return faults.length === 0 ? null : faults.join('; ');
}

// What `--check` learns from the gateway itself: set up with a fault, the code that must come out.
const FAULTS = [
  ['a key that the gateway does not know', { HEADWAY_API_KEY: 'hw-unknown' }, 'key_refused'],
  ['a model that is not served', { HEADWAY_MODEL: 'mock-lerge' }, 'model_not_served'],
  [
    'a port on which nobody listens',
    { HEADWAY_BASE_URL: 'http://127.0.0.1:9' },
    'gateway_unreachable',
  ],
];

// null, or what is wrong.
function faultTrial(gateway, fault, code) {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'headway-setups-'));
  config(home, gateway, 'cline', ['--write'], fault);
  const check = config(home, gateway, 'cline', ['--check'], fault);
  fs.rmSync(home, { recursive: true });
  const found = (check.answer?.findings || []).map((one) => one.code);
  if (check.code !== 1) return `exit code ${check.code}`;
  return found.join() === code ? null : `expected ${code}, found ${found.join()}`;
}

async function main(pattern) {
  const mocks = await Promise.all(
    ['messages', 'chat', 'responses'].map((only) => startMock({ only: [only, 'models'] })),
  );
  const channel = (name, dialect, url, serves) => ({
    name,
    dialect,
    base_url: url,
    serves,
    models: [MODEL],
  });
  const gateway = await startHeadway({
    channels: [
      channel('messages', 'anthropic', mocks[0].url, ['messages']),
      channel('chat', 'openai', `${mocks[1].url}/v1`, ['chat']),
      channel('responses', 'openai', `${mocks[2].url}/v1`, ['responses']),
    ],
  });
  let passed = 0;
  let failed = 0;
  const tell = (name, fault) => {
    console.log(`${fault ? 'FAIL' : 'ok  '} ${name}${fault ? `: ${fault}` : ''}`);
    if (fault) failed += 1;
    else passed += 1;
  };
  for (const [name, fault, code] of FAULTS) {
    if (name.includes(pattern)) tell(name, faultTrial(gateway, fault, code));
  }
  for (const client of Object.keys(CLIENTS)) {
    for (const name of casesOf(client)) {
      if (!`${client} ${name}`.includes(pattern)) continue;
      tell(`${client} ${name}`, await trial(gateway, client, name));
    }
  }
  await gateway.stop();
  await Promise.all(mocks.map((mock) => mock.close()));
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed ? 1 : 0;
}

await main(process.argv[2] || '');
