// Keys: which header counts, what a wrong one gets, and that none of it goes further.
import { open, send } from './client.mjs';
import { DIALECTS, channelFor, requestOf } from './dialects.mjs';
import { checkConserved } from './timeline.mjs';
import { UPSTREAM_CREDENTIAL } from '../../clients/headway.mjs';

const FIRST = 'hw-first-key-0123456789abcdef';
const SECOND = 'hw-second-key-0123456789abcdef';
const LIMITED = 'hw-limited-key-0123456789abcdef';
const WRONG = 'hw-wrong-key-0123456789abcdef';
const KEYS = [
  { name: 'first', secret: FIRST },
  { name: 'second', secret: SECOND },
  { name: 'limited', secret: LIMITED, models: ['other'] },
];

// headers, the key that must be taken (null: 401), and from where.
const PRESENTED = [
  [{ authorization: `Bearer ${FIRST}` }, 'first', 'authorization'],
  [{ authorization: `bearer ${FIRST}` }, 'first', 'authorization'],
  [{ 'x-api-key': FIRST }, 'first', 'x-api-key'],
  [{ 'x-litellm-api-key': FIRST }, 'first', 'x-litellm-api-key'],
  [{ 'x-litellm-api-key': `Bearer ${FIRST}` }, 'first', 'x-litellm-api-key'],
  [{ authorization: `Bearer ${WRONG}`, 'x-api-key': FIRST }, 'first', 'x-api-key'],
  [{ authorization: `Bearer ${FIRST}`, 'x-api-key': WRONG }, 'first', 'authorization'],
  [{ authorization: `Bearer ${FIRST}`, 'x-api-key': SECOND }, 'first', 'authorization'],
  [{ 'x-api-key': SECOND, 'x-litellm-api-key': FIRST }, 'second', 'x-api-key'],
  [{ authorization: 'Basic Zm9vOmJhcg==', 'x-api-key': FIRST }, 'first', 'x-api-key'],
  [{}, null],
  [{ authorization: `Bearer ${WRONG}` }, null],
  [{ 'x-api-key': WRONG }, null],
  [{ authorization: FIRST.slice(0, -1) }, null],
  [{ authorization: 'Bearer ' }, null],
  [{ authorization: `Bearer ${FIRST} x` }, null],
  [{ 'x-api-key': `${FIRST}${FIRST}` }, null],
];

export function tests() {
  return [
    ...['chat', 'responses', 'messages'].map((name) => ({
      name: `which header counts, ${name}`,
      run: (t) => presented(t, name),
    })),
    { name: 'no key: 401 before the body is read', run: beforeBody },
    { name: "the client's credentials go nowhere, the channel's own are sent", run: goNowhere },
    { name: 'a channel without a credential sends none', run: noCredential },
    { name: 'a key limited to other models is refused', run: limited },
    { name: 'no secret in answers, records or the log', run: noSecrets },
    { name: 'without keys every request is 401', run: noKeys },
    { name: '/api needs the admin token; a key reads its own calls', run: admin },
  ];
}

const world = (t, more = {}) =>
  t.world({
    mocks: { a: {}, b: {} },
    keys: KEYS,
    channels: ({ a, b }) => [
      channelFor('openai', a, { name: 'open' }),
      channelFor('anthropic', b, { name: 'anth' }),
    ],
    ...more,
  });
const without = (name, headers) => requestOf(name, { headers, key: null });

async function presented(t, name) {
  const { gateway } = await world(t);
  for (const [headers, key, from] of PRESENTED) {
    const what = JSON.stringify(headers);
    const exchange = await send(gateway.port, without(name, headers));
    t.equal(exchange.answer?.status, key ? 200 : 401, `${what}: status`);
    const call = await t.record(gateway, exchange.id);
    t.equal(
      [call?.key ?? null, call?.credential_from ?? null],
      [key, from ?? null],
      `${what}: key and credential_from`,
    );
    if (key) continue;
    t.check(
      DIALECTS[name].isError(exchange.answer?.json),
      `${what}: ${exchange.answer?.text.slice(0, 200)}`,
    );
    t.equal(exchange.answer?.headers['x-should-retry'], 'false', `${what}: x-should-retry`);
    t.equal(
      [call?.outcome, call?.status, call?.error?.code],
      ['rejected', 401, 'invalid_api_key'],
      `${what}: the record`,
    );
    if (call) checkConserved(t, call);
  }
}

async function beforeBody(t) {
  const { gateway } = await world(t);
  const head =
    'POST /v1/messages HTTP/1.1\r\nHost: h\r\nContent-Length: 5000\r\nExpect: 100-continue\r\n\r\n';
  const exchange = open(gateway.port, { method: 'POST', raw: Buffer.from(head) });
  await exchange.until((self) => self.answer?.end === 'framed', 'the answer', 1000);
  t.equal(
    exchange.answers().map(({ status }) => status),
    [401],
    'answers',
  );
  exchange.leave('fin');
}

async function goNowhere(t) {
  const {
    gateway,
    mocks: { a, b },
  } = await world(t);
  const headers = {
    authorization: `Bearer ${FIRST}`,
    'x-api-key': SECOND,
    'x-litellm-api-key': WRONG,
    cookie: 'session=client-cookie',
    'proxy-authorization': 'Basic c2VjcmV0',
  };
  await send(gateway.port, without('chat', headers));
  await send(gateway.port, without('messages', headers));
  for (const record of [a.records[0], b.records[0]]) {
    const all = JSON.stringify(record?.rawHeaders);
    for (const secret of [FIRST, SECOND, WRONG, 'c2VjcmV0'])
      t.check(!all?.includes(secret), `${secret} reached the upstream`);
  }
  t.equal(
    a.records[0]?.headers.authorization,
    `Bearer ${UPSTREAM_CREDENTIAL}`,
    'credential of an openai channel',
  );
  t.equal(
    b.records[0]?.headers['x-api-key'],
    UPSTREAM_CREDENTIAL,
    'credential of an anthropic channel',
  );
  t.equal(
    [a.records[0]?.headers['x-api-key'], b.records[0]?.headers.authorization],
    [undefined, undefined],
    'the other header',
  );
}

async function noCredential(t) {
  const {
    gateway,
    mocks: { a },
  } = await world(t, {
    channels: ({ a: m }) => [channelFor('openai', m, { name: 'open', credential: null })],
  });
  const exchange = await send(gateway.port, without('chat', { authorization: `Bearer ${FIRST}` }));
  t.equal(
    [exchange.answer?.status, a.records[0]?.headers.authorization],
    [200, undefined],
    'status and authorization',
  );
}

async function limited(t) {
  const {
    gateway,
    mocks: { a },
  } = await world(t);
  const exchange = await send(
    gateway.port,
    without('chat', { authorization: `Bearer ${LIMITED}` }),
  );
  t.check([403, 404].includes(exchange.answer?.status), `status ${exchange.answer?.status}`);
  t.equal(a.records.length, 0, 'upstream calls');
  const call = await t.record(gateway, exchange.id);
  t.equal([call?.outcome, call?.key], ['rejected', 'limited'], 'outcome and key');
  const list = await send(gateway.port, { path: '/v1/models', key: LIMITED });
  t.check(
    !list.answer?.text.includes('mock-large'),
    'the list of models shows what the key may not use',
  );
}

async function noSecrets(t) {
  const {
    gateway,
    mocks: { a },
  } = await world(t);
  const exchanges = [];
  for (const scenario of ['ok', 'err401', 'err500', 'html', 'reset', 'cut']) {
    a.set(scenario);
    exchanges.push(
      await send(
        gateway.port,
        without('chat', { authorization: `Bearer ${FIRST}`, 'x-api-key': WRONG }),
      ),
    );
  }
  exchanges.push(await send(gateway.port, without('chat', { authorization: `Bearer ${WRONG}` })));
  const records = await Promise.all(exchanges.map(({ id }) => t.record(gateway, id)));
  const all = [
    ...exchanges.map((exchange) => exchange.received.join('')),
    JSON.stringify(records),
    gateway.log(),
  ].join('\n');
  for (const secret of [FIRST, WRONG, UPSTREAM_CREDENTIAL, gateway.adminToken])
    t.check(!all.includes(secret), `${secret} is shown somewhere`);
}

async function noKeys(t) {
  const { gateway } = await world(t, { keys: [] });
  const exchange = await send(gateway.port, requestOf('chat'));
  t.equal(exchange.answer?.status, 401, 'status');
}

async function admin(t) {
  const { gateway } = await world(t);
  const { id } = await send(gateway.port, without('chat', { authorization: `Bearer ${FIRST}` }));
  await t.record(gateway, id);
  const get = async (path, key) => (await send(gateway.port, { path, key })).answer?.status;
  t.equal(await get('/api/calls', null), 401, 'the list without a token');
  t.equal(await get('/api/calls', WRONG), 401, 'the list with a wrong token');
  t.check([401, 403].includes(await get('/api/calls', FIRST)), 'the list with a key');
  t.equal(await get('/api/calls', gateway.adminToken), 200, 'the list with the admin token');
  t.equal(await get(`/api/calls/${id}`, FIRST), 200, 'its own call with the key');
  t.check([401, 403, 404].includes(await get(`/api/calls/${id}`, SECOND)), "another key's call");
  t.equal(await get('/api/calls/req_nobody', gateway.adminToken), 404, 'an unknown call');
  t.equal(await get('/v1/models', gateway.adminToken), 401, 'the model API with the admin token');
}
