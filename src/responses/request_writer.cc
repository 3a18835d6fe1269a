// Writes requests of responses (OpenAI's POST /v1/responses).
#include <algorithm>
#include <string>
#include <string_view>

#include "base/text.h"
#include "json/scan.h"
#include "json/writer.h"
#include "neutral/digest.h"
#include "responses/dialect.h"
#include "responses/turn_writer.h"

namespace hw::translate {
namespace {

constexpr std::string_view kNoParameters = R"({"type":"object","properties":{}})";
// A longer `user` is refused.
constexpr size_t kUserBytesMax = 64;
// Between the budgets that low, medium and high stand for (1,024, 4,096 and 16,384 tokens).
constexpr int64_t kMediumFrom = 2560, kHighFrom = 10240;

bool has_members(Raw raw) {
  json::Document document;
  return !raw.empty() && document.open(raw) && !document.root().empty();
}

bool is_zero(Raw number) {
  return number.find_first_of("123456789") == Raw::npos;
}

class ResponsesWriter {
 public:
  ResponsesWriter(const Request& request, const Target& target, Fidelity& fidelity,
                  std::string& out)
      : request_(request), target_(target), fidelity_(fidelity), out_(out), writer_(out) {}

  void write();

 private:
  void write_input();
  void write_tools();
  void write_tool(const Tool& tool);
  void meet_tool(const Tool& tool);
  void write_tool_choice();
  void write_allowed();
  void write_named(const Text& name_space, const Text& name, ToolKind kind);
  void write_reasoning();
  std::string effort();
  bool shows_thinking() const;
  void write_text();
  void write_format();
  void write_include();
  void write_sampling();
  void write_user();
  void write_identifiers();

  // Whether a tool of that name is declared to the upstream.
  bool declares(const Text& name_space, const Text& name) const;
  bool asks_to_think() const {
    return request_.thinking.kind == Thinking::Kind::kOn ||
           request_.thinking.kind == Thinking::Kind::kAdaptive || !request_.thinking.effort.empty();
  }
  void field(std::string_view name, const Text& text);
  // Writes a field that the dialect has not, where the channel takes it; meets its rule otherwise.
  void foreign_field(std::string_view name, Raw value, Feature feature);

  const Request& request_;
  const Target& target_;
  Fidelity& fidelity_;
  std::string& out_;
  json::Writer writer_;
  bool gives_reasoning_ = false;
};

void ResponsesWriter::write() {
  if (request_.n > 1) fidelity_.meet(Feature::kChoices);
  writer_.begin_object();
  writer_.field("model", target_.model);
  if (request_.stream) writer_.field("stream", true);
  write_input();
  write_tools();
  write_reasoning();
  write_text();
  write_include();
  if (request_.max_tokens) writer_.field("max_output_tokens", *request_.max_tokens);
  write_sampling();
  write_user();
  write_identifiers();
  // The others keep nothing unless they are asked to; this one does unless it is told not to.
  writer_.field("store", request_.store.value_or(false));
  write_other_fields(request_, target_, fidelity_, writer_);
  writer_.end_object();
}

void ResponsesWriter::field(std::string_view name, const Text& text) {
  writer_.key(name);
  writer_.raw({});
  text.append_json(out_);
}

void ResponsesWriter::write_input() {
  writer_.key("input");
  writer_.raw("[");
  ResponsesTurnWriter turns(request_, fidelity_, out_);
  turns.write();
  out_ += ']';
  gives_reasoning_ = turns.gives_reasoning();
}

void ResponsesWriter::write_tools() {
  bool any = false;
  for (const Tool& tool : request_.tools) {
    meet_tool(tool);
    if (tool.kind == Tool::Kind::kServer) continue;
    if (!any) {
      writer_.key("tools");
      writer_.begin_array();
    }
    any = true;
    write_tool(tool);
  }
  if (!any) return;
  writer_.end_array();
  write_tool_choice();
  if (request_.tool_choice.parallel)
    writer_.field("parallel_tool_calls", *request_.tool_choice.parallel);
}

void ResponsesWriter::meet_tool(const Tool& tool) {
  if (!tool.cache_control.empty()) fidelity_.meet(Feature::kCacheControl);
  if (tool.kind == Tool::Kind::kServer) {
    fidelity_.meet(Feature::kServerTool, tool.type);
    return;
  }
  if (tool.deferred) fidelity_.meet(Feature::kDeferredTool);
  for (const std::string_view member : tool.others)
    fidelity_.meet(Feature::kToolMember, concat("tools[].", member));
}

void ResponsesWriter::write_tool(const Tool& tool) {
  const bool custom = tool.kind == Tool::Kind::kCustom;
  writer_.begin_object();
  writer_.field("type", custom ? "custom" : "function");
  writer_.field("name", flat_name(tool.name_space, tool.name));
  if (!tool.description.empty()) field("description", tool.description);
  if (custom) {
    if (!tool.format.empty() && fidelity_.says(Feature::kCustomToolFormat))
      writer_.field_raw("format", tool.format);
  } else {
    writer_.field_raw("parameters", tool.schema.empty() ? kNoParameters : tool.schema);
    writer_.field("strict", tool.strict);  // here it is on unless it is said
  }
  writer_.end_object();
}

bool ResponsesWriter::declares(const Text& name_space, const Text& name) const {
  const std::string flat = flat_name(name_space, name);
  return std::any_of(request_.tools.begin(), request_.tools.end(), [&](const Tool& tool) {
    return tool.kind != Tool::Kind::kServer && flat_name(tool.name_space, tool.name) == flat;
  });
}

void ResponsesWriter::write_tool_choice() {
  const ToolChoice& choice = request_.tool_choice;
  if (!choice.allowed.empty() && fidelity_.says(Feature::kAllowedTools)) return write_allowed();
  switch (choice.kind) {
    case ToolChoice::Kind::kAbsent:
      return;
    case ToolChoice::Kind::kAuto:
      return writer_.field("tool_choice", "auto");
    case ToolChoice::Kind::kNone:
      return writer_.field("tool_choice", "none");
    case ToolChoice::Kind::kRequired:
      return writer_.field("tool_choice", "required");
    case ToolChoice::Kind::kNamed:
      if (!declares(choice.name_space, choice.name)) {
        fidelity_.mark("tool_choice");  // its tool was the provider's own
        return;
      }
      writer_.key("tool_choice");
      return write_named(choice.name_space, choice.name, choice.tool_kind);
  }
}

void ResponsesWriter::write_named(const Text& name_space, const Text& name, ToolKind kind) {
  writer_.begin_object();
  writer_.field("type", kind == ToolKind::kCustom ? "custom" : "function");
  writer_.field("name", flat_name(name_space, name));
  writer_.end_object();
}

void ResponsesWriter::write_allowed() {
  const ToolChoice& choice = request_.tool_choice;
  writer_.key("tool_choice");
  writer_.begin_object();
  writer_.field("type", "allowed_tools");
  writer_.field("mode", choice.kind == ToolChoice::Kind::kRequired ? "required" : "auto");
  writer_.key("tools");
  writer_.begin_array();
  for (const Text& name : choice.allowed) {
    const auto tool =
        std::find_if(request_.tools.begin(), request_.tools.end(), [&](const Tool& one) {
          return one.kind != Tool::Kind::kServer && one.name.is(name.str());
        });
    if (tool == request_.tools.end()) continue;
    const bool custom = tool->kind == Tool::Kind::kCustom;
    write_named(tool->name_space, tool->name, custom ? ToolKind::kCustom : ToolKind::kFunction);
  }
  writer_.end_array();
  writer_.end_object();
}

// The effort to ask for; empty: what the model does by itself.
std::string ResponsesWriter::effort() {
  const Thinking& thinking = request_.thinking;
  if (thinking.kind == Thinking::Kind::kOff) {
    if (request_.dialect == Dialect::kOpenaiChat) return "none";
    fidelity_.lose(Feature::kThinking);  // most models know no way not to think
    return {};
  }
  if (thinking.effort.is("max")) return "high";
  if (!thinking.effort.empty()) return thinking.effort.str();
  if (!thinking.budget) return {};
  if (*thinking.budget < kMediumFrom) return "low";
  return *thinking.budget < kHighFrom ? "medium" : "high";
}

// A client of messages that has thinking on sees it, unless it said otherwise.
bool ResponsesWriter::shows_thinking() const {
  const Thinking& thinking = request_.thinking;
  const bool on =
      thinking.kind == Thinking::Kind::kOn || thinking.kind == Thinking::Kind::kAdaptive;
  return on && request_.dialect == Dialect::kAnthropicMessages && !thinking.display.is("omitted");
}

void ResponsesWriter::write_reasoning() {
  const Thinking& thinking = request_.thinking;
  const bool honoured = thinking.display.is("omitted") || thinking.display.is("summarized");
  if (!thinking.display.empty() && !honoured) fidelity_.meet(Feature::kThinkingDisplay);
  if (thinking.kind == Thinking::Kind::kAbsent && thinking.effort.empty()) return;
  if (!fidelity_.says(Feature::kThinking)) return;
  const std::string asked = effort();
  const bool shown = shows_thinking();
  if (asked.empty() && !shown) return;
  writer_.key("reasoning");
  writer_.begin_object();
  if (!asked.empty()) writer_.field("effort", asked);
  if (shown) writer_.field("summary", "auto");
  writer_.end_object();
}

// Asked for only where there is thinking: models that do not think refuse it.
void ResponsesWriter::write_include() {
  const bool encrypted = asks_to_think() || gives_reasoning_;
  if (!encrypted && !request_.logprobs) return;
  writer_.key("include");
  writer_.begin_array();
  if (encrypted) writer_.value("reasoning.encrypted_content");
  if (request_.logprobs) writer_.value("message.output_text.logprobs");
  writer_.end_array();
}

void ResponsesWriter::write_text() {
  const bool format = request_.format.kind == Format::Kind::kJsonObject ||
                      request_.format.kind == Format::Kind::kJsonSchema;
  const bool verbosity = !request_.verbosity.empty();
  if (!format && !verbosity) return;
  writer_.key("text");
  writer_.begin_object();
  if (format) write_format();
  if (verbosity) field("verbosity", request_.verbosity);
  writer_.end_object();
}

// Here a schema needs a name.
void ResponsesWriter::write_format() {
  const Format& format = request_.format;
  writer_.key("format");
  writer_.begin_object();
  if (format.kind == Format::Kind::kJsonObject) {
    writer_.field("type", "json_object");
  } else {
    writer_.field("type", "json_schema");
    field("name", format.name.empty() ? Text::plain("answer") : format.name);
    if (!format.description.empty()) field("description", format.description);
    writer_.field_raw("schema", format.schema.empty() ? R"({"type":"object"})" : format.schema);
    if (format.strict) writer_.field("strict", *format.strict);
  }
  writer_.end_object();
}

void ResponsesWriter::foreign_field(std::string_view name, Raw value, Feature feature) {
  const auto& extra = target_.extra_fields;
  if (std::find(extra.begin(), extra.end(), name) != extra.end()) {
    writer_.field_raw(name, value);
  } else {
    fidelity_.meet(feature, feature == Feature::kPenalties ? name : std::string_view());
  }
}

void ResponsesWriter::write_sampling() {
  if (!request_.temperature.empty()) writer_.field_raw("temperature", request_.temperature);
  if (!request_.top_p.empty()) writer_.field_raw("top_p", request_.top_p);
  if (request_.logprobs && !request_.top_logprobs.empty())
    writer_.field_raw("top_logprobs", request_.top_logprobs);
  if (!request_.top_k.empty()) foreign_field("top_k", request_.top_k, Feature::kTopK);
  if (!request_.seed.empty()) foreign_field("seed", request_.seed, Feature::kSeed);
  const Raw frequency = request_.frequency_penalty, presence = request_.presence_penalty;
  if (!frequency.empty() && !is_zero(frequency))
    foreign_field("frequency_penalty", frequency, Feature::kPenalties);
  if (!presence.empty() && !is_zero(presence))
    foreign_field("presence_penalty", presence, Feature::kPenalties);
  if (has_members(request_.logit_bias))
    foreign_field("logit_bias", request_.logit_bias, Feature::kLogitBias);
  if (request_.stop.empty()) return;
  std::string stop;
  for (const Text& sequence : request_.stop) {
    stop += stop.empty() ? '[' : ',';
    sequence.append_json(stop);
  }
  foreign_field("stop", stop + "]", Feature::kStopSequences);
}

// Claude Code puts its whole session there; a digest of it keeps what a cache needs.
void ResponsesWriter::write_user() {
  const Text& key = request_.prompt_cache_key;
  if (!key.empty()) field("prompt_cache_key", key);
  if (request_.user.empty() || !fidelity_.says(Feature::kUser)) return;
  const std::string user = request_.user.str();
  if (user.size() <= kUserBytesMax) return writer_.field("user", user);
  if (!key.empty()) return fidelity_.lose(Feature::kUser);
  std::string digest;
  append_digest(digest, user);
  writer_.field("prompt_cache_key", digest);
}

void ResponsesWriter::write_identifiers() {
  if (!request_.safety_identifier.empty()) field("safety_identifier", request_.safety_identifier);
  if (has_members(request_.metadata)) writer_.field_raw("metadata", request_.metadata);
  const Text& tier = request_.service_tier;
  if (tier.empty() || tier.is("auto")) return;
  if (request_.dialect == Dialect::kAnthropicMessages) {
    fidelity_.lose(Feature::kServiceTier);
  } else {
    field("service_tier", tier);
  }
}

}  // namespace

void write_responses_request(const Request& request, const Target& target, Fidelity& fidelity,
                             std::string& out) {
  ResponsesWriter(request, target, fidelity, out).write();
}

}  // namespace hw::translate
