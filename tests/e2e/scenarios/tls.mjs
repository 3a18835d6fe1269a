// TLS towards clients: certificates are renewed by SIGHUP, and who finds no place is told so.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import { fileURLToPath } from 'node:url';
import { channelFor } from './dialects.mjs';
import { delay } from './trial.mjs';

const DATA = fileURLToPath(new URL('../../../src/net/testdata/', import.meta.url));
const PATIENCE_MS = 5000;

export function tests() {
  return [
    { name: 'SIGHUP takes a renewed certificate; a bad one changes nothing', run: renews },
    { name: 'above connections_max the answer is 503', run: turnedAway },
  ];
}

async function world(t, gateway = {}) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'headway-tls-'));
  t.cleanups.push(() => fs.rmSync(folder, { recursive: true }));
  const files = { certificate: path.join(folder, 'c.pem'), key: path.join(folder, 'k.pem') };
  const use = (name) => {
    fs.copyFileSync(`${DATA}${name}.pem`, files.certificate);
    fs.copyFileSync(`${DATA}${name}.key`, files.key);
  };
  use('server');
  const started = await t.world({
    channels: ({ mock }) => [channelFor('openai', mock)],
    gateway: { tls: files, ...gateway },
  });
  return { ...started, files, use };
}

// A connection that is open, with the certificate that the server showed.
function connect(gateway) {
  return new Promise((resolve, reject) => {
    const to = { port: gateway.port, host: '127.0.0.1', rejectUnauthorized: false };
    const socket = tls.connect(to);
    socket.once('secureConnect', () => resolve({ socket, shown: socket.getPeerX509Certificate() }));
    socket.once('error', reject);
  });
}

// What comes until `enough(text)`, or until the server ends the connection.
function read(socket, enough) {
  return new Promise((resolve, reject) => {
    let text = '';
    const timer = setTimeout(() => reject(new Error(`waited for more than: ${text}`)), PATIENCE_MS);
    const done = () => {
      clearTimeout(timer);
      resolve(text);
    };
    socket.on('data', (bytes) => {
      text += bytes;
      if (enough(text)) done();
    });
    socket.on('end', done);
    socket.on('error', (error) => reject(error));
  });
}

const ask = (socket, target) =>
  socket.write(`GET ${target} HTTP/1.1\r\nHost: gw\r\nanthropic-version: 2023-06-01\r\n\r\n`);

async function shows(gateway, certificate) {
  const { socket, shown } = await connect(gateway);
  socket.destroy();
  return shown.toString().trim() === certificate.trim();
}

async function eventually(condition) {
  for (const until = Date.now() + PATIENCE_MS; Date.now() < until; ) {
    if (await condition()) return true;
    await delay(20);
  }
  return false;
}

async function renews(t) {
  const { gateway, files, use } = await world(t);
  const [first, renewed] = ['server', 'renewed'].map((name) =>
    fs.readFileSync(`${DATA}${name}.pem`, 'utf8'),
  );
  t.check(await shows(gateway, first), 'the first certificate is not shown');
  const old = await connect(gateway);

  fs.writeFileSync(files.certificate, 'nothing');
  gateway.child.kill('SIGHUP');
  const said = await eventually(() => gateway.log().includes('nothing was reloaded'));
  t.check(said && gateway.log().includes(files.certificate), `log: ${gateway.log().slice(-300)}`);
  t.check(await shows(gateway, first), 'the first certificate is not shown after a bad reload');

  use('renewed');
  gateway.child.kill('SIGHUP');
  t.check(await eventually(() => shows(gateway, renewed)), 'the renewed certificate is not shown');
  ask(old.socket, '/livez');
  const answer = await read(old.socket, (text) => text.includes('"ok"'));
  t.match(answer, /^HTTP\/1.1 200 /, 'on a connection from before');
  old.socket.destroy();
}

async function turnedAway(t) {
  const { gateway } = await world(t, { connections_max: 1 });
  const first = await connect(gateway);
  ask(first.socket, '/livez');
  await read(first.socket, (text) => text.includes('"ok"'));
  const second = await connect(gateway);
  ask(second.socket, '/v1/messages');
  const told = await read(second.socket, () => false);
  t.match(told, /^HTTP\/1.1 503 /, 'the answer to the second');
  t.match(told, /"type":"overloaded_error"/, 'the answer to the second');
  t.match(told, /retry-after: \d/, 'the answer to the second');
  first.socket.destroy();
  second.socket.destroy();
}
