// Judges what Headway sent up in a matrix run; see checked.mjs. One line a finding, last line
// "N passed, N failed" over the cells.
//
//   tests/clients/run && tests/clients/run check [FOLDER]       (with --all: the programs too)
//
// FOLDER: build/clients/evidence/headway unless told.
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { checkEvidence } from './checked.mjs';

const usual = fileURLToPath(new URL('../../build/clients/evidence/headway', import.meta.url));
const folder = process.argv[2] ?? usual;
if (!fs.existsSync(folder)) {
  console.error(`there is no ${folder}; run the matrix first: tests/clients/run`);
  process.exit(2);
}
const counts = { passed: 0, failed: 0 };
for (const { where, bad, known } of checkEvidence(folder)) {
  for (const { what, why } of known) console.log(`known ${where}: ${what} (${why})`);
  for (const what of bad) console.log(`FAIL ${where}: ${what}`);
  counts[bad.length ? 'failed' : 'passed']++;
}
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed || !counts.passed ? 1 : 0;
