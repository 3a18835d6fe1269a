// A raw HTTP/1.1 client: keeps every byte with its time, and can leave whenever a test wants it to.
import net from 'node:net';
import { messages, events, parseJson } from '../../clients/recorded.mjs';
import { CLIENT_KEY } from '../../clients/headway.mjs';
import { now } from '../../clients/mock/clock.mjs';

const DONE_TIMEOUT_MS = 15000;

// Sends one request on a connection of its own. request: {method, path, headers: [[name, value]] or
// object, body: object | string | Buffer, key: null for none, chunked, raw: all bytes of it}.
export function open(port, request) {
  return new Exchange(port, request);
}

// The same, waited for to its end.
export const send = (port, request) => open(port, request).done();

class Exchange {
  constructor(port, request) {
    this.request = { method: request.body === undefined ? 'GET' : 'POST', ...request };
    this.received = [];
    this.ended = null; // 'fin' or an error code, once the server's side has ended
    this.waiters = new Set();
    this.openedAt = now();
    this.socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    this.socket.setNoDelay(true);
    this.socket.on('data', (bytes) => {
      this.firstByteAt ??= now();
      this.lastByteAt = now();
      this.received.push(bytes);
      this.wake();
    });
    this.socket.on('end', () => this.end('fin'));
    this.socket.on('error', (error) => this.end(error.code));
    this.socket.write(request.raw || serialize(this.request), () => {
      this.sentAt = now();
      this.wake();
    });
  }

  end(why) {
    this.ended ??= why;
    this.endedAt ??= now();
    this.wake();
  }

  wake() {
    for (const waiter of this.waiters) waiter();
  }

  // The answers so far; each has {status, headers, body, text, json, events, end}.
  answers() {
    return messages(Buffer.concat(this.received), 'response', {
      methods: [this.request.method],
      interim: true,
    }).map(describe);
  }

  // The first final answer, or null.
  get answer() {
    return this.answers().find(({ status }) => status >= 200) || null;
  }

  // Resolves when `condition(this)` holds; fails when the time is up.
  until(condition, what, timeoutMs = DONE_TIMEOUT_MS) {
    return new Promise((resolve, reject) => {
      const settle = (outcome, value) => {
        clearTimeout(timer);
        this.waiters.delete(check);
        outcome(value);
      };
      const check = () => {
        if (condition(this)) settle(resolve, this);
      };
      const timer = setTimeout(
        () =>
          settle(
            reject,
            new Error(
              `waited ${timeoutMs} ms for ${what}; ` +
                `got ${this.answer?.status} ${this.answer?.text.slice(0, 200)}`,
            ),
          ),
        timeoutMs,
      );
      this.waiters.add(check);
      check();
    });
  }

  // Resolves when the answer is complete or the connection has ended, which closes it.
  async done(timeoutMs) {
    await this.until(
      (self) => self.ended || (self.mayBeComplete() && self.answer?.end === 'framed'),
      'the end of the answer',
      timeoutMs,
    );
    this.doneAt = now();
    this.socket.destroy();
    return this;
  }

  // Whether it is worth while to read what came: large chunked answers only when a last chunk came.
  mayBeComplete() {
    const bytes = this.received.reduce((sum, piece) => sum + piece.length, 0);
    return bytes < 1 << 18 || this.received.at(-1).subarray(-5).toString('latin1') === '0\r\n\r\n';
  }

  // The client goes away: 'fin' closes in an orderly way, 'rst' breaks the connection.
  leave(how) {
    this.leftAt = now();
    if (how === 'rst') this.socket.resetAndDestroy();
    else this.socket.destroy();
  }

  get id() {
    return this.answer?.headers['x-request-id'];
  }
}

function describe({ line, headers, body, end }) {
  const text = body.toString('utf8');
  return {
    status: Number(line.split(' ')[1]),
    headers,
    body,
    text,
    end,
    get json() {
      return parseJson(text);
    },
    get events() {
      return events(text);
    },
  };
}

function serialize({ method, path, headers = [], body, key = CLIENT_KEY, chunked = false }) {
  const pairs = Array.isArray(headers) ? headers : Object.entries(headers);
  const has = (name) => pairs.some(([other]) => other.toLowerCase() === name);
  const lines = [`${method} ${path} HTTP/1.1`];
  if (!has('host')) lines.push('Host: localhost');
  if (key !== null && !has('authorization')) lines.push(`Authorization: Bearer ${key}`);
  const bytes =
    body === undefined || Buffer.isBuffer(body) || typeof body === 'string'
      ? body
      : JSON.stringify(body);
  if (bytes !== undefined && !has('content-type')) lines.push('Content-Type: application/json');
  if (chunked) lines.push('Transfer-Encoding: chunked');
  else if (bytes !== undefined && !has('content-length'))
    lines.push(`Content-Length: ${Buffer.byteLength(bytes)}`);
  for (const [name, value] of pairs) lines.push(`${name}: ${value}`);
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  if (bytes === undefined) return head;
  return Buffer.concat([head, chunked ? inChunks(Buffer.from(bytes)) : Buffer.from(bytes)]);
}

function inChunks(bytes, size = 16384) {
  const parts = [];
  for (let at = 0; at < bytes.length; at += size) {
    const piece = bytes.subarray(at, at + size);
    parts.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')]);
}
