// Heartbeats between an answer's events, as each SDK reads them: the answer is the same as without,
// raw and by the SDK's own accumulator.
//   node heartbeats.mjs
import OpenAI from 'openai';
import Anthropic0 from 'anthropic-sdk-0';
import Anthropic1 from 'anthropic-sdk-1';
import { startMock } from './mock/server.mjs';
import { CLIENT_KEY, startHeadway } from './headway.mjs';

const EVERY_MS = 30;
const SILENCE_MS = 100; // between two events of the upstream
const MODEL = 'mock-large';
const messages = [{ role: 'user', content: 'say hi' }];

const textOf = async (stream, piece) => {
  let text = '';
  for await (const event of stream) text += piece(event) ?? '';
  return text;
};

const chat = (sdk) => ({
  raw: async () =>
    textOf(
      await sdk.chat.completions.create({ model: MODEL, messages, stream: true }),
      (chunk) => chunk.choices[0]?.delta?.content,
    ),
  helper: async () =>
    (await sdk.chat.completions.stream({ model: MODEL, messages }).finalChatCompletion()).choices[0]
      .message.content,
});

const responses = (sdk) => ({
  raw: async () =>
    textOf(await sdk.responses.create({ model: MODEL, input: messages, stream: true }), (event) =>
      event.type === 'response.output_text.delta' ? event.delta : '',
    ),
  helper: async () =>
    (await sdk.responses.stream({ model: MODEL, input: messages }).finalResponse()).output_text,
});

const asMessages = (sdk) => ({
  raw: async () =>
    textOf(
      await sdk.messages.create({ model: MODEL, messages, max_tokens: 99, stream: true }),
      (event) => event.delta?.text,
    ),
  helper: async () => {
    const stream = sdk.messages.stream({ model: MODEL, messages, max_tokens: 99 });
    const said = await stream.finalMessage();
    return said.content.map((block) => block.text ?? '').join('');
  },
});

const openai = (port) =>
  new OpenAI({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey: CLIENT_KEY, maxRetries: 0 });
const anthropic = (SDK) => (port) =>
  asMessages(new SDK({ baseURL: `http://127.0.0.1:${port}`, apiKey: CLIENT_KEY, maxRetries: 0 }));

const READERS = [
  { name: 'openai, chat', serves: 'chat', client: (port) => chat(openai(port)) },
  { name: 'openai, responses', serves: 'responses', client: (port) => responses(openai(port)) },
  { name: 'anthropic 0', serves: 'messages', client: anthropic(Anthropic0) },
  { name: 'anthropic 1', serves: 'messages', client: anthropic(Anthropic1) },
];
const UPSTREAMS = ['chat', 'responses', 'messages'];

const channelOf = (serves, url) => ({
  name: `mock-${serves}`,
  dialect: serves === 'messages' ? 'anthropic' : 'openai',
  base_url: serves === 'messages' ? url : `${url}/v1`,
  serves: [serves],
  models: [MODEL],
});

// What a client reads from an upstream, at once or with silences and heartbeats.
async function read(reader, mode, upstream, scenario, keepaliveMs) {
  const mock = await startMock({ scenario });
  const gateway = await startHeadway({
    channels: [channelOf(upstream, mock.url)],
    gateway: { keepalive_ms: keepaliveMs },
  });
  try {
    return await reader.client(gateway.port)[mode]();
  } catch (error) {
    return `error: ${error.message}`;
  } finally {
    await gateway.stop();
    await mock.close();
  }
}

let passed = 0;
let failed = 0;
for (const reader of READERS) {
  for (const mode of ['raw', 'helper']) {
    for (const upstream of UPSTREAMS) {
      const plain = await read(reader, mode, upstream, 'ok', 0);
      const kept = await read(reader, mode, upstream, `drip:${SILENCE_MS}`, EVERY_MS);
      const fine = plain && !plain.startsWith('error') && plain === kept;
      fine ? passed++ : failed++;
      const where = `${reader.name}, ${mode}, from ${upstream}`;
      if (!fine) console.log(`${where}: ${plain}\n  with heartbeats: ${kept}`);
    }
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
