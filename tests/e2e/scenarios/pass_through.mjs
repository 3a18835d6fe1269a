// What goes through unchanged: bodies byte for byte apart from the model's name, unknown fields and
// headers; and what does not: hop-by-hop headers. Usage that is asked for on the quiet is hidden.
import { open, send } from './client.mjs';
import { DIALECTS, channelFor, requestOf } from './dialects.mjs';
import { checkConserved } from './timeline.mjs';

// A body that any parsing and writing again would change.
const oddBody = (model, rest) =>
  `\n { "zeta" : 1.50e+3 ,"model"\t:  "${model}", "unknown":{"b":[ ],"a":{}} ,` +
  ` "unknown" : "twice",\r\n "escapes":"\\u00e9\\/\\ud83e\\udd80 é \\"model\\":\\"decoy\\"",` +
  ` "big":12345678901234567890123, "nested":{"model":"decoy"}, ${rest} }\n\n`;
const RESTS = {
  chat: '"messages":[{"role":"user","content":"say \\u0068i","model":"decoy"}],"stream":false',
  responses: '"input":"hi","stream":true',
  messages:
    '"max_tokens":1e2,"messages":[{"role":"user","content":"hi"},' +
    '{"role":"system","content":"mid-conversation"}],"stream":true',
  embeddings: '"input":"hi"',
};

export function tests() {
  return [
    ...Object.keys(RESTS).flatMap((name) => [
      {
        name: `an odd body arrives byte for byte, ${name}`,
        run: (t) => byteExact(t, name, 'mock-large'),
      },
      {
        name: `only the model's name changes, ${name}`,
        run: (t) => byteExact(t, name, 'asked-\\u0066or'),
      },
    ]),
    { name: 'unknown headers survive in both directions', run: headers },
    { name: 'hop-by-hop headers stay on their connection', run: hopByHop },
    { name: "traceparent and the caller's request id", run: tracing },
    { name: 'usage is asked for and hidden, chat', run: (t) => usage(t, 'chat') },
    { name: 'usage is asked for and hidden, completions', run: (t) => usage(t, 'completions') },
    { name: 'inject_usage = false changes nothing', run: noInjection },
    { name: 'a large body and a large answer', run: large },
    { name: 'several requests on one connection, one after another and at once', run: keepAlive },
    { name: 'HTTP/1.0 and Connection: close', run: closing },
  ];
}

async function byteExact(t, name, model) {
  const asked = JSON.parse(`"${model}"`);
  const {
    gateway,
    mocks: { mock },
  } = await t.world({
    channels: ({ mock: m }) => [
      channelFor(DIALECTS[name].family, m, { model_map: { 'asked-for': 'mock-small' } }),
    ],
  });
  const sent = asked === 'asked-for' ? 'mock-small' : model;
  for (const chunked of [false, true]) {
    mock.set('ok');
    const exchange = await send(gateway.port, {
      ...requestOf(name),
      body: oddBody(model, RESTS[name]),
      chunked,
    });
    t.equal(exchange.answer?.status, 200, 'status');
    const [record] = mock.records;
    t.equal(record?.raw.toString(), oddBody(sent, RESTS[name]), 'body at the upstream');
    t.equal(
      [record?.headers['content-length'], record?.headers['transfer-encoding']],
      [String(Buffer.byteLength(oddBody(sent, RESTS[name]))), undefined],
      'framing at the upstream',
    );
    const call = await t.record(gateway, exchange.id);
    t.equal(
      [call?.model, call?.upstream_model],
      [asked, asked === 'asked-for' ? 'mock-small' : asked],
      'models in the record',
    );
  }
}

async function headers(t) {
  const {
    gateway,
    mocks: { mock },
  } = await t.world({ channels: ({ mock: m }) => [channelFor('anthropic', m)] });
  const sent = {
    'anthropic-version': '2026-10-21',
    'anthropic-beta': 'claude-code-20250219,context-1m-2025-08-07',
    'anthropic-dangerous-direct-browser-access': 'true',
    'openai-organization': 'org-1',
    'x-stainless-retry-count': '0',
    'x-stainless-timeout': '600',
    'user-agent': 'claude-cli/2.1.332 (external, sdk-cli)',
    'x-claude-code-session-id': '0b5c',
    'x-codex-turn-metadata': '{"a":"b"}',
    session_id: 'underscored',
    'x-unknown': 'd\u00e9j\u00e0',
    'x-app': 'cli',
    accept: 'application/json',
  };
  const exchange = await send(gateway.port, requestOf('messages', { stream: true, headers: sent }));
  const got = mock.records[0]?.headers ?? {};
  for (const [name, value] of Object.entries(sent))
    t.equal(got[name], value, `${name} at the upstream`);
  t.equal(got.host, `127.0.0.1:${mock.port}`, 'host at the upstream');
  const answer = exchange.answer?.headers ?? {};
  t.equal(
    answer['anthropic-ratelimit-requests-remaining'],
    '3999',
    'a header of the upstream at the client',
  );
  const call = await t.record(gateway, exchange.id);
  t.match(call?.attempts[0].upstream_request_id, /^req_[0-9a-f]{24}$/, 'upstream_request_id');
  t.check(call?.attempts[0].upstream_request_id !== exchange.id, "the upstream's id is ours");
}

async function hopByHop(t) {
  const {
    gateway,
    mocks: { mock },
  } = await t.world({ channels: ({ mock: m }) => [channelFor('openai', m)] });
  const sent = {
    connection: 'keep-alive, x-private',
    'x-private': 'listed',
    'keep-alive': 'timeout=7',
    te: 'trailers',
    'proxy-connection': 'keep-alive',
    trailer: 'x-later',
    'proxy-authorization': 'Basic c2VjcmV0',
  };
  const exchange = await send(gateway.port, requestOf('chat', { headers: sent }));
  t.equal(exchange.answer?.status, 200, 'status');
  const got = mock.records[0]?.headers ?? {};
  for (const name of [
    'x-private',
    'keep-alive',
    'te',
    'proxy-connection',
    'trailer',
    'proxy-authorization',
    'expect',
  ]) {
    t.equal(got[name], undefined, `${name} at the upstream`);
  }
  t.check(!/x-private/.test(got.connection ?? ''), `connection at the upstream: ${got.connection}`);
  t.equal(
    exchange.answer?.headers['keep-alive'],
    undefined,
    "the upstream's keep-alive at the client",
  );
}

async function tracing(t) {
  const {
    gateway,
    mocks: { mock },
  } = await t.world({ channels: ({ mock: m }) => [channelFor('openai', m)] });
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
  const exchange = await send(
    gateway.port,
    requestOf('chat', {
      headers: {
        traceparent: `00-${trace}-00f067aa0ba902b7-01`,
        tracestate: 'vendor=1',
        'x-request-id': 'caller-77',
      },
    }),
  );
  t.equal(exchange.answer?.headers['x-headway-trace-id'], trace, 'x-headway-trace-id');
  t.match(
    mock.records[0]?.headers.traceparent,
    new RegExp(`^00-${trace}-[0-9a-f]{16}-01$`),
    'traceparent at the upstream',
  );
  t.equal(mock.records[0]?.headers.tracestate, 'vendor=1', 'tracestate at the upstream');
  t.check(exchange.id !== 'caller-77', "the caller's id was taken for ours");
  const call = await t.record(gateway, exchange.id);
  t.equal(
    [call?.trace_id, call?.client_request_id],
    [trace, 'caller-77'],
    'trace_id and client_request_id',
  );
  const byCaller = await t.record(gateway, 'caller-77');
  t.equal(byCaller?.id, exchange.id, "the call found by the caller's id");
  const fresh = await send(
    gateway.port,
    requestOf('chat', { headers: { traceparent: 'nonsense' } }),
  );
  t.match(
    fresh.answer?.headers['x-headway-trace-id'],
    /^(?!0{32})[0-9a-f]{32}$/,
    'trace id with a traceparent that is none',
  );
}

async function usage(t, name) {
  const {
    gateway,
    mocks: { mock },
  } = await t.world({ channels: ({ mock: m }) => [channelFor('openai', m)] });
  const { stream_options: _none, ...plain } = DIALECTS[name].body(true);
  const quiet = await send(gateway.port, { ...requestOf(name), body: plain });
  t.equal(
    mock.records[0]?.body?.stream_options,
    { include_usage: true },
    'stream_options at the upstream',
  );
  t.check(
    !/"choices":\s*\[\]/.test(quiet.answer?.text),
    'the client sees a usage chunk that it did not ask for',
  );
  const withoutUsage = (mock.records[0]?.events || [])
    .filter((text) => !/"choices":\[\]/.test(text))
    .join('');
  t.equal(quiet.answer?.text, withoutUsage, 'body');
  const call = await t.record(gateway, quiet.id);
  t.equal([call?.tokens.source, call?.tokens.output], ['usage', 12], 'tokens');
  if (call) checkConserved(t, call);

  mock.set('ok');
  const body = JSON.stringify(DIALECTS[name].body(true));
  const asked = await send(gateway.port, { ...requestOf(name), body });
  t.equal(mock.records[0]?.raw.toString(), body, 'a body that asks for usage itself');
  t.match(asked.answer?.text, /"choices":\[\]/, 'the usage chunk of a client that asked for it');

  mock.set('ok');
  const other = await send(gateway.port, {
    ...requestOf(name),
    body: { ...plain, stream_options: { include_obfuscation: false } },
  });
  t.equal(
    Object.entries(mock.records[0]?.body?.stream_options ?? {}).sort(),
    [
      ['include_obfuscation', false],
      ['include_usage', true],
    ],
    'stream_options beside others',
  );
  t.check(!/"choices":\s*\[\]/.test(other.answer?.text), 'a usage chunk beside other options');
}

async function noInjection(t) {
  const {
    gateway,
    mocks: { mock },
  } = await t.world({
    channels: ({ mock: m }) => [channelFor('openai', m, { inject_usage: false })],
  });
  const { stream_options: _none, ...plain } = DIALECTS.chat.body(true);
  const body = JSON.stringify(plain);
  const exchange = await send(gateway.port, { ...requestOf('chat'), body });
  t.equal(mock.records[0]?.raw.toString(), body, 'body at the upstream');
  t.equal(exchange.answer?.text, mock.records[0]?.events.join(''), 'body at the client');
}

async function large(t) {
  const {
    gateway,
    mocks: { mock },
  } = await t.world({ channels: ({ mock: m }) => [channelFor('openai', m)] });
  const body = JSON.stringify({ ...DIALECTS.chat.body(false), pad: 'déjà vu '.repeat(1 << 20) });
  for (const chunked of [false, true]) {
    mock.set('ok');
    const exchange = await send(gateway.port, { ...requestOf('chat'), body, chunked });
    t.equal(exchange.answer?.status, 200, 'status');
    t.check(
      mock.records[0]?.raw.equals(Buffer.from(body)),
      `the upstream got ${mock.records[0]?.raw.length} of ${Buffer.byteLength(body)} bytes`,
    );
  }
  mock.set('flood:16');
  const flood = await send(gateway.port, requestOf('chat', { stream: true }));
  t.check(
    flood.answer?.end === 'framed' && flood.answer.body.length > 16 << 20,
    `${flood.answer?.body.length} bytes, ${flood.answer?.end}`,
  );
  const call = await t.record(gateway, flood.id);
  t.equal(call?.outcome, 'ok', 'outcome of a large stream');
  if (call) checkConserved(t, call);
}

const rawChat = (gateway, version, extra, body) =>
  `POST /v1/chat/completions ${version}\r\nHost: h\r\nAuthorization: Bearer ${gateway.key}\r\n` +
  `${extra}Content-Length: ${body.length}\r\n\r\n${body}`;

async function keepAlive(t) {
  const {
    gateway,
    mocks: { mock },
  } = await t.world({ channels: ({ mock: m }) => [channelFor('openai', m)] });
  const one = (stream) => {
    const body = JSON.stringify(DIALECTS.chat.body(stream));
    return rawChat(gateway, 'HTTP/1.1', '', body);
  };
  const exchange = open(gateway.port, { method: 'POST', raw: Buffer.from(one(true)) });
  await exchange.until(
    (self) => self.answers().filter((a) => a.end === 'framed').length === 1,
    'the first answer',
  );
  exchange.socket.write(one(false) + one(true) + one(false));
  await exchange.until(
    (self) => self.answers().filter((a) => a.end === 'framed').length === 4,
    'four answers',
  );
  const answers = exchange.answers();
  t.equal(
    answers.map(({ status }) => status),
    [200, 200, 200, 200],
    'statuses',
  );
  t.equal(
    answers.map((a) => /event-stream/.test(a.headers['content-type'])),
    [true, false, true, false],
    'which answers are streams',
  );
  const ids = answers.map((a) => a.headers['x-request-id']);
  t.equal(new Set(ids).size, 4, 'different ids');
  t.equal(mock.records.length, 4, 'upstream calls');
  for (const id of ids) {
    const call = await t.record(gateway, id);
    if (call) checkConserved(t, call);
  }
  exchange.leave('fin');
}

async function closing(t) {
  const { gateway } = await t.world({ channels: ({ mock: m }) => [channelFor('openai', m)] });
  const raw = (version, extra, stream) => {
    const body = JSON.stringify(DIALECTS.chat.body(stream));
    return Buffer.from(rawChat(gateway, version, extra, body));
  };
  for (const stream of [false, true]) {
    for (const [version, extra] of [
      ['HTTP/1.1', 'Connection: close\r\n'],
      ['HTTP/1.0', ''],
    ]) {
      const what = `${version} ${extra.trim()} stream=${stream}`;
      const exchange = open(gateway.port, { method: 'POST', raw: raw(version, extra, stream) });
      await exchange.until((self) => self.ended, 'the end of the connection');
      t.equal([exchange.answer?.status, exchange.ended], [200, 'fin'], `${what}: status and end`);
      if (version === 'HTTP/1.0')
        t.equal(
          exchange.answer?.headers['transfer-encoding'],
          undefined,
          `${what}: transfer-encoding`,
        );
      t.match(exchange.answer?.text, stream ? /\[DONE\]\n\n$/ : /^\{.*\}$/s, `${what}: body`);
    }
  }
}
