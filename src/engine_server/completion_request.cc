#include "engine_server/completion_request.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "json/scan.h"

namespace hw::engine_server {
namespace {

using json::Kind;
using json::Value;

// OpenAI allows 4; each costs a search in every token's text.
constexpr size_t kStopsMax = 16;
constexpr size_t kStopBytesMax = 256;
constexpr size_t kMessagesMax = 4096;
constexpr int64_t kOutputTokensMax = 1 << 30;  // as a wish; the instance cuts it
constexpr int64_t kPriorityMax = 1'000'000;
constexpr size_t kCacheSaltBytesMax = 256;

tl::unexpected<Error> wrong(std::string_view field, std::string_view expected) {
  return fail(ErrorCode::kBadRequest, concat(field, ": ", expected));
}

Status read_bool(const Value& value, std::string_view field, bool& out) {
  if (value.is_null()) return {};
  const std::optional<bool> given = value.boolean();
  if (!given) return wrong(field, "expected true or false");
  out = *given;
  return {};
}

Status read_float(const Value& value, std::string_view field, double low, double high, float& out) {
  if (value.is_null()) return {};
  const std::optional<double> given = value.number();
  if (!given || *given < low || *given > high) {
    return wrong(field, concat("expected a number from ", static_cast<int>(low), " to ",
                               static_cast<int>(high)));
  }
  out = static_cast<float>(*given);
  return {};
}

Status read_integer(const Value& value, std::string_view field, int64_t low, int64_t high,
                    int64_t& out) {
  if (value.is_null()) return {};
  const std::optional<int64_t> given = value.integer();
  if (!given || *given < low) return wrong(field, concat("expected an integer of at least ", low));
  out = std::min(*given, high);
  return {};
}

// --- what the text is made from

// A content: a string, null, or a list of text parts, which are joined.
Status read_content(const Value& value, const std::string& field, std::string& out) {
  if (value.is_null()) return {};
  if (const auto text = value.text()) {
    out = *text;
    return {};
  }
  if (value.kind() != Kind::kArray) return wrong(field, "expected a string or a list of parts");
  json::Array parts = value.array();
  Value part;
  for (int i = 0; parts.next(part); ++i) {
    const json::Object members = part.object();
    const std::string_view type = members.find("type").text_or("");
    const auto text = members.find("text").text();
    const bool is_text = type == "text" || type == "input_text" || type == "output_text";
    if (!is_text || !text) {
      return wrong(concat(field, "[", i, "]"), "this model reads text parts only");
    }
    out.append(*text);
  }
  return {};
}

// The roles of chat templates. A role becomes part of the template's own text, in which special
// tokens are read, so no other passes.
std::string_view template_role(std::string_view role) {
  if (role == "developer") return "system";
  if (role == "function") return "tool";
  for (const std::string_view known : {"system", "user", "assistant", "tool"}) {
    if (role == known) return role;
  }
  return {};
}

Status read_messages(const Value& value, CompletionRequest& out) {
  if (value.kind() != Kind::kArray) return wrong("messages", "expected a list of messages");
  out.messages.clear();
  json::Array messages = value.array();
  Value each;
  while (messages.next(each)) {
    if (out.messages.size() == kMessagesMax) return wrong("messages", "more than 4096");
    const std::string field = concat("messages[", out.messages.size(), "]");
    if (each.kind() != Kind::kObject) return wrong(field, "expected an object");
    const json::Object members = each.object();
    engine::ChatMessage message;
    message.role = template_role(members.find("role").text_or(""));
    if (message.role.empty()) {
      return wrong(field + ".role", "expected system, developer, user, assistant or tool");
    }
    const Status content =
        read_content(members.find("content"), field + ".content", message.content);
    if (!content) return content;
    out.messages.push_back(std::move(message));
  }
  return {};
}

Status read_prompt(const Value& value, CompletionRequest& out) {
  if (const auto text = value.text()) {
    out.prompt_kind = PromptKind::kText;
    out.prompt = *text;
    return {};
  }
  if (value.kind() != Kind::kArray) {
    return wrong("prompt", "expected a string or a list of token ids");
  }
  json::Array elements = value.array();
  if (const auto first = value.array().first().text()) {
    if (elements.count() != 1) return wrong("prompt", "this instance takes one prompt a request");
    out.prompt_kind = PromptKind::kText;
    out.prompt = *first;
    return {};
  }
  out.prompt_kind = PromptKind::kTokens;
  out.prompt_tokens.clear();
  Value element;
  while (elements.next(element)) {
    const auto token = element.integer();
    if (!token) return wrong("prompt", "expected one string, or token ids alone");
    out.prompt_tokens.push_back(*token);
  }
  return {};
}

// --- how it is generated

Status add_stop(const Value& value, std::vector<std::string>& out) {
  const auto text = value.text();
  if (!text || text->size() > kStopBytesMax) {
    return wrong("stop", "expected strings of at most 256 bytes");
  }
  if (!text->empty()) out.emplace_back(*text);
  return {};
}

Status read_stop(const Value& value, CompletionRequest& out) {
  out.stop.clear();
  if (value.is_null()) return {};
  if (value.kind() != Kind::kArray) return add_stop(value, out.stop);
  json::Array stops = value.array();
  if (stops.count() > kStopsMax) return wrong("stop", "expected at most 16 strings");
  Value each;
  while (stops.next(each)) {
    if (Status added = add_stop(each, out.stop); !added) return added;
  }
  return {};
}

Status read_temperature(const Value& value, CompletionRequest& out) {
  return read_float(value, "temperature", 0, 2, out.sampling.temperature);
}

Status read_top_p(const Value& value, CompletionRequest& out) {
  if (Status read = read_float(value, "top_p", 0, 1, out.sampling.top_p); !read) return read;
  if (out.sampling.top_p <= 0) return wrong("top_p", "expected a number above 0, at most 1");
  return {};
}

Status read_top_k(const Value& value, CompletionRequest& out) {
  int64_t top_k = 0;
  if (Status read = read_integer(value, "top_k", -1, 1 << 30, top_k); !read) return read;
  out.sampling.top_k = static_cast<int>(std::max<int64_t>(top_k, 0));  // -1: all, as vLLM
  return {};
}

Status read_min_p(const Value& value, CompletionRequest& out) {
  return read_float(value, "min_p", 0, 1, out.sampling.min_p);
}

Status read_repetition_penalty(const Value& value, CompletionRequest& out) {
  constexpr double kLeast = 0.01;  // 0 would divide by nothing
  return read_float(value, "repetition_penalty", kLeast, 2, out.sampling.repetition_penalty);
}

Status read_presence_penalty(const Value& value, CompletionRequest& out) {
  return read_float(value, "presence_penalty", -2, 2, out.sampling.presence_penalty);
}

Status read_frequency_penalty(const Value& value, CompletionRequest& out) {
  return read_float(value, "frequency_penalty", -2, 2, out.sampling.frequency_penalty);
}

Status read_seed(const Value& value, CompletionRequest& out) {
  if (value.is_null()) return {};
  const std::optional<int64_t> seed = value.integer();
  if (!seed) return wrong("seed", "expected an integer");
  out.sampling.seed = static_cast<uint64_t>(*seed);
  out.seeded = true;
  return {};
}

Status read_max_tokens(const Value& value, CompletionRequest& out) {
  return read_integer(value, "max_tokens", 1, kOutputTokensMax, out.output_tokens_max);
}

Status read_max_completion_tokens(const Value& value, CompletionRequest& out) {
  return read_integer(value, "max_completion_tokens", 1, kOutputTokensMax, out.output_tokens_max);
}

Status read_ignore_eos(const Value& value, CompletionRequest& out) {
  return read_bool(value, "ignore_eos", out.ignore_end);
}

// --- how it is scheduled

Status read_priority(const Value& value, CompletionRequest& out) {
  if (value.is_null()) return {};
  const std::optional<int64_t> priority = value.integer();
  if (!priority || *priority < -kPriorityMax || *priority > kPriorityMax) {
    return wrong("priority", "expected an integer from -1000000 to 1000000");
  }
  out.priority = *priority;
  return {};
}

Status read_cache_salt(const Value& value, CompletionRequest& out) {
  if (value.is_null()) return {};
  const auto salt = value.text();
  if (!salt || salt->empty() || salt->size() > kCacheSaltBytesMax) {
    return wrong("cache_salt", "expected a string of 1 to 256 bytes");
  }
  out.cache_salt = *salt;
  return {};
}

// --- how it is answered

Status read_model(const Value& value, CompletionRequest& out) {
  const auto name = value.text();
  if (!name || name->empty()) return wrong("model", "expected the name of a model");
  out.model = *name;
  return {};
}

Status read_stream(const Value& value, CompletionRequest& out) {
  return read_bool(value, "stream", out.stream);
}

Status read_stream_options(const Value& value, CompletionRequest& out) {
  if (value.is_null()) return {};
  if (value.kind() != Kind::kObject) return wrong("stream_options", "expected an object");
  return read_bool(value.object().find("include_usage"), "stream_options.include_usage",
                   out.include_usage);
}

// --- what this instance cannot do: only the values that ask for nothing pass

Status read_only_one(const Value& value, std::string_view field) {
  if (value.is_null() || value.integer() == 1) return {};
  return wrong(field, "this instance gives one answer a request");
}

Status read_n(const Value& value, CompletionRequest&) {
  return read_only_one(value, "n");
}

Status read_best_of(const Value& value, CompletionRequest&) {
  return read_only_one(value, "best_of");
}

Status read_logprobs(const Value& value, CompletionRequest& out) {
  // Chat has a boolean here; completions a number, where even 0 asks for something.
  if (value.is_null()) return {};
  if (out.dialect == Dialect::kOpenaiChat && value.boolean() == false) return {};
  return wrong("logprobs", "this instance tells no log-probabilities");
}

Status read_echo(const Value& value, CompletionRequest&) {
  if (value.is_null() || value.boolean() == false) return {};
  return wrong("echo", "this instance does not repeat the prompt");
}

Status read_suffix(const Value& value, CompletionRequest&) {
  if (value.is_null() || value.text() == "") return {};
  return wrong("suffix", "this instance does not insert");
}

Status read_logit_bias(const Value& value, CompletionRequest& out) {
  constexpr size_t kBiasesMax = 1024;
  constexpr double kBiasMax = 100;
  if (value.is_null()) return {};
  bool good = value.kind() == Kind::kObject;
  value.object().each([&](std::string_view key, const Value& bias) {
    engine::Token token = 0;
    const std::optional<double> number = bias.number();
    good = good && parse_number(key, token) && token >= 0 && number && *number >= -kBiasMax &&
           *number <= kBiasMax && out.sampling.bias.size() < kBiasesMax;
    if (good) out.sampling.bias.emplace_back(token, static_cast<float>(*number));
  });
  if (good) return {};
  return wrong("logit_bias", "expected up to 1024 token ids, each with a bias from -100 to 100");
}

Status read_response_format(const Value& value, CompletionRequest&) {
  if (value.is_null() || value.object().find("type").text_or("") == "text") return {};
  return wrong("response_format", "this instance writes free text only");
}

Status read_tool_choice(const Value& value, CompletionRequest&) {
  const std::string_view choice = value.text_or("");
  if (value.is_null() || choice == "auto" || choice == "none") return {};
  return wrong("tool_choice", "this model calls no tools; expected auto or none");
}

// --- the table of fields

enum class Where : uint8_t { kBoth, kChat, kCompletions };

struct Field {
  std::string_view name;
  Where where;
  Status (*read)(const Value&, CompletionRequest&);
};

constexpr std::array kFields = {
    Field{"model", Where::kBoth, read_model},
    Field{"messages", Where::kChat, read_messages},
    Field{"prompt", Where::kCompletions, read_prompt},
    Field{"stream", Where::kBoth, read_stream},
    Field{"stream_options", Where::kBoth, read_stream_options},
    Field{"max_tokens", Where::kBoth, read_max_tokens},
    Field{"max_completion_tokens", Where::kChat, read_max_completion_tokens},
    Field{"temperature", Where::kBoth, read_temperature},
    Field{"top_p", Where::kBoth, read_top_p},
    Field{"top_k", Where::kBoth, read_top_k},
    Field{"min_p", Where::kBoth, read_min_p},
    Field{"repetition_penalty", Where::kBoth, read_repetition_penalty},
    Field{"presence_penalty", Where::kBoth, read_presence_penalty},
    Field{"frequency_penalty", Where::kBoth, read_frequency_penalty},
    Field{"seed", Where::kBoth, read_seed},
    Field{"stop", Where::kBoth, read_stop},
    Field{"ignore_eos", Where::kBoth, read_ignore_eos},
    Field{"priority", Where::kBoth, read_priority},
    Field{"cache_salt", Where::kBoth, read_cache_salt},
    Field{"n", Where::kBoth, read_n},
    Field{"best_of", Where::kCompletions, read_best_of},
    Field{"logprobs", Where::kBoth, read_logprobs},
    Field{"echo", Where::kCompletions, read_echo},
    Field{"suffix", Where::kCompletions, read_suffix},
    Field{"logit_bias", Where::kBoth, read_logit_bias},
    Field{"response_format", Where::kBoth, read_response_format},
    Field{"tool_choice", Where::kChat, read_tool_choice},
};

const Field* find_field(std::string_view name, Dialect dialect) {
  const Where here = dialect == Dialect::kOpenaiChat ? Where::kChat : Where::kCompletions;
  for (const Field& field : kFields) {
    if (field.name == name && (field.where == Where::kBoth || field.where == here)) return &field;
  }
  return nullptr;
}

Status check_prompt(const CompletionRequest& request) {
  if (request.dialect == Dialect::kOpenaiChat) {
    if (request.messages.empty()) return wrong("messages", "expected at least one message");
  } else if (request.prompt.empty() && request.prompt_tokens.empty()) {
    return wrong("prompt", "is missing or empty");
  }
  return {};
}

// Reads the fields that are there; the prompt must be.
Result<CompletionRequest> read_fields(Dialect dialect, json::Document& document) {
  CompletionRequest request;
  request.dialect = dialect;
  json::Object root = document.root();
  std::string_view name;
  Value value;
  while (root.next(name, value)) {
    const Field* field = find_field(name, dialect);
    if (field == nullptr) continue;
    Status read = field->read(value, request);
    if (!document.ok()) break;  // the syntax is at fault, not the value
    if (!read) return fail(std::move(read.error()));
  }
  if (Status whole = document.finish(); !whole) return fail(std::move(whole.error()));
  if (Status complete = check_prompt(request); !complete) {
    return fail(std::move(complete.error()));
  }
  return request;
}

}  // namespace

size_t CompletionRequest::text_bytes() const {
  size_t bytes = prompt.size();
  for (const engine::ChatMessage& message : messages) bytes += message.content.size();
  return bytes;
}

Result<CompletionRequest> read_completion_request(Dialect dialect, std::string_view body) {
  json::Document document(ErrorCode::kBadRequest);
  if (Status opened = document.open(body); !opened) return fail(std::move(opened.error()));
  Result<CompletionRequest> request = read_fields(dialect, document);
  if (request && request->model.empty()) return wrong("model", "is missing");
  return request;
}

Result<CompletionRequest> read_tokenize_request(std::string_view body) {
  json::Document document(ErrorCode::kBadRequest);
  if (Status opened = document.open(body); !opened) return fail(std::move(opened.error()));
  const bool chat = !document.root().find("messages").is_null();
  return read_fields(chat ? Dialect::kOpenaiChat : Dialect::kOpenaiCompletions, document);
}

}  // namespace hw::engine_server
