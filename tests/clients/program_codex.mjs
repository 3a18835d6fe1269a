// Codex, headless, through a provider of its own configuration (its only wire is responses).
// Retries are cut to 2 inner and 2 outer ones.
import path from 'node:path';
import { PROGRAMS_DIR, runProgram, jsonLines } from './program.mjs';

export const BINARY = path.join(PROGRAMS_DIR, 'node_modules/.bin/codex');

export function runCodex({ port, key, model, timeoutMs }) {
  const start = (home) => ({
    command: BINARY,
    args: ['exec', '--skip-git-repo-check', '--json', 'say hi'],
    env: { GW_API_KEY: key, CODEX_HOME: path.join(home, '.codex') },
    files: { '.codex/config.toml': configuration(port, model) },
  });
  return runProgram({ start, read, timeoutMs });
}

const configuration = (port, model) => `model = "${model}"
model_provider = "gw"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[model_providers.gw]
name = "Gateway"
base_url = "http://127.0.0.1:${port}/v1"
env_key = "GW_API_KEY"
wire_api = "responses"
request_max_retries = 2
stream_max_retries = 2

[analytics]
enabled = false

[otel]
exporter = "none"
trace_exporter = "none"
metrics_exporter = "none"

[features]
plugins = false
apps = false
`;

export function read({ code, stdout, stderr }) {
  const lines = jsonLines(stdout);
  const texts = lines
    .filter((l) => l.type === 'item.completed' && l.item?.type === 'agent_message')
    .map((l) => l.item.text);
  const failure = lines.filter((l) => l.type === 'turn.failed' || l.type === 'error').pop();
  const ok = code === 0 && lines.some((l) => l.type === 'turn.completed');
  const error = ok
    ? null
    : String(failure?.error?.message || failure?.message || stderr.slice(-300));
  return { ok, text: texts.at(-1) ?? '', error };
}
