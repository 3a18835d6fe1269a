// Every answer in tests/wire, as its client's own SDK reads it: the SDK takes each stream, ends
// with the message that the whole answer of the same case is, and reports a failure exactly where
// the case has one.
//   node goldens.mjs [PATTERN]
import fs from 'node:fs';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import OpenAI from 'openai';
import Anthropic0 from 'anthropic-sdk-0';
import Anthropic1 from 'anthropic-sdk-1';

const wire = path.join(path.dirname(new URL(import.meta.url).pathname), '../wire');
const pattern = new RegExp(process.argv[2] ?? '.');

// A client of `SDK` to whom every request is answered with `body`.
function client(SDK, body, type) {
  const headers = { 'content-type': type };
  const fetch = async () => new Response(body, { status: 200, headers });
  return new SDK({ apiKey: 'none', baseURL: 'http://localhost', fetch, maxRetries: 0 });
}

const sse = 'text/event-stream';
const json = 'application/json';
const messages = [{ role: 'user', content: 'a' }];

const responses = {
  sdk: 'openai',
  stream: (body) => client(OpenAI, body, sse).responses.stream({ model: 'm', input: 'a' })
    .finalResponse(),
  whole: (body) => client(OpenAI, body, json).responses.create({ model: 'm', input: 'a' }),
  said: (response) => ({
    status: response.status,
    output: response.output.map((item) => ({ ...item, arguments: parsed(item.arguments) })),
    text: response.output_text,
  }),
  failed: (response) => response.status === 'failed',
};

const chat = {
  sdk: 'openai',
  stream: (body) => client(OpenAI, body, sse).chat.completions.stream({ model: 'm', messages })
    .finalChatCompletion(),
  whole: (body) => client(OpenAI, body, json).chat.completions.create({ model: 'm', messages }),
  said: ({ choices: [{ finish_reason: reason, message }] }) => ({
    reason,
    text: message.content || null,
    refusal: message.refusal || null,
    calls: (message.tool_calls ?? []).map(({ id, type, function: called }) => [
      id, type, called?.name, parsed(called?.arguments),
    ]),
  }),
  failed: () => false,
};

const anthropic = (sdk, SDK) => ({
  sdk,
  stream: (body) => client(SDK, body, sse).messages.stream({ model: 'm', max_tokens: 9, messages })
    .finalMessage(),
  whole: (body) => client(SDK, body, json).messages.create({ model: 'm', max_tokens: 9, messages }),
  said: (message) => ({
    reason: message.stop_reason,
    sequence: message.stop_sequence,
    content: message.content,
  }),
  failed: (message) => message.type === 'error',
});

const readers = {
  'openai-responses': [responses],
  'openai-chat': [chat],
  'anthropic-messages': [anthropic('anthropic', Anthropic0), anthropic('anthropic 1', Anthropic1)],
};

// White space in arguments is the upstream's; its stream and its whole answer may differ in it.
function parsed(text) {
  try { return JSON.parse(text); } catch { return text; }
}

// Plain data without what differs between a stream and a whole answer by its nature: what the SDK
// adds itself, the order of members inside an envelope, and the arguments of a call that was cut,
// which are no object.
function alike(value, cut) {
  const added = new Set(['parsed', 'parsed_arguments']);
  return JSON.parse(JSON.stringify(value, (key, inner) => {
    if (typeof inner === 'string' && inner.startsWith('hw.x.')) return 'hw.x';
    return added.has(key) || (cut && key === 'input') ? undefined : inner;
  }));
}

async function read(how, body) {
  try {
    const value = await how(body);
    return { value };
  } catch (error) {
    return { error: `${error.constructor?.name}: ${error.message}` };
  }
}

// The bytes that a client gets, or nothing where the case has none.
function expectation(folder, name) {
  const file = path.join(wire, folder, name);
  if (!fs.existsSync(file)) return null;
  const text = fs.readFileSync(file, 'utf8').replace(/^lossy: .*\n/, '');
  return text.startsWith('no answer:') ? null : text;
}

let passed = 0;
const faults = [];

function check(holds, fault) {
  if (holds) passed += 1;
  else faults.push(fault);
}

async function checkReader(reader, where, stream, answer) {
  const streamed = stream === null ? null : await read(reader.stream, stream);
  const whole = answer === null ? null : await read(reader.whole, answer);
  if (streamed) {
    const broken = /event: error|"type":"response.failed"|^data: \{"error"/m.test(stream);
    const failed = Boolean(streamed.error) || reader.failed(streamed.value);
    check(broken === failed, `${where}: ${streamed.error ?? 'a failure is read as success'}`);
  }
  if (!streamed?.value || !whole?.value || reader.failed(streamed.value)) return;
  const cut = streamed.value.stop_reason === 'max_tokens';
  const both = [streamed.value, whole.value].map((value) => alike(reader.said(value), cut));
  const shown = both.map((one) => JSON.stringify(one)).join('\n  ');
  check(isDeepStrictEqual(...both), `${where}: streamed and whole differ\n  ${shown}`);
}

for (const folder of fs.readdirSync(wire).filter((name) => pattern.test(name))) {
  for (const [dialect, sdks] of Object.entries(readers)) {
    const stream = expectation(folder, `stream.${dialect}`);
    const answer = expectation(folder, `answer.${dialect}`);
    // The SDK's stream of chat knows no custom tools, whoever sends them.
    if (dialect === 'openai-chat' && stream?.includes('"type":"custom"')) continue;
    for (const reader of sdks)
      await checkReader(reader, `${folder} → ${dialect} (${reader.sdk})`, stream, answer);
  }
}
for (const fault of faults) console.log(fault);
console.log(`${passed} passed, ${faults.length} failed`);
process.exitCode = faults.length > 0 ? 1 : 0;
