// A model server that answers plausible OpenAI and Anthropic traffic, remembers every request byte
// for byte, and misbehaves on demand (scenarios.mjs).
//
//   const mock = await startMock({ scenario: 'tool' });
//   ... requests to http://127.0.0.1:${mock.port} ...
//   mock.records[0].body, .rawHeaders, .at.closed, ...
//   await mock.close();
import http from 'node:http';
import zlib from 'node:zlib';
import { now } from './clock.mjs';
import { scenarioFor, SCENARIOS } from './scenarios.mjs';
import { planAnswer } from './plan.mjs';
import { randomId } from './identify.mjs';
import { errorAnswer, failureFor, json } from './failure.mjs';
import { deliverStream, deliverBody, sleep, BODY_FAULTS } from './delivery.mjs';
import { messagesAnswer } from './answer_messages.mjs';
import { chatAnswer } from './answer_chat.mjs';
import { completionsAnswer } from './answer_completions.mjs';
import { responsesAnswer } from './answer_responses.mjs';
import {
  embeddingsAnswer,
  modelsAnswer,
  countTokensAnswer,
  inputTokensAnswer,
  compactAnswer,
} from './answer_plain.mjs';

export const OUTPUT_TOKENS = 12; // what every answer claims to have generated

// Path endings, the first that fits: what kind of request it is.
const KINDS = [
  [/\/messages\/count_tokens$/, 'count_tokens'],
  [/\/messages$/, 'messages'],
  [/\/chat\/completions$/, 'chat'],
  [/\/completions$/, 'completions'],
  [/\/responses\/compact$/, 'compact'],
  [/\/responses\/input_tokens$/, 'input_tokens'],
  [/\/responses$/, 'responses'],
  [/\/embeddings$/, 'embeddings'],
  [/\/models(\/.+)?$/, 'models'],
];
const ANSWERS = {
  messages: messagesAnswer,
  chat: chatAnswer,
  completions: completionsAnswer,
  responses: responsesAnswer,
};

// Options: port (0: any), scenario, only (kinds that are served, the rest is 404), models,
// breakBodies (faults also where the answer is not streamed), onRequest(record).
export function startMock(options = {}) {
  const state = {
    scenario: 'ok',
    only: null,
    models: ['mock-large', 'mock-small'],
    breakBodies: false,
    onRequest: null,
    ...options,
    count: 0,
    records: [],
    sockets: new Set(),
  };
  const server = http.createServer({
    keepAliveTimeout: 30000,
    requestTimeout: 0,
    headersTimeout: 0,
  });
  server.on('connection', (socket) => {
    state.sockets.add(socket);
    socket.on('close', () => state.sockets.delete(socket));
  });
  server.on('request', (request, response) => {
    serve(state, request, response);
  });
  server.on('upgrade', (request, socket) => refuse(state, request, socket, 426));
  server.on('connect', (request, socket) => refuse(state, request, socket, 405));
  server.on('clientError', (_error, socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.on('error', reject);
    server.listen(options.port || 0, '127.0.0.1', () => resolve(handle(state, server)));
  });
}

function handle(state, server) {
  const { port } = server.address();
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    records: state.records,
    modelRequests: () => state.records.filter((r) => r.method === 'POST' && r.kind in ANSWERS),
    openSockets: () => state.sockets.size,
    set(scenario) {
      Object.assign(state, { scenario, count: 0 });
      state.records.length = 0;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(resolve);
      }),
  };
}

async function serve(state, request, response) {
  const record = await receive(state, request, response);
  const send = (answer) => reply(record, request, response, answer);
  const { pathname } = new URL(request.url, 'http://mock');
  const path = pathname.replace(/\/+$/, '') || '/';
  const kind = KINDS.find(([pattern]) => pattern.test(path))?.[1] ?? null;
  record.kind = kind;
  if (path === '/' || path === '/health') return send(json(200, { ok: true }));
  if (path === '/__help') return send(json(200, SCENARIOS));
  if (path === '/__ctl') return send(control(state, record.body));
  const speaksAnthropic =
    kind === 'messages' || kind === 'count_tokens' || request.headers['anthropic-version'];
  const dialect = speaksAnthropic ? 'anthropic' : 'openai';
  if (!kind || (state.only && !state.only.includes(kind))) {
    return send(errorAnswer(dialect, 404, { message: `no route ${request.method} ${path}` }));
  }
  if (kind === 'models') return send(models(state, path, dialect));
  if (request.method !== 'POST')
    return send(errorAnswer(dialect, 405, { message: 'method not allowed' }));
  if (kind !== 'count_tokens') state.count++;
  const scenario =
    kind === 'count_tokens' ? { name: 'ok' } : scenarioFor(state.scenario, state.count);
  record.scenario = scenario;
  if (!record.body) return send(errorAnswer(dialect, 400, { message: 'body is not JSON' }));

  if (scenario.name === 'hang') return;
  if (scenario.name === 'reset') return void request.socket.destroy();
  if (scenario.name === 'slowhdr') await sleep((Number(scenario.argument) || 20) * 1000);
  const failure = failureFor(scenario, dialect, record.body.model);
  if (failure) return send(failure);
  await answer(state, request, response, record, dialect);
}

// Reads the request whole and keeps it, with the times of everything that happens to it.
async function receive(state, request, response) {
  const record = {
    n: state.records.length + 1,
    method: request.method,
    url: request.url,
    httpVersion: request.httpVersion,
    remotePort: request.socket.remotePort,
    rawHeaders: request.rawHeaders,
    headers: request.headers,
    status: null,
    at: { head: now(), writes: [] },
  };
  state.records.push(record);
  response.on('error', () => {});
  request.on('error', () => {});
  const socketClosed = () => {
    record.at.socketClosed = now();
  };
  request.socket.once('close', socketClosed);
  response.on('close', () => {
    record.at.closed = now();
    record.closedEarly = !response.writableFinished;
    if (response.writableFinished) request.socket.off('close', socketClosed);
  });
  const chunks = [];
  try {
    for await (const chunk of request) chunks.push(chunk);
    record.at.body = now();
  } catch {
    record.aborted = true;
  }
  record.raw = Buffer.concat(chunks);
  record.body = parse(record.raw, request.headers['content-encoding']);
  state.onRequest?.(record);
  return record;
}

function parse(raw, coding) {
  const decoders = {
    gzip: zlib.gunzipSync,
    br: zlib.brotliDecompressSync,
    deflate: zlib.inflateSync,
  };
  try {
    const decode = decoders[coding];
    return JSON.parse((decode ? decode(raw) : raw).toString('utf8'));
  } catch {
    return null;
  }
}

function control(state, wanted) {
  Object.assign(state, wanted, { count: 0 });
  return json(200, { scenario: state.scenario });
}

function models(state, path, dialect) {
  const one = /\/models\/(.+)$/.exec(path)?.[1];
  const found = modelsAnswer(state.models, one && decodeURIComponent(one), dialect);
  return found ? json(200, found) : errorAnswer(dialect, 404, { message: `model: ${one}` });
}

async function answer(state, request, response, record, dialect) {
  const { kind, body, raw, scenario } = record;
  const plain = {
    count_tokens: countTokensAnswer,
    input_tokens: inputTokensAnswer,
    compact: compactAnswer,
  }[kind];
  if (plain) return reply(record, request, response, json(200, plain(raw.length)));
  const out = { response, socket: request.socket, record, scenario };
  const headers = usualHeaders(dialect);
  if (kind === 'embeddings') return deliverJson(state, out, embeddingsAnswer(body), headers);

  const plan = planAnswer(kind, body, scenario.name);
  const usage =
    scenario.name === 'nousage'
      ? null
      : { input: Math.ceil(raw.length / 4), output: OUTPUT_TOKENS };
  const made = ANSWERS[kind](body, plan, usage, scenario.name);
  record.issuedToolIds = made.toolIds;
  record.usageInput = usage?.input;
  if (!body.stream || scenario.name === 'json4stream')
    return deliverJson(state, out, made.json, headers);
  if (scenario.name === 'gzip') headers['content-encoding'] = 'gzip';
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    ...headers,
  });
  response.flushHeaders();
  request.socket.setNoDelay(true);
  record.status = 200;
  record.at.answerHead = now();
  await deliverStream(out, made);
}

async function deliverJson(state, out, object, headers) {
  const plain = Buffer.from(JSON.stringify(object));
  const zipped = out.scenario.name === 'gzip';
  const bytes = zipped ? zlib.gzipSync(plain) : plain;
  out.record.sentBody = plain;
  if (zipped) headers['content-encoding'] = 'gzip';
  const breaks = state.breakBodies && BODY_FAULTS.has(out.scenario.name);
  const chunked = breaks && out.scenario.name === 'cutclean';
  out.record.status = 200;
  out.record.at.answerHead = now();
  out.response.writeHead(200, {
    'content-type': 'application/json',
    ...headers,
    ...(chunked ? {} : { 'content-length': bytes.length }),
  });
  if (breaks) {
    out.response.flushHeaders();
    return deliverBody(out, bytes);
  }
  await deliverBody({ ...out, scenario: { name: 'ok' } }, bytes);
}

const usualHeaders = (dialect) =>
  dialect === 'anthropic'
    ? {
        'request-id': randomId('req_'),
        'anthropic-ratelimit-requests-limit': '4000',
        'anthropic-ratelimit-requests-remaining': '3999',
      }
    : {
        'x-request-id': randomId('req_'),
        'openai-version': '2020-10-01',
        'openai-processing-ms': '3',
        'x-ratelimit-remaining-requests': '99',
      };

function reply(record, request, response, { status, headers, body }) {
  record.status = status;
  record.at.answerHead = now();
  record.sentBody = Buffer.from(body);
  response.writeHead(status, { 'content-length': Buffer.byteLength(body), ...headers });
  response.end(request.method === 'HEAD' ? undefined : body);
  record.at.lastByte = now();
}

function refuse(state, request, socket, status) {
  state.records.push({
    n: state.records.length + 1,
    method: request.method,
    url: request.url,
    headers: request.headers,
    rawHeaders: request.rawHeaders,
    upgrade: request.headers.upgrade,
    status,
    at: { head: now(), writes: [] },
  });
  socket.end(
    `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\ncontent-type: application/json\r\n` +
      'content-length: 2\r\nconnection: close\r\n\r\n{}',
  );
}
