// Writes an answer the way the scenario wants it: whole, in pieces, late, or not to its end.
//
// `out` is one answer under way: {response, socket, record, scenario: {name, argument}}.
import zlib from 'node:zlib';
import { now } from './clock.mjs';

const PAUSE_BEFORE_BREAK_MS = 50;
const DEFAULT_SLOW_S = 20;
const DEFAULT_KEEP_ALIVE_MS = 2000;

export const sleep = (ms) =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

// Headers are out already; `answer` has `events` and makes keep-alives and error events.
export async function deliverStream(out, answer) {
  const { name, argument } = out.scenario;
  const events =
    name === 'crlf'
      ? [': hello\r\n\r\n', ...answer.events.map((text) => text.replace(/\n/g, '\r\n'))]
      : answer.events;
  out.record.events = events;
  if (['slow', 'slowping', 'slowevt'].includes(name)) await waitBeforeFirst(out, answer);
  if (name === 'sseerr0') {
    await write(out, answer.errorEvent(argument));
    return end(out);
  }
  if (name === 'onewrite') {
    await write(out, events.join(''));
    return end(out);
  }
  if (name === 'split') return deliverSplit(out, Buffer.from(events.join('')));
  if (name === 'halves') return deliverHalves(out, events, Number(argument) || 100);
  if (name === 'flood') return deliverFlood(out, events, (Number(argument) || 64) << 20);
  if (name === 'gzip') {
    await write(out, zlib.gzipSync(events.join('')));
    return end(out);
  }
  if (name === 'cut' && argument) {
    await write(out, Buffer.from(events.join('')).subarray(0, Number(argument)));
    return breakOff(out, answer);
  }
  const stopAt = BREAKING.has(name) ? Math.ceil(events.length / 2) : Infinity;
  for (let i = 0; i < events.length; i++) {
    if (gone(out)) return;
    if (i >= stopAt) return breakOff(out, answer);
    await write(out, events[i]);
    if (name === 'drip' && i + 1 < events.length) await sleep(Number(argument) || 1000);
  }
  end(out);
}

// A JSON body, broken in the same ways; only a mock with `breakBodies` comes here for a fault.
export async function deliverBody(out, bytes) {
  const { name, argument } = out.scenario;
  const half = Math.ceil(bytes.length / 2);
  switch (name) {
    case 'slow':
    case 'slowping':
    case 'slowevt':
      await waitBeforeFirst(out, null);
      break;
    case 'split':
      return deliverSplit(out, bytes);
    case 'drip':
      for (let at = 0; at < bytes.length && !gone(out); at += Math.ceil(bytes.length / 8)) {
        await write(out, bytes.subarray(at, at + Math.ceil(bytes.length / 8)));
        await sleep(Number(argument) || 1000);
      }
      return end(out);
    case 'cut':
    case 'cutclean':
    case 'stall':
      await write(out, bytes.subarray(0, half));
      return breakOff(out, null);
    default:
      break;
  }
  await write(out, bytes);
  end(out);
}

const BREAKING = new Set(['cut', 'cutclean', 'stall', 'stallping', 'sseerr']);
export const BODY_FAULTS = new Set(['slow', 'split', 'drip', 'cut', 'cutclean', 'stall']);

async function breakOff(out, answer) {
  const { name, argument } = out.scenario;
  if (name === 'stallping') return keepAlives(out, answer, Infinity, Number(argument) || 50);
  await sleep(PAUSE_BEFORE_BREAK_MS);
  out.record.at.broken = now();
  out.record.status = `${out.record.status} ${name}`;
  if (name === 'cut') return void out.socket.destroy();
  if (name === 'cutclean') return end(out);
  if (name === 'sseerr') {
    await write(out, answer.errorEvent(argument));
    return end(out);
  }
}

async function waitBeforeFirst(out, answer) {
  const { name, argument } = out.scenario;
  const [seconds, everyMs] = String(argument || DEFAULT_SLOW_S)
    .split('/')
    .map(Number);
  if (name === 'slow' || !answer) return sleep(seconds * 1000);
  await keepAlives(out, answer, now() + seconds * 1e9, everyMs || DEFAULT_KEEP_ALIVE_MS);
}

async function keepAlives(out, answer, until, everyMs) {
  while (now() < until && !gone(out)) {
    await sleep(Math.min(everyMs, (until - now()) / 1e6));
    if (gone(out)) return;
    await write(out, out.scenario.name === 'slowevt' ? answer.emptyEvent() : answer.keepAlive());
  }
}

async function deliverSplit(out, bytes) {
  for (let at = 0, piece = 0; at < bytes.length && !gone(out); piece++) {
    const length = 1 + (piece % 7);
    await write(out, bytes.subarray(at, at + length));
    at += length;
    if (piece % 20 === 19) await sleep(1);
  }
  end(out);
}

async function deliverHalves(out, events, pauseMs) {
  for (const event of events.map((text) => Buffer.from(text))) {
    const middle = Math.floor(event.length / 2);
    await write(out, event.subarray(0, middle));
    await sleep(pauseMs);
    await write(out, event.subarray(middle));
  }
  end(out);
}

// The token event in the middle of the answer, again and again, between its beginning and its end.
async function deliverFlood(out, events, bytesWanted) {
  const middle = Math.floor(events.length / 2);
  const block = Buffer.from(events[middle].repeat(64));
  for (const event of events.slice(0, middle)) await write(out, event);
  for (let sent = 0; sent < bytesWanted && !gone(out); sent += block.length)
    await write(out, block);
  for (const event of events.slice(middle)) await write(out, event);
  end(out);
}

// Resolves once the bytes are with the kernel, or the reader has gone.
function write(out, bytes) {
  const { response, record } = out;
  if (gone(out)) return Promise.resolve();
  const at = now();
  record.at.firstByte ??= at;
  record.at.writes.push(at);
  return new Promise((resolve) => {
    if (response.write(bytes)) {
      setImmediate(resolve);
      return;
    }
    const settle = () => {
      response.off('drain', settle);
      response.off('close', settle);
      resolve();
    };
    response.on('drain', settle);
    response.on('close', settle);
  });
}

function end(out) {
  out.record.at.lastByte = now();
  out.response.end();
}

const gone = (out) => out.response.destroyed || out.socket.destroyed;
