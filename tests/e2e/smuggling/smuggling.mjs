// Sends each request of the corpus over a socket of its own to the real program and looks at what
// comes back, whether the connection ends, and what got through to the upstream.
import net from 'node:net';
import { startMock } from '../../clients/mock/server.mjs';
import { messages } from '../../clients/recorded.mjs';
import { startHeadway } from '../../clients/headway.mjs';
import { readCorpus } from './corpus.mjs';

// Follows each refused request on its connection; an answer to it means that the server went on
// reading where it had lost its place.
const PROBE = 'GET /livez HTTP/1.1\r\nHost: probe\r\n\r\n';
const ANSWER_TIMEOUT_MS = 3000;
const QUIET_MS = 30; // how long nothing more may come before the answers count as complete

const wanted = new RegExp(process.argv[2] || '.');
const mock = await startMock();
const gateway = await startHeadway({
  channels: [
    { name: 'mock', dialect: 'openai', base_url: `${mock.url}/v1`, models: ['mock-large'] },
  ],
});
let passed = 0;
let failed = 0;
for (const entry of readCorpus().filter(({ name }) => wanted.test(name))) {
  mock.set('ok');
  const seen = await send(entry);
  const faults = judge(entry, seen, mock.records);
  if (faults.length) failed++;
  else passed++;
  console.log(
    faults.length
      ? `FAIL ${entry.name}: ${faults.join('; ')} (${entry.why})`
      : `ok   ${entry.name}`,
  );
}
const after = await fetch(`${gateway.url}/livez`).catch(() => null);
if (after?.status !== 200) {
  failed++;
  console.log(`FAIL the gateway answers no more: ${gateway.log().slice(-500)}`);
}
await gateway.stop();
await mock.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);

// {statuses, ended: 'fin' | an error code | null while the connection is open}
function send({ bytes, codec, answers }) {
  const refused = codec === 'refuses';
  const methods = [...bytes.toString('latin1').matchAll(/^([A-Z]+) \S+ HTTP\/1/gm)].map(
    (m) => m[1],
  );
  const complete = Math.max(...answers.map((list) => list.length));
  return new Promise((resolve) => {
    const socket = net.connect({ port: gateway.port, host: '127.0.0.1', allowHalfOpen: true });
    const received = [];
    let ended = null;
    let timer = null;
    const finish = () => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ statuses: statuses(), ended });
    };
    const statuses = () =>
      messages(Buffer.concat(received), 'response', { methods, interim: true }).map(
        (message) => message.line.split(' ')[1],
      );
    const wait = () => {
      clearTimeout(timer);
      const enough = !refused && statuses().length >= complete;
      timer = setTimeout(finish, enough ? QUIET_MS : ANSWER_TIMEOUT_MS);
    };
    socket.on('data', (data) => {
      received.push(data);
      wait();
    });
    socket.on('end', () => {
      ended = 'fin';
      finish();
    });
    socket.on('error', (error) => {
      ended = error.code;
      finish();
    });
    socket.write(refused ? Buffer.concat([bytes, Buffer.from(PROBE)]) : bytes);
    wait();
  });
}

function judge({ answers, codec, upstream, hidden }, { statuses, ended }, records) {
  const faults = [];
  const got = statuses.join(' ');
  if (!answers.some((list) => list.join(' ') === got)) {
    faults.push(
      `answered ${got || 'nothing'}, expected ` +
        answers.map((list) => list.join(' ') || 'nothing').join(' or '),
    );
  }
  if (codec === 'refuses' && !ended) faults.push('the connection stayed open');
  if (!upstream.includes(records.length))
    faults.push(
      `${records.length} requests reached the upstream, expected ${upstream.join(' or ')}`,
    );
  for (const record of records) {
    const head = record.rawHeaders
      .map((text, i) => (i % 2 ? `: ${text}\r\n` : text))
      .join('')
      .toLowerCase();
    if (hidden && head.includes(hidden.toLowerCase()))
      faults.push(`${JSON.stringify(hidden)} reached the upstream`);
    if (!record.body) faults.push('the body reached the upstream changed');
  }
  return faults;
}
