// One test: what it found wrong, and the servers that it started.
import { startMock } from '../../clients/mock/server.mjs';
import { startHeadway } from '../../clients/headway.mjs';
import { now } from '../../clients/mock/clock.mjs';

const RECORD_TIMEOUT_MS = 1000; // a call is readable within a second of its end

export class Trial {
  constructor() {
    this.faults = []; // what no repetition can excuse
    this.lateness = []; // what a busy machine can cause, too: such a test is run again
    this.cleanups = [];
  }

  check(condition, message) {
    if (!condition) this.faults.push(typeof message === 'function' ? message() : message);
    return Boolean(condition);
  }

  equal(actual, expected, what) {
    const same = JSON.stringify(actual) === JSON.stringify(expected);
    return this.check(same, () => `${what}: ${short(actual)}, expected ${short(expected)}`);
  }

  match(actual, pattern, what) {
    return this.check(
      pattern.test(String(actual)),
      () => `${what}: ${short(actual)}, expected ${pattern}`,
    );
  }

  inTime(condition, message) {
    if (!condition) this.lateness.push(message);
  }

  // Starts the mocks named in `mocks` ({name: options}) and a gateway whose channels
  // `channels(mocks)` gives. Gives {gateway, mocks}.
  async world({ mocks = { mock: {} }, channels, ...options }) {
    const started = {};
    for (const [name, settings] of Object.entries(mocks)) {
      started[name] = await startMock({ breakBodies: true, ...settings });
      this.cleanups.push(() => started[name].close());
    }
    const gateway = await startHeadway({ channels: channels(started), ...options });
    this.cleanups.unshift(() => gateway.stop());
    return { gateway, mocks: started };
  }

  // The record of a finished call.
  async record(gateway, id, { token = gateway.adminToken } = {}) {
    if (!this.check(id, 'no x-request-id in the answer')) return null;
    const until = now() + RECORD_TIMEOUT_MS * 1e6;
    let answer;
    do {
      answer = await fetch(`${gateway.url}/api/calls/${id}`, {
        headers: { authorization: `Bearer ${token}` },
      });
      if (answer.status === 200) return answer.json();
      await answer.arrayBuffer();
      await delay(10);
    } while (now() < until);
    this.check(false, `GET /api/calls/${id} answers ${answer.status} a second after the call`);
    return null;
  }

  // The newest record once there are `count`, for calls whose id the client never saw.
  async newestRecord(gateway, count = 1) {
    const until = now() + RECORD_TIMEOUT_MS * 1e6;
    do {
      const answer = await fetch(`${gateway.url}/api/calls?limit=${count}`, {
        headers: { authorization: `Bearer ${gateway.adminToken}` },
      });
      const { calls = [] } = await answer.json();
      if (calls.length === count) return this.record(gateway, calls[0].id);
      await delay(10);
    } while (now() < until);
    this.check(false, `GET /api/calls does not have ${count} calls a second after the last`);
    return null;
  }

  async close() {
    for (const cleanup of this.cleanups) await cleanup();
  }
}

const short = (value) => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined');
  return text.length > 160 ? `${text.slice(0, 160)}...` : text;
};

export const delay = (ms) =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

export const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
