// Starts the real program with a configuration made for a test, in a folder of its own.
//
//   const channel = { name: 'a', dialect: 'openai', base_url: ... };
//   const gateway = await startHeadway({ channels: [channel] });
//   ... requests to gateway.url with gateway.key ...
//   await gateway.stop();
import fs from 'node:fs';
import https from 'node:https';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
export const BINARY = path.resolve(
  process.env.HEADWAY_BINARY || path.join(ROOT, 'build/release/headway'),
);
export const CLIENT_KEY = 'hw-test-key-0123456789abcdef';
export const UPSTREAM_CREDENTIAL = 'sk-upstream-credential';
export const ADMIN_TOKEN = 'admin-token-0123456789abcdef';

const START_TIMEOUT_MS = 15000;
const STOP_TIMEOUT_MS = 5000;
const TEST_JOURNAL_BYTES = 8 * 1024 * 1024;

// options: channels (tables of the configuration file), gateway, store, retry, timeouts (keys that
// override), keys, env. Fails with the program's own words when it does not start.
export async function startHeadway(options = {}) {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'headway-test-'));
  const port = options.gateway?.port || (await freePort());
  const file = path.join(dir, 'headway.toml');
  fs.writeFileSync(file, configuration(dir, port, options));
  const log = fs.openSync(path.join(dir, 'log'), 'a');
  const child = spawn(BINARY, ['serve', '--config', file], {
    cwd: dir,
    stdio: ['ignore', log, log],
    env: { PATH: process.env.PATH, HOME: dir, LANG: 'C.UTF-8', ...options.env },
  });
  fs.closeSync(log);
  child.on('error', () => {});
  const gateway = {
    port,
    dir,
    file,
    child,
    pid: child.pid,
    url: `${options.gateway?.tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    key: CLIENT_KEY,
    adminToken: ADMIN_TOKEN,
    log: () => fs.readFileSync(path.join(dir, 'log'), 'utf8'),
    stop: () => stop(child, dir),
  };
  await untilReady(gateway);
  return gateway;
}

function configuration(
  dir,
  port,
  { channels = [], gateway = {}, store = {}, retry = {}, timeouts = {}, keys },
) {
  const { port: _port, ...gatewayKeys } = gateway;
  const tables = [
    [
      '[gateway]',
      { listen: `127.0.0.1:${port}`, threads: 1, admin_token: ADMIN_TOKEN, ...gatewayKeys },
    ],
    [
      '[store]',
      { path: path.join(dir, 'headway.db'), journal_bytes: TEST_JOURNAL_BYTES, ...store },
    ],
    ['[retry]', retry],
    ['[timeouts]', timeouts],
    ...channels.map((channel) => ['[[channels]]', { credential: UPSTREAM_CREDENTIAL, ...channel }]),
    ...(keys || [{ name: 'test', secret: CLIENT_KEY }]).map((key) => ['[[keys]]', key]),
  ];
  return tables.map(([title, values]) => `${title}\n${tomlPairs(values).join('\n')}\n`).join('\n');
}

// A value of null leaves the key out.
const tomlPairs = (values) =>
  Object.entries(values)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => `${key} = ${tomlValue(value)}`);

function tomlValue(value) {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(', ')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const pairs = Object.entries(value).map(
    ([key, inner]) => `${JSON.stringify(key)} = ${tomlValue(inner)}`,
  );
  return `{ ${pairs.join(', ')} }`;
}

// A port that is free now; somebody else may take it before we do, which is seen as a failed start.
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

async function untilReady(gateway) {
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const { exitCode, signalCode } = gateway.child;
    if (exitCode !== null || signalCode !== null || gateway.pid === undefined) {
      throw new Error(
        `${BINARY} did not start (${exitCode ?? signalCode ?? 'no such file'}): ` +
          gateway.log().slice(-1500),
      );
    }
    try {
      if ((await statusOf(`${gateway.url}/readyz`)) === 200) return;
    } catch {
      /* not listening yet */
    }
    if (Date.now() > deadline) {
      await gateway.stop();
      throw new Error(`${BINARY} was not ready after ${START_TIMEOUT_MS} ms`);
    }
    await new Promise((resolve) => {
      setTimeout(resolve, 10);
    });
  }
}

// Trusts any certificate: whether it is the right one is for the test to look at.
async function statusOf(url) {
  if (url.startsWith('https')) {
    return new Promise((resolve, reject) => {
      const request = https.get(url, { rejectUnauthorized: false, agent: false }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      request.on('error', reject);
    });
  }
  const answer = await fetch(url);
  await answer.arrayBuffer();
  return answer.status;
}

async function stop(child, dir) {
  if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
    const ended = new Promise((resolve) => {
      child.once('exit', resolve);
    });
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await ended;
    clearTimeout(timer);
  }
  fs.rmSync(dir, { recursive: true, force: true });
  return child.exitCode;
}
