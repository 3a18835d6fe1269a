// Runs the suites of this folder: `run [PATTERN] [--jobs N] [--list]`.
import { parseArgs } from 'node:util';
import { Trial } from './trial.mjs';

const SUITES = [
  'answers',
  'leaving',
  'retries',
  'timeouts',
  'heartbeats',
  'routes',
  'codings',
  'credentials',
  'pass_through',
  'lifecycle',
  'tls',
];
// Of a test that was only late, which a busy machine can cause.
const REPEATS_MAX = 5;
const REPEATS_ALONE_MAX = 10;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { jobs: { type: 'string', default: '4' }, list: { type: 'boolean', default: false } },
});
const wanted = new RegExp(positionals[0] || '.');
const waiting = [];
for (const suite of SUITES) {
  const { tests } = await import(`./${suite}.mjs`);
  waiting.push(
    ...tests()
      .map((test) => ({ ...test, name: `${suite}: ${test.name}` }))
      .filter((test) => wanted.test(test.name)),
  );
}
if (options.list) {
  console.log(waiting.map((test) => test.name).join('\n'));
  process.exit(0);
}

const counts = { passed: 0, failed: 0 };
const failed = [];
const began = Date.now();
const alone = waiting.filter((test) => test.alone); // what compares clocks runs by itself
const together = waiting.filter((test) => !test.alone);
await Promise.all(Array.from({ length: Number(options.jobs) }, () => work(together)));
await work(alone);
// What failed in company is tried once more by itself: it counts as failed only if it fails twice.
await work(failed.splice(0), 'again');
console.log(`${Math.round((Date.now() - began) / 1000)} s`);
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exit(counts.failed ? 1 : 0);

async function work(tests, turn = 'first') {
  for (let test = tests.shift(); test; test = tests.shift()) {
    const faults = await attempt(test, test.alone ? REPEATS_ALONE_MAX : REPEATS_MAX);
    const said = faults.slice(0, 6).join('; ');
    if (faults.length && turn === 'first') {
      failed.push(test);
      console.log(`once more, alone: ${test.name}: ${said}`);
      continue;
    }
    counts[faults.length ? 'failed' : 'passed']++;
    console.log(faults.length ? `FAIL ${test.name}: ${said}` : `ok   ${test.name}`);
  }
}

async function attempt(test, repeats) {
  const trial = new Trial();
  try {
    await test.run(trial);
  } catch (error) {
    trial.faults.push(error.stack.split('\n').slice(0, 3).join(' '));
  } finally {
    await trial.close();
  }
  const onlyLate = !trial.faults.length && trial.lateness.length;
  if (onlyLate && repeats > 1) return attempt(test, repeats - 1);
  return [...trial.faults, ...trial.lateness];
}
