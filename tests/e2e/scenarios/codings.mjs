// Compressed bodies: requests are decoded within bounds and sent on plain; answers are read through
// their coding.
import fs from 'node:fs';
import zlib from 'node:zlib';
import { promisify } from 'node:util';
import { send } from './client.mjs';
import { DIALECTS, STREAMING, channelFor, requestOf } from './dialects.mjs';
import { checkConserved } from './timeline.mjs';

const LIMIT_BYTES = 1 << 20;
const BOMB_BYTES = 64 << 20;
const MEMORY_GROWTH_BYTES_MAX = 32 << 20;

// Bytes to coded bytes, at once or as a promise: the mock's clocks must not stand still meanwhile.
const CODERS = {
  gzip: promisify(zlib.gzip),
  deflate: promisify(zlib.deflate),
  br: brotliQuickly,
  zstd: zstdStored,
};

export function tests() {
  return [
    ...Object.keys(CODERS).flatMap((coding) => [
      { name: `${coding} is decoded and sent on plain`, run: (t) => decoded(t, coding) },
      { name: `${coding} that breaks off gets 400`, run: (t) => brokenOff(t, coding) },
      {
        name: `${coding} above the limit after decoding gets 413`,
        run: (t) => tooLarge(t, coding),
      },
      { name: `a ${coding} bomb costs no memory`, run: (t) => bomb(t, coding) },
    ]),
    { name: 'names of codings in any case, and identity', run: names },
    { name: 'another coding gets 415', run: unknown },
    { name: 'a coded answer is read and passed on', run: codedAnswer },
    { name: 'streams are asked for without a coding', run: identityAsked },
  ];
}

function brotliQuickly(bytes) {
  const params = { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 };
  return promisify(zlib.brotliCompress)(bytes, { params });
}

// A zstd frame of stored blocks, since not every Node can make one (RFC 8878 §3.1.1).
function zstdStored(bytes) {
  const parts = [Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58])]; // window of 2 MiB
  for (let at = 0; at < bytes.length || at === 0; at += 65536) {
    const block = bytes.subarray(at, at + 65536);
    const last = at + 65536 >= bytes.length ? 1 : 0;
    parts.push(blockHeader(last, 0, block.length), block);
  }
  return Buffer.concat(parts);
}

function blockHeader(last, type, size) {
  const value = last | (type << 1) | (size << 3);
  return Buffer.from([value & 0xff, (value >> 8) & 0xff, (value >> 16) & 0xff]);
}

// BOMB_BYTES of blanks in as few bytes as the coding allows.
function bombOf(coding) {
  if (coding !== 'zstd') return CODERS[coding](Buffer.alloc(BOMB_BYTES, ' '));
  const blocks = BOMB_BYTES / 65536; // of one repeated byte each
  const parts = Array.from({ length: blocks }, (_, i) =>
    Buffer.concat([blockHeader(i === blocks - 1 ? 1 : 0, 1, 65536), Buffer.from(' ')]),
  );
  return Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58]), ...parts]);
}

const world = (t, more = {}) =>
  t.world({ channels: ({ mock: m }) => [channelFor('openai', m)], ...more });
const coded = (coding, body) => ({
  ...requestOf('chat', { headers: { 'content-encoding': coding } }),
  body,
});
const plainBody = (pad = '') => Buffer.from(JSON.stringify({ ...DIALECTS.chat.body(false), pad }));

async function decoded(t, coding) {
  const {
    gateway,
    mocks: { mock },
  } = await world(t);
  const body = plainBody('déjà '.repeat(40000));
  for (const chunked of [false, true]) {
    mock.set('ok');
    const exchange = await send(gateway.port, {
      ...coded(coding, await CODERS[coding](body)),
      chunked,
    });
    t.equal(exchange.answer?.status, 200, 'status');
    const [record] = mock.records;
    t.check(
      record?.raw.equals(body),
      `the upstream got ${record?.raw.length} bytes, expected ${body.length}`,
    );
    t.equal(
      [record?.headers['content-encoding'], record?.headers['content-length']],
      [undefined, String(body.length)],
      'headers at the upstream',
    );
  }
}

async function brokenOff(t, coding) {
  const {
    gateway,
    mocks: { mock },
  } = await world(t);
  const body = await CODERS[coding](plainBody('x'.repeat(5000)));
  for (const bytes of [
    body.subarray(0, body.length - 3),
    Buffer.from('hello, this is not compressed'),
    Buffer.alloc(0),
  ]) {
    const exchange = await send(gateway.port, coded(coding, bytes));
    t.equal(
      [exchange.answer?.status, mock.records.length],
      [400, 0],
      `${bytes.length} bytes: status and upstream calls`,
    );
    t.check(
      DIALECTS.chat.isError(exchange.answer?.json),
      `${bytes.length} bytes: ${exchange.answer?.text.slice(0, 200)}`,
    );
  }
}

async function tooLarge(t, coding) {
  const { gateway } = await world(t, { gateway: { body_bytes_max: LIMIT_BYTES } });
  const under = await send(
    gateway.port,
    coded(coding, await CODERS[coding](plainBody('x'.repeat(LIMIT_BYTES - 1000)))),
  );
  t.equal(under.answer?.status, 200, 'status just under the limit');
  const over = await send(
    gateway.port,
    coded(coding, await CODERS[coding](plainBody(' '.repeat(LIMIT_BYTES)))),
  );
  t.equal(over.answer?.status, 413, 'status just over the limit');
  const call = await t.record(gateway, over.id);
  t.equal([call?.outcome, call?.error?.code], ['rejected', 'body_too_large'], 'the record');
  if (call) checkConserved(t, call);
}

async function bomb(t, coding) {
  const { gateway } = await world(t, { gateway: { body_bytes_max: LIMIT_BYTES } });
  const before = residentBytes(gateway.pid);
  const exchange = await send(gateway.port, coded(coding, await bombOf(coding)));
  const grown = residentBytes(gateway.pid) - before;
  t.equal(exchange.answer?.status, 413, 'status');
  t.check(grown <= MEMORY_GROWTH_BYTES_MAX, `memory grew by ${(grown / 2 ** 20).toFixed(1)} MiB`);
}

const residentBytes = (pid) =>
  Number(/VmHWM:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;

async function names(t) {
  const { gateway } = await world(t);
  const body = plainBody();
  for (const [coding, bytes] of [
    ['GZIP', zlib.gzipSync(body)],
    ['x-gzip', zlib.gzipSync(body)],
    ['identity', body],
    ['gzip', zlib.gzipSync(body)],
  ]) {
    t.equal(
      (await send(gateway.port, coded(coding, bytes))).answer?.status,
      200,
      `${coding}: status`,
    );
  }
}

async function unknown(t) {
  const {
    gateway,
    mocks: { mock },
  } = await world(t);
  for (const coding of ['lzw', 'compress', 'gzip, lzw', 'aws-chunked']) {
    const exchange = await send(gateway.port, coded(coding, plainBody()));
    t.equal(
      [exchange.answer?.status, mock.records.length],
      [415, 0],
      `${coding}: status and upstream calls`,
    );
    t.equal(exchange.answer?.json?.error?.code, 'unsupported_coding', `${coding}: error.code`);
    const call = await t.record(gateway, exchange.id);
    t.equal([call?.outcome, call?.status], ['rejected', 415], `${coding}: the record`);
  }
}

async function codedAnswer(t) {
  for (const stream of [false, true]) {
    for (const accepts of ['gzip', 'identity']) {
      const {
        gateway,
        mocks: { mock },
      } = await world(t, { mocks: { mock: { scenario: 'gzip' } } });
      const what = `stream=${stream} accept-encoding=${accepts}`;
      const exchange = await send(
        gateway.port,
        requestOf('chat', { stream, headers: { 'accept-encoding': accepts } }),
      );
      t.equal(exchange.answer?.status, 200, `${what}: status`);
      const isCoded = exchange.answer?.headers['content-encoding'] === 'gzip';
      const text = isCoded
        ? zlib.gunzipSync(exchange.answer.body).toString()
        : exchange.answer?.text;
      const [record] = mock.records;
      t.equal(text, stream ? record.events.join('') : record.sentBody.toString(), `${what}: body`);
      const call = await t.record(gateway, exchange.id);
      t.equal(
        [call?.outcome, call?.tokens.source, call?.tokens.input],
        ['ok', 'usage', record.usageInput],
        `${what}: outcome and usage`,
      );
    }
  }
}

async function identityAsked(t) {
  for (const name of STREAMING) {
    const {
      gateway,
      mocks: { mock },
    } = await t.world({ channels: ({ mock: m }) => [channelFor(DIALECTS[name].family, m)] });
    await send(
      gateway.port,
      requestOf(name, { stream: true, headers: { 'accept-encoding': 'gzip, deflate, br, zstd' } }),
    );
    t.match(
      mock.records[0]?.headers['accept-encoding'] ?? 'identity',
      /^identity$/,
      `${name}: accept-encoding at the upstream`,
    );
  }
}
