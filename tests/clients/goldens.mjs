// Every answer in tests/wire, as its client's own SDK reads it: the SDK takes each stream, ends with the message
// that the whole answer of the same case is, and reports a failure exactly where the case has one.
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
  const fetch = async () => new Response(body, { status: 200, headers: { 'content-type': type } });
  return new SDK({ apiKey: 'none', baseURL: 'http://localhost', fetch, maxRetries: 0 });
}

const sse = 'text/event-stream';
const json = 'application/json';
const asked = [{ role: 'user', content: 'a' }];

const readers = {
  'openai-responses': [{
    sdk: 'openai',
    stream: (b) => client(OpenAI, b, sse).responses.stream({ model: 'm', input: 'a' }).finalResponse(),
    whole: (b) => client(OpenAI, b, json).responses.create({ model: 'm', input: 'a' }),
    said: (r) => ({ status: r.status, output: r.output.map(without('parsed_arguments', 'parsed')).map((i) => ({ ...i, arguments: parsed(i.arguments) })), text: r.output_text }),
    failed: (r) => r.status === 'failed',
  }],
  'openai-chat': [{
    sdk: 'openai',
    stream: (b) => client(OpenAI, b, sse).chat.completions.stream({ model: 'm', messages: asked }).finalChatCompletion(),
    whole: (b) => client(OpenAI, b, json).chat.completions.create({ model: 'm', messages: asked }),
    said: (r) => ({ reason: r.choices[0].finish_reason, text: r.choices[0].message.content || null, refusal: r.choices[0].message.refusal || null,
      calls: (r.choices[0].message.tool_calls ?? []).map((c) => [c.id, c.type, c.function?.name ?? c.custom?.name, parsed(c.function?.arguments ?? c.custom?.input)]) }),
    failed: () => false,
  }],
  'anthropic-messages': [['anthropic 0', Anthropic0], ['anthropic 1', Anthropic1]].map(([sdk, SDK]) => ({
    sdk,
    stream: (b) => client(SDK, b, sse).messages.stream({ model: 'm', max_tokens: 9, messages: asked }).finalMessage(),
    whole: (b) => client(SDK, b, json).messages.create({ model: 'm', max_tokens: 9, messages: asked }),
    said: (r) => ({ reason: r.stop_reason, sequence: r.stop_sequence, content: r.content }),
    failed: (r) => r.type === 'error',
  })),
};

// White space in arguments is the upstream's; it may differ between its stream and its whole answer.
function parsed(text) {
  try { return JSON.parse(text); } catch { return text; }
}

// What differs between a stream and a whole answer by its nature: the order of members inside an envelope, and the
// arguments of a call that was cut, which are no object.
function alike(value, cut) {
  return JSON.parse(JSON.stringify(value, (key, inner) => {
    if (typeof inner === 'string' && inner.startsWith('hw.x.')) return 'hw.x';
    return cut && key === 'input' ? undefined : inner;
  }));
}

// `value` without these members, at any depth, and as plain data.
function without(...names) {
  return (value) => JSON.parse(JSON.stringify(value, (key, inner) => (names.includes(key) ? undefined : inner)));
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
for (const folder of fs.readdirSync(wire).filter((name) => pattern.test(name))) {
  for (const [dialect, sdks] of Object.entries(readers)) {
    const stream = expectation(folder, `stream.${dialect}`);
    const answer = expectation(folder, `answer.${dialect}`);
    for (const reader of sdks) {
      const streamed = stream === null ? null : await read(reader.stream, stream);
      const whole = answer === null ? null : await read(reader.whole, answer);
      // The SDK's stream of chat knows no custom tools, whoever sends them.
      if (dialect === 'openai-chat' && stream?.includes('"type":"custom"')) continue;
      if (streamed) {
        const broken = /event: error|"type":"response.failed"|^data: \{"error"/m.test(stream);
        const failed = Boolean(streamed.error) || reader.failed(streamed.value);
        if (broken === failed) passed += 1;
        else faults.push(`${folder} → ${dialect} (${reader.sdk}): ${streamed.error ?? 'a failure is read as success'}`);
      }
      if (!streamed?.value || !whole?.value || reader.failed(streamed.value)) continue;
      const cut = streamed.value.stop_reason === 'max_tokens';
      const both = [streamed.value, whole.value].map((value) => alike(reader.said(value), cut));
      if (isDeepStrictEqual(...both)) passed += 1;
      else faults.push(`${folder} → ${dialect} (${reader.sdk}): streamed and whole differ\n  ${both.map((one) => JSON.stringify(one)).join('\n  ')}`);
    }
  }
}
for (const fault of faults) console.log(fault);
console.log(`${passed} passed, ${faults.length} failed`);
process.exitCode = faults.length > 0 ? 1 : 0;
