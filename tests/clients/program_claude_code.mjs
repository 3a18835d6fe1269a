// Claude Code, headless. Its retries are cut to 2, so that failures end fast.
import path from 'node:path';
import { PROGRAMS_DIR, runProgram, jsonLines } from './program.mjs';

export const BINARY = path.join(
  PROGRAMS_DIR,
  'node_modules/@anthropic-ai/claude-code-linux-x64/claude',
);

// For a model that loses its way in four thousand tokens of instructions and tools.
const FOR_SMALL_MODELS = [
  ...['--bare', '--tools', '', '--system-prompt', 'Answer in one short sentence.'],
];

// `small`: the model is one.
export function runClaudeCode({ port, key, model, timeoutMs, small = false }) {
  const mode = small ? FOR_SMALL_MODELS : ['--allowedTools', 'Bash'];
  const start = () => ({
    command: BINARY,
    args: ['-p', 'say hi', '--output-format', 'stream-json', '--verbose', ...mode],
    env: {
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
      [small ? 'ANTHROPIC_API_KEY' : 'ANTHROPIC_AUTH_TOKEN']: key, // --bare takes the first only
      ANTHROPIC_MODEL: model,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      CLAUDE_CODE_MAX_RETRIES: '2',
    },
  });
  return runProgram({ start, read, timeoutMs });
}

export function read({ code, stdout, stderr }) {
  const result = jsonLines(stdout)
    .filter((line) => line.type === 'result')
    .pop();
  if (!result) return { ok: false, text: '', error: (stderr || stdout).slice(-300) || 'no result' };
  const failed = result.is_error || code !== 0;
  return {
    ok: !failed,
    text: result.result ?? '',
    error: failed ? String(result.result ?? result.subtype) : null,
  };
}
