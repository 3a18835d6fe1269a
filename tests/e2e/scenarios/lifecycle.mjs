// The program's life: SIGTERM lets streams finish and takes nothing new, SIGHUP reads the
// configuration anew or keeps the old one.
import fs from 'node:fs';
import { open, send } from './client.mjs';
import { channelFor, requestOf } from './dialects.mjs';
import { delay } from './trial.mjs';
import { CLIENT_KEY } from '../../clients/headway.mjs';

export function tests() {
  return [
    { name: 'SIGTERM: streams finish, new requests get 503, then exit 0', run: drains },
    { name: 'SIGTERM: what lasts longer than drain_s is told so and ended', run: drainEnds },
    { name: 'SIGHUP reloads the configuration', run: reloads },
    { name: 'SIGHUP with a bad file changes nothing and says why', run: reloadsBad },
    { name: 'SIGHUP: a declared key with the name of a made one is mentioned', run: sharedName },
  ];
}

const world = (t, scenario, more = {}) =>
  t.world({
    mocks: { mock: { scenario } },
    channels: ({ mock: m }) => [channelFor('openai', m)],
    ...more,
  });

async function drains(t) {
  const {
    gateway,
    mocks: { mock },
  } = await world(t, 'drip:60');
  const idle = open(gateway.port, { method: 'GET', path: '/livez', key: null });
  await idle.until(
    (self) => self.answer?.end === 'framed',
    'the answer on the connection that stays',
  );
  const stream = open(gateway.port, requestOf('chat', { stream: true }));
  await stream.until((self) => (self.answer?.body.length ?? 0) > 400, 'the first events');
  gateway.child.kill('SIGTERM');
  await delay(100);
  for (const request of [requestOf('chat'), requestOf('messages')]) {
    const { answer, ended } = await send(gateway.port, request);
    t.equal(answer?.status ?? ended, 503, `status of a new request for ${request.path}`);
    t.match(
      answer?.headers['retry-after'],
      /^\d+$/,
      `retry-after of a new request for ${request.path}`,
    );
  }
  const ready = await send(gateway.port, { path: '/readyz', key: null });
  t.equal(ready.answer?.status ?? ready.ended, 503, 'readyz');
  await stream.until(
    (self) => self.ended || self.answer?.end === 'framed',
    'the end of the stream',
  );
  t.equal(stream.answer.text, mock.records[0].events.join(''), 'body of the stream');
  await exited(t, gateway, 3000);
  t.equal(gateway.child.exitCode, 0, 'exit code');
  idle.leave('fin');
}

async function drainEnds(t) {
  const { gateway } = await world(t, 'stall', { gateway: { drain_s: 1 } });
  const stream = open(gateway.port, requestOf('chat', { stream: true }));
  await stream.until((self) => (self.answer?.body.length ?? 0) > 400, 'the first events');
  const uploading = open(gateway.port, {
    raw:
      `POST /v1/messages HTTP/1.1\r\nhost: gw\r\nx-api-key: ${CLIENT_KEY}\r\n` +
      'expect: 100-continue\r\ncontent-length: 9\r\n\r\n',
  });
  const accepted = (self) => self.answers().some(({ status }) => status === 100);
  await uploading.until(accepted, 'the answer to Expect: 100-continue');
  const began = Date.now();
  gateway.child.kill('SIGTERM');
  await exited(t, gateway, 5000);
  t.check(Date.now() - began >= 900, `ended after ${Date.now() - began} ms, before drain_s`);
  t.check(stream.answer.end === 'cut', `the stream ended as ${stream.answer.end}`);
  t.equal(stream.answer.events.at(-1)?.json?.error?.code, 'draining', 'last event of the stream');
  t.equal(uploading.answer?.status, 503, 'status of a request that was not complete');
  t.equal(uploading.answer?.json?.error?.type, 'overloaded_error', 'its error');
}

async function sharedName(t) {
  const { gateway } = await world(t, 'ok');
  const made = await fetch(`${gateway.url}/api/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.adminToken}` },
    body: JSON.stringify({ name: 'app' }),
  });
  t.equal(made.status, 201, 'status of making a key');
  const { id } = await made.json();
  fs.appendFileSync(gateway.file, '\n[[keys]]\nname = "app"\nsecret = "hw-another"\n');
  gateway.child.kill('SIGHUP');
  const said = await eventually(() => gateway.log().includes(`headway key delete ${id}`));
  t.check(said, `the log does not mention it: ${gateway.log().slice(-300)}`);
}

async function exited(t, gateway, withinMs) {
  const until = Date.now() + withinMs;
  while (gateway.child.exitCode === null && gateway.child.signalCode === null && Date.now() < until)
    await delay(10);
  t.check(
    gateway.child.exitCode !== null,
    `the program has not ended after ${withinMs} ms (signal ${gateway.child.signalCode})`,
  );
}

async function reloads(t) {
  const {
    gateway,
    mocks: { mock },
  } = await world(t, 'drip:100');
  const ask = (model) =>
    send(gateway.port, { ...requestOf('chat'), body: { ...requestOf('chat').body, model } });
  t.equal((await ask('new-name')).answer?.status, 404, 'status before');
  const stream = open(gateway.port, requestOf('chat', { stream: true }));
  await stream.until((self) => (self.answer?.body.length ?? 0) > 400, 'the first events');
  fs.writeFileSync(
    gateway.file,
    fs.readFileSync(gateway.file, 'utf8').replace('"mock-large"]', '"mock-large", "new-name"]'),
  );
  gateway.child.kill('SIGHUP');
  await eventually(async () => (await ask('new-name')).answer?.status === 200);
  t.equal((await ask('new-name')).answer?.status, 200, 'status after');
  await stream.done();
  t.equal(
    [
      stream.answer.end,
      stream.answer.text === mock.records.find((r) => r.body?.stream).events.join(''),
    ],
    ['framed', true],
    'a stream over the reload',
  );
}

async function reloadsBad(t) {
  const { gateway } = await world(t, 'ok');
  fs.appendFileSync(gateway.file, '\n[gateway2]\nlisten = 7\n');
  gateway.child.kill('SIGHUP');
  const said = await eventually(() => /gateway2/.test(gateway.log()));
  t.check(said, `the log does not say what is wrong: ${gateway.log().slice(-300)}`);
  t.equal((await send(gateway.port, requestOf('chat'))).answer?.status, 200, 'status afterwards');
}

async function eventually(condition) {
  for (const until = Date.now() + 2000; Date.now() < until;) {
    if (await condition()) return true;
    await delay(20);
  }
  return false;
}
