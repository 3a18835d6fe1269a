// The paths that clients really ask for: aliases, probes, model lists, and what is refused and how.
import { open, send } from './client.mjs';
import { DIALECTS, channelFor, requestOf } from './dialects.mjs';
import { checkConserved } from './timeline.mjs';

const ALIASES = [
  ['messages', '/v1/messages?beta=true'],
  ['messages', '/messages'],
  ['messages', '/v1/v1/messages'],
  ['messages', '/messages?beta=true'],
  ['chat', '/chat/completions'],
  ['chat', '/v1/v1/chat/completions'],
  ['chat', '/v1/chat/completions?api-version=2025-04-01'],
  ['completions', '/completions'],
  ['responses', '/responses'],
  ['responses', '/v1/v1/responses'],
  ['responses', '/v1/responses?api-version=x'],
  ['embeddings', '/embeddings'],
  ['count_tokens', '/v1/messages/count_tokens'],
  ['count_tokens', '/v1/messages/count_tokens?beta=true'],
  ['count_tokens', '/messages/count_tokens'],
];
const ANTHROPIC = { 'anthropic-version': '2026-10-21' };
const SLASHED = 'openai/gpt-x';

export function tests() {
  return [
    ...ALIASES.map(([name, path]) => ({ name: `POST ${path}`, run: (t) => alias(t, name, path) })),
    { name: 'model lists and single models in both shapes', run: models },
    { name: 'probes are answered at once and need no key', run: probes },
    { name: 'a web socket on responses gets 426', run: webSocket },
    { name: 'an unknown path gets 404 in the shape that it suggests', run: unknownPath },
    { name: 'a wrong method gets 405', run: wrongMethod },
    { name: 'a foreign dialect is translated, or gets a clear 400', run: foreignDialect },
    { name: 'an unknown model gets 404 in both shapes', run: unknownModel },
    { name: 'model_map, wildcards and provider/model', run: modelNames },
    { name: 'what is no request of the dialect gets 400', run: badBodies },
    { name: 'a body above the limit gets 413', run: tooLarge },
    { name: 'more bodies at once than body_memory_bytes_max get 503', run: bodyMemory },
    { name: 'livez, readyz and metrics', run: operations },
    { name: 'the list of calls and its filters', run: callList },
  ];
}

const bothFamilies = ({ a, b }) => [
  channelFor('openai', a, { name: 'open', models: ['mock-large', SLASHED] }),
  channelFor('anthropic', b, { name: 'anth' }),
];
const bothWorlds = (t, more = {}) =>
  t.world({ mocks: { a: {}, b: {} }, channels: bothFamilies, ...more });

async function alias(t, name, path) {
  const { gateway, mocks } = await bothWorlds(t);
  const exchange = await send(gateway.port, {
    ...requestOf(name, { stream: DIALECTS[name].streams }),
    path,
  });
  t.equal(exchange.answer?.status, 200, 'status');
  const [record] = DIALECTS[name].family === 'openai' ? mocks.a.records : mocks.b.records;
  const query = path.includes('?') ? path.slice(path.indexOf('?')) : '';
  t.equal(record?.url, DIALECTS[name].path + query, 'path at the upstream');
  const call = await t.record(gateway, exchange.id);
  t.equal([call?.dialect, call?.outcome], [DIALECTS[name].record, 'ok'], 'dialect and outcome');
}

async function models(t) {
  const { gateway } = await bothWorlds(t);
  const get = async (path, headers = {}) => (await send(gateway.port, { path, headers })).answer;
  for (const path of ['/v1/models', '/models', '/v1/v1/models', '/v1/models?limit=1000']) {
    const list = await get(path);
    t.equal([list?.status, list?.json?.object], [200, 'list'], `${path}: status and object`);
    t.check(
      list?.json?.data?.every((m) => m.object === 'model' && m.id && m.owned_by),
      `${path}: ${list?.text.slice(0, 200)}`,
    );
    t.check(
      ['mock-large', SLASHED].every((id) => list?.json?.data?.some((m) => m.id === id)),
      `${path}: a model is missing`,
    );
    const anthropic = await get(path, ANTHROPIC);
    t.equal(
      [anthropic?.status, anthropic?.json?.has_more],
      [200, false],
      `${path} with anthropic-version: status and has_more`,
    );
    t.check(
      anthropic?.json?.data?.every((m) => m.type === 'model' && m.id && m.display_name),
      `${path} with anthropic-version: ${anthropic?.text.slice(0, 200)}`,
    );
  }
  for (const path of [
    '/v1/models/mock-large',
    `/v1/models/${encodeURIComponent(SLASHED)}`,
    `/v1/models/${SLASHED}`,
  ]) {
    const id = decodeURIComponent(path.slice('/v1/models/'.length));
    const one = await get(path);
    t.equal([one?.status, one?.json?.id, one?.json?.object], [200, id, 'model'], path);
    const anthropic = await get(path, ANTHROPIC);
    t.equal(
      [anthropic?.status, anthropic?.json?.id, anthropic?.json?.type],
      [200, id, 'model'],
      `${path} with anthropic-version`,
    );
  }
  const none = await get('/v1/models/nobody');
  t.equal([none?.status, none?.json?.error?.code], [404, 'model_not_found'], 'an unknown model');
  const noneAnthropic = await get('/v1/models/nobody', ANTHROPIC);
  t.equal(
    [noneAnthropic?.status, noneAnthropic?.json?.error?.type],
    [404, 'not_found_error'],
    'an unknown model with anthropic-version',
  );
  t.equal(
    (await send(gateway.port, { path: '/v1/models', key: null })).answer?.status,
    401,
    'the list without a key',
  );
}

async function probes(t) {
  const { gateway, mocks } = await bothWorlds(t);
  for (const path of ['/', '/api/hello']) {
    const exchange = await send(gateway.port, {
      method: 'HEAD',
      path,
      key: null,
      headers: { 'user-agent': 'Bun/1.3.13' },
    });
    t.check(
      [200, 204, 404].includes(exchange.answer?.status),
      `HEAD ${path}: status ${exchange.answer?.status}`,
    );
    t.equal(exchange.answer?.body.length, 0, `HEAD ${path}: bytes of the body`);
    t.inTime(
      exchange.doneAt - exchange.openedAt < 50e6,
      `HEAD ${path} took ${(exchange.doneAt - exchange.openedAt) / 1e6} ms`,
    );
  }
  t.equal([mocks.a.records.length, mocks.b.records.length], [0, 0], 'upstream calls');
}

async function webSocket(t) {
  const { gateway, mocks } = await bothWorlds(t);
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'openai-beta': 'responses_websockets=2026-02-06',
  };
  for (const path of ['/v1/responses', '/responses']) {
    const exchange = await send(gateway.port, { path, headers });
    t.equal(exchange.answer?.status, 426, `GET ${path}: status`);
    t.check(
      DIALECTS.responses.isError(exchange.answer?.json),
      `GET ${path}: ${exchange.answer?.text.slice(0, 200)}`,
    );
  }
  t.equal(mocks.a.records.length, 0, 'upstream calls');
}

async function unknownPath(t) {
  const { gateway } = await bothWorlds(t);
  const cases = [
    ['/v1/chat/completion', 'chat', {}],
    ['/v1/foo', 'chat', {}],
    ['/v1/messages/foo', 'messages', {}],
    ['/v1/message', 'messages', ANTHROPIC],
  ];
  for (const [path, shape, headers] of cases) {
    const { answer } = await send(gateway.port, { path, headers, body: {} });
    t.equal(answer?.status, 404, `${path}: status`);
    t.check(DIALECTS[shape].isError(answer?.json), `${path}: ${answer?.text.slice(0, 200)}`);
    t.match(answer?.text, /\/v1\//, `${path}: what would have been right`);
  }
}

async function wrongMethod(t) {
  const { gateway } = await bothWorlds(t);
  for (const [path, shape] of [
    ['/v1/chat/completions', 'chat'],
    ['/v1/messages', 'messages'],
    ['/v1/responses', 'responses'],
  ]) {
    const { answer } = await send(gateway.port, { path });
    t.equal(answer?.status, 405, `GET ${path}: status`);
    t.match(answer?.headers.allow, /POST/, `GET ${path}: allow`);
    t.check(DIALECTS[shape].isError(answer?.json), `GET ${path}: ${answer?.text.slice(0, 200)}`);
  }
}

async function foreignDialect(t) {
  for (const [family, name, status] of [
    ['openai', 'messages', 200],
    ['anthropic', 'chat', 200],
    ['anthropic', 'responses', 200],
    ['anthropic', 'completions', 400],
    ['anthropic', 'embeddings', 400],
  ]) {
    const {
      gateway,
      mocks: { mock },
    } = await t.world({ channels: ({ mock: m }) => [channelFor(family, m)] });
    const exchange = await send(gateway.port, requestOf(name));
    t.equal(
      [exchange.answer?.status, mock.records.length],
      [status, status === 200 ? 1 : 0],
      `${name} to ${family}: status and upstream calls`,
    );
    t.equal(
      Boolean(DIALECTS[name].isError(exchange.answer?.json)),
      status !== 200,
      `${name} to ${family}: ${exchange.answer?.text.slice(0, 200)}`,
    );
    const call = await t.record(gateway, exchange.id);
    t.equal(
      [call?.outcome, call?.error?.code],
      status === 200 ? ['ok', undefined] : ['rejected', 'wrong_dialect'],
      `${name} to ${family}: outcome and error`,
    );
    if (call) checkConserved(t, call);
  }
}

async function unknownModel(t) {
  const { gateway } = await bothWorlds(t);
  for (const name of Object.keys(DIALECTS)) {
    const request = requestOf(name);
    const exchange = await send(gateway.port, {
      ...request,
      body: { ...request.body, model: 'nobody-1' },
    });
    t.equal(exchange.answer?.status, 404, `${name}: status`);
    t.check(
      DIALECTS[name].isError(exchange.answer?.json),
      `${name}: ${exchange.answer?.text.slice(0, 200)}`,
    );
    t.match(exchange.answer?.text, /nobody-1/, `${name}: the model in the message`);
    const call = await t.record(gateway, exchange.id);
    t.equal(
      [call?.outcome, call?.status, call?.error?.code, call?.model, call?.attempts.length],
      ['rejected', 404, 'model_not_found', 'nobody-1', 0],
      `${name}: the record`,
    );
    if (call) checkConserved(t, call);
  }
}

async function modelNames(t) {
  const {
    gateway,
    mocks: { mock },
  } = await t.world({
    channels: ({ mock: m }) => [
      channelFor('anthropic', m, {
        model_map: { 'gpt-4o': 'mock-large', 'claude-*': 'mock-small' },
      }),
    ],
  });
  const cases = [
    ['mock-large', 'mock-large'],
    ['gpt-4o', 'mock-large'],
    ['claude-sonnet-5', 'mock-small'],
    ['claude-', 'mock-small'],
    ['mock/mock-large', 'mock-large'],
    ['mock/gpt-4o', 'mock-large'],
  ];
  for (const [asked, sent] of cases) {
    mock.set('ok');
    const request = requestOf('messages');
    const exchange = await send(gateway.port, {
      ...request,
      body: { ...request.body, model: asked },
    });
    t.equal(
      [exchange.answer?.status, mock.records[0]?.body?.model],
      [200, sent],
      `${asked}: status and name sent`,
    );
    t.equal(
      exchange.answer?.json?.model,
      sent,
      `${asked}: model in the answer, as the upstream said it`,
    );
    const call = await t.record(gateway, exchange.id);
    t.equal([call?.model, call?.upstream_model], [asked, sent], `${asked}: the record`);
  }
}

async function badBodies(t) {
  const { gateway, mocks } = await bothWorlds(t);
  const bodies = [
    '',
    '{',
    'hello',
    '[]',
    '"x"',
    '{"model":1}',
    '{"messages":[]}',
    '{"model":"mock-large","stream":"yes","messages":[]}',
    '{"model":"mock-large","messages":[]}}',
    '\ufeff{',
    `{"model":"mock-large","messages":[${'['.repeat(5000)}`,
  ];
  for (const name of ['chat', 'messages', 'responses']) {
    for (const body of bodies) {
      const exchange = await send(gateway.port, { ...requestOf(name), body });
      t.equal(exchange.answer?.status, 400, `${name} ${body.slice(0, 40)}: status`);
      t.check(
        DIALECTS[name].isError(exchange.answer?.json),
        `${name} ${body.slice(0, 40)}: ${exchange.answer?.text.slice(0, 200)}`,
      );
      const call = await t.record(gateway, exchange.id);
      t.equal(
        [call?.outcome, call?.error?.code],
        ['rejected', 'bad_request'],
        `${name} ${body.slice(0, 40)}: the record`,
      );
      if (call) checkConserved(t, call);
    }
  }
  t.equal([mocks.a.records.length, mocks.b.records.length], [0, 0], 'upstream calls');
}

async function tooLarge(t) {
  const { gateway, mocks } = await bothWorlds(t, { gateway: { body_bytes_max: 65536 } });
  for (const name of ['chat', 'messages']) {
    for (const chunked of [false, true]) {
      const request = requestOf(name);
      const exchange = await send(gateway.port, {
        ...request,
        chunked,
        body: { ...request.body, pad: 'x'.repeat(70000) },
      });
      t.equal(exchange.answer?.status, 413, `${name} chunked=${chunked}: status`);
      t.check(
        DIALECTS[name].isError(exchange.answer?.json),
        `${name} chunked=${chunked}: ${exchange.answer?.text.slice(0, 200)}`,
      );
      const call = await t.record(gateway, exchange.id);
      t.equal(
        [call?.outcome, call?.status, call?.error?.code],
        ['rejected', 413, 'body_too_large'],
        `${name} chunked=${chunked}: the record`,
      );
      if (call) checkConserved(t, call);
    }
  }
  // Refused on its head alone: no body is sent.
  const early = open(gateway.port, {
    raw: Buffer.from(
      `POST /v1/messages HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${gateway.key}\r\n` +
        'Content-Length: 99999999\r\n\r\n',
    ),
  });
  await early.until((self) => self.answer?.end === 'framed', 'the answer before the body', 1000);
  t.equal(early.answer?.status, 413, 'status before the body');
  early.leave('fin');
  t.equal([mocks.a.records.length, mocks.b.records.length], [0, 0], 'upstream calls');
}

async function bodyMemory(t) {
  const { gateway, mocks } = await bothWorlds(t, {
    gateway: { body_bytes_max: 1 << 20, body_memory_bytes_max: 1 << 20 },
  });
  const headers = { 'content-length': String(800 << 10) };
  const first = open(gateway.port, requestOf('chat', { headers })); // sends a part of its body only
  await first.until((self) => self.sentAt, 'the first part of the body');
  const request = requestOf('messages');
  const second = await send(gateway.port, {
    ...request,
    body: { ...request.body, pad: 'x'.repeat(800 << 10) },
  });
  t.equal(second.answer?.status, 503, 'status of the second');
  t.check(DIALECTS.messages.isError(second.answer?.json), second.answer?.text.slice(0, 200));
  t.match(second.answer?.headers['retry-after'], /^\d+$/, 'retry-after');
  const call = await t.record(gateway, second.id);
  t.equal([call?.outcome, call?.error?.code], ['rejected', 'overloaded'], 'outcome and error');
  first.leave('fin');
  const third = await send(gateway.port, requestOf('chat'));
  t.equal(
    [third.answer?.status, mocks.a.records.length],
    [200, 1],
    'status afterwards, upstream calls',
  );
}

async function operations(t) {
  const { gateway } = await bothWorlds(t);
  await send(gateway.port, requestOf('chat', { stream: true }));
  t.equal((await send(gateway.port, { path: '/livez', key: null })).answer?.status, 200, 'livez');
  const ready = (await send(gateway.port, { path: '/readyz', key: null })).answer;
  t.equal([ready?.status, ready?.json], [200, { status: 'ready' }], 'readyz');
  const metrics = (await send(gateway.port, { path: '/metrics', key: null })).answer;
  t.equal(metrics?.status, 200, 'metrics');
  const expected = [
    /^headway_requests_total\{.*outcome="ok".*\} 1$/m,
    /^headway_attempts_total\{.*channel="open".*\} 1$/m,
    /^llm_ttft_ms_bucket\{.*le="100".*\} 1$/m,
    /^llm_tbt_ms_bucket\{/m,
    /^headway_stage_seconds_bucket\{/m,
    /^headway_overhead_seconds/m,
    /^headway_inflight/m,
    /^headway_tokens_total\{.*direction="output".*\} 12$/m,
    /^headway_store_pending_calls/m,
    /^gen_ai_server_time_to_first_token_seconds/m,
    /^gen_ai_server_request_duration_seconds/m,
  ];
  for (const pattern of expected)
    t.check(pattern.test(metrics?.text), `metrics have no ${pattern}`);
}

async function callList(t) {
  const { gateway } = await bothWorlds(t);
  const good = await send(gateway.port, requestOf('chat'));
  const bad = await send(gateway.port, { ...requestOf('messages'), body: '{' });
  await t.record(gateway, good.id);
  await t.record(gateway, bad.id);
  const list = async (query) =>
    (await send(gateway.port, { path: `/api/calls${query}`, key: gateway.adminToken })).answer;
  const ids = async (query) => (await list(query))?.json?.calls?.map((call) => call.id);
  t.equal(await ids(''), [bad.id, good.id], 'all calls, newest first');
  t.equal(await ids('?limit=1'), [bad.id], 'limit');
  t.equal(await ids('?outcome=ok'), [good.id], 'outcome');
  t.equal(await ids('?model=mock-large'), [good.id], 'model');
  t.equal(await ids('?channel=open'), [good.id], 'channel');
  t.equal(await ids('?key=nobody'), [], 'key');
  t.equal(await ids('?slow_ms=60000'), [], 'slow_ms');
  const page = (await list('?limit=1'))?.json;
  t.equal(
    await ids(`?limit=1&before=${encodeURIComponent(page?.next)}`),
    [good.id],
    'the next page',
  );
}
