// The Cline CLI, headless, one driver for each of its providers. Telemetry and updates are off, and
// the session stays in the process (no daemon is left behind).
import path from 'node:path';
import { PROGRAMS_DIR, runProgram, jsonLines } from './program.mjs';

export const BINARY = path.join(PROGRAMS_DIR, 'node_modules/@cline/cli-linux-x64/bin/cline');

export const runClineChat = (cell) => runCline('openai-compatible', cell);
export const runClineResponses = (cell) => runCline('openai-native', cell);
export const runClineMessages = (cell) => runCline('anthropic', cell);

function runCline(provider, { port, key, model, timeoutMs }) {
  const settings = { provider, apiKey: key, model, baseUrl: `http://127.0.0.1:${port}/v1` };
  const providers = {
    version: 1,
    lastUsedProvider: provider,
    modes: {},
    providers: {
      [provider]: { settings, updatedAt: '2026-01-01T00:00:00.000Z', tokenSource: 'manual' },
    },
  };
  const start = () => ({
    command: BINARY,
    args: ['--json', 'say hi'],
    env: { CLINE_NO_AUTO_UPDATE: '1', CLINE_SESSION_BACKEND_MODE: 'local' },
    files: {
      '.cline/data/settings/providers.json': JSON.stringify(providers, null, 2),
      '.cline/data/settings/global-settings.json': JSON.stringify({
        telemetryOptOut: true,
        autoUpdateEnabled: false,
      }),
    },
  });
  return runProgram({ start, read, timeoutMs });
}

export function read({ code, stdout, stderr }) {
  const result = jsonLines(stdout)
    .filter((line) => line.type === 'run_result')
    .pop();
  if (!result)
    return { ok: false, text: '', error: (stderr || stdout).slice(-300) || 'no run_result' };
  const failed = code !== 0 || /error|fail|abort/i.test(result.finishReason || '');
  return {
    ok: !failed,
    text: result.text ?? '',
    error: failed ? `[${result.finishReason}] ${result.text}` : null,
  };
}
