// Which answer a request gets: text, a tool call picked from the tools it offers, or JSON that fits
// the schema it asks for.

export const WORDS = ['Hi', ' — ', 'from', ' the', ' mock', ' 🦀', ' 한글', ' déjà', ' vu', '.'];
export const FULL_TEXT = WORDS.join('');
export const THOUGHT = 'Let me think about it.';
export const SIGNATURE = 'bW9jay1zaWduYXR1cmU=';
export const ENCRYPTED_REASONING = 'bW9jaw==';

const COMMAND = 'echo tool-ran-$((40+2))';

// Arguments for the tools that the known clients really offer.
const KNOWN_ARGUMENTS = {
  Bash: { command: COMMAND, description: 'print a marker' },
  shell: { command: ['bash', '-lc', COMMAND] },
  shell_command: { command: COMMAND },
  exec_command: { cmd: COMMAND },
  local_shell: { command: ['bash', '-lc', COMMAND] },
  execute_command: { command: COMMAND, requires_approval: false },
  run_commands: { commands: [COMMAND] },
  bash: { command: COMMAND },
  get_weather: { city: 'Oslo' },
};
const PREFERRED = [
  'Bash',
  'exec_command',
  'shell_command',
  'shell',
  'local_shell',
  'run_commands',
  'execute_command',
  'bash',
  'get_weather',
];

// {kind: 'text' | 'tool' | 'json', think, words | calls: [{name, args}]}
export function planAnswer(kind, body, scenario) {
  const wantsTool = ['tool', 'tool2', 'thinktool'].includes(scenario);
  const tools = offeredTools(kind, body);
  if (wantsTool && tools.length && !hasToolResult(kind, body)) {
    const tool =
      PREFERRED.map((name) => tools.find((t) => t.name === name)).find(Boolean) || tools[0];
    const args = toolArguments(tool);
    const calls = [{ name: tool.name, args }];
    if (scenario === 'tool2') calls.push({ name: tool.name, args: otherArguments(args) });
    return { kind: 'tool', think: scenario === 'thinktool', calls };
  }
  const schema = wantedSchema(body);
  if (schema)
    return { kind: 'json', think: false, words: pieces(JSON.stringify(fillSchema(schema))) };
  return { kind: 'text', think: scenario === 'think', words: WORDS };
}

export const pieces = (text, length = 12) => text.match(new RegExp(`.{1,${length}}`, 'gs')) || [];

function offeredTools(kind, body) {
  const tools = (body.tools || []).map((t) => {
    if (kind === 'chat') return { name: t.function?.name, schema: t.function?.parameters };
    if (kind === 'messages') return { name: t.name, schema: t.input_schema };
    return { name: t.name, schema: t.parameters, type: t.type };
  });
  return tools.filter((t) => t.name && (!t.type || t.type === 'function'));
}

function hasToolResult(kind, body) {
  if (kind === 'responses') return JSON.stringify(body.input ?? '').includes('_call_output');
  const messages = body.messages || [];
  if (kind === 'chat') return messages.some((m) => m.role === 'tool');
  return messages.some(
    (m) => Array.isArray(m.content) && m.content.some((c) => c.type === 'tool_result'),
  );
}

function toolArguments({ name, schema }) {
  const properties = schema?.properties || {};
  const required = schema?.required || [];
  const args = {};
  for (const [key, value] of Object.entries(KNOWN_ARGUMENTS[name] || {})) {
    if (!Object.keys(properties).length || properties[key]) args[key] = value;
  }
  for (const key of required) if (!(key in args)) args[key] = fill(properties[key], key);
  return args;
}

// The second of two parallel calls prints another marker, so that swapped results are noticed.
const otherArguments = (args) =>
  JSON.parse(JSON.stringify(args).replace('40+2', '41+2').replace('Oslo', 'Rome'));

function wantedSchema(body) {
  const format =
    body.output_config?.format || body.output_format || body.response_format || body.text?.format;
  return format?.schema || format?.json_schema?.schema;
}

function fillSchema(schema) {
  const keys = schema.required || Object.keys(schema.properties || {});
  return Object.fromEntries(keys.map((key) => [key, fill(schema.properties?.[key], key)]));
}

function fill(schema = {}, key = '') {
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (/comm|cmd/.test(key)) return type === 'array' ? [COMMAND] : COMMAND;
  if (schema.enum) return schema.enum[0];
  const samples = { array: [], boolean: false, integer: 1, number: 1, object: {} };
  return type in samples ? samples[type] : 'x';
}
