// What became of a request on its way up: texts that did not arrive, and fields that the dialect of
// the upstream does not have.

// Shorter strings are names and kinds, which translation may say otherwise.
const TEXT_LENGTH_MIN = 12;
// How a dialect is built, not what is said in it: kinds, ids of items, what the answer shall hold.
const IS_STRUCTURE = /\/(type|id|include\/\d+)$/;
// Proof of thinking of another dialect, as Headway wraps it for a client and unwraps it upwards.
const IS_ENVELOPE = /^hw\./;

const words = (text) => new Set(text.split(/\s+/).filter(Boolean));
const MESSAGES_OF = { chat: 'messages', messages: 'messages', responses: 'input' };

// Per dialect: the fields of a request, of a message or item, of a part of its content, of a tool.
const FIELDS = {
  chat: {
    top: words(`model messages tools tool_choice parallel_tool_calls stream stream_options
      max_tokens max_completion_tokens temperature top_p stop n user metadata reasoning_effort
      response_format seed store logprobs top_logprobs logit_bias prompt_cache_key
      safety_identifier verbosity service_tier frequency_penalty presence_penalty`),
    message: words('role content name tool_calls tool_call_id refusal'),
    part: words('type text image_url input_audio file refusal'),
    tool: words('type function custom'),
  },
  messages: {
    top: words(`model messages system max_tokens metadata stop_sequences stream temperature top_k
      top_p tools tool_choice thinking service_tier context_management output_config container
      mcp_servers`),
    message: words('role content'),
    part: words(`type text cache_control citations source id name input tool_use_id content
      is_error thinking signature data caller title context`),
    tool: words(`name description input_schema cache_control type strict defer_loading
      eager_input_streaming allowed_callers max_uses allowed_domains blocked_domains user_location
      input_examples`),
  },
  responses: {
    top: words(`model input instructions tools tool_choice parallel_tool_calls stream store include
      reasoning text truncation temperature top_p max_output_tokens metadata previous_response_id
      prompt_cache_key safety_identifier service_tier user background stream_options
      client_metadata top_logprobs`),
    message: words(`type role content id status call_id name arguments input output summary
      encrypted_content phase namespace`),
    part: words('type text annotations logprobs image_url file_id file_data filename detail'),
    tool: words(`type name description parameters strict tools format search_context_size
      user_location filters external_web_access search_content_types`),
  },
};

// Paths of fields in `body` that `dialect` does not have: "message.x" for a message's.
export function foreignFields(dialect, body) {
  const known = FIELDS[dialect];
  const found = new Set();
  const look = (object, kind) => {
    for (const name in object) {
      if (!known[kind].has(name)) found.add(kind === 'top' ? name : `${kind}.${name}`);
    }
  };
  look(body, 'top');
  const list = body[MESSAGES_OF[dialect]];
  for (const message of Array.isArray(list) ? list : []) {
    look(message, 'message');
    if (Array.isArray(message.content)) message.content.forEach((part) => look(part, 'part'));
  }
  for (const tool of body.tools ?? []) look(tool, 'tool');
  return [...found];
}

// Every string below `value`, as [path, text].
function* strings(value, path = '') {
  if (typeof value === 'string') yield [path, value];
  else if (value && typeof value === 'object') {
    for (const key in value) yield* strings(value[key], `${path}/${key}`);
  }
}

// The texts of `asked` that are nowhere in `sent`, by their path with `*` for indices:
// "/messages/*/reasoning_content". The model's name may change.
export function lostTexts(asked, sent) {
  const texts = [...strings(sent)].map(([, text]) => text);
  const whole = `${texts.join('\u0001')}${JSON.stringify(sent)}`;
  const lost = new Set();
  for (const [path, text] of strings(asked)) {
    if (text.length < TEXT_LENGTH_MIN || path === '/model') continue;
    if (IS_STRUCTURE.test(path) || IS_ENVELOPE.test(text)) continue;
    const escaped = JSON.stringify(text).slice(1, -1);
    if (whole.includes(text) || whole.includes(escaped) || whole.includes(text.trim())) continue;
    lost.add(path.replace(/\/\d+/g, '/*'));
  }
  return [...lost];
}
