#include "wire/request_facts.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/text.h"
#include "json/writer.h"
#include "wire/usage.h"

namespace hw::wire {
namespace {

// Longer names are no names of models; they would only fill logs.
constexpr size_t kModelBytesMax = 512;
constexpr size_t kSessionBytesMax = 1024;
// How deep text may lie in a prompt: message, content, part, tool result, its content, its part.
constexpr int kPromptDepthMax = 12;
// What a token id stands for, in bytes of text.
constexpr size_t kBytesPerTokenId = 4;

// How strongly a field identifies a conversation; a later one replaces a weaker one.
enum class SessionRank : uint8_t { kNone, kSafety, kUser, kConversation, kMetadata, kCacheKey };

// Reads one request. Each member function takes one field's value.
class RequestReader {
 public:
  RequestReader(Dialect dialect, RequestFacts& facts) : dialect_(dialect), facts_(facts) {}

  void field(std::string_view key, const json::Value& value);
  // What was wrong with the fields, or nothing.
  Status verdict() const;

 private:
  void model(const json::Value& value);
  void stream(const json::Value& value);
  void stream_options(const json::Value& value);
  void messages(const json::Value& value);
  void prompts(const json::Value& value);
  void tools(const json::Value& value);
  void text(const json::Value& value, int depth);
  void part(json::Object object, int depth);
  void metadata(json::Object object);
  void session(SessionRank rank, const json::Value& value);
  bool prompt_field(std::string_view key, const json::Value& value);
  bool limit_field(std::string_view key, const json::Value& value);
  bool session_field(std::string_view key, const json::Value& value);
  void complain(std::string message) {
    if (complaint_.empty()) complaint_ = std::move(message);
  }

  Dialect dialect_;
  RequestFacts& facts_;
  bool has_model_ = false;
  SessionRank session_rank_ = SessionRank::kNone;
  std::string complaint_;
};

void RequestReader::field(std::string_view key, const json::Value& value) {
  if (key == "model") {
    model(value);
  } else if (key == "stream") {
    stream(value);
  } else if (key == "stream_options") {
    stream_options(value);
  } else if (!prompt_field(key, value) && !limit_field(key, value)) {
    session_field(key, value);
  }
}

bool RequestReader::prompt_field(std::string_view key, const json::Value& value) {
  if (key == "messages") {
    messages(value);
  } else if (key == "input") {
    dialect_ == Dialect::kOpenaiEmbeddings ? prompts(value) : messages(value);
  } else if (key == "prompt") {
    prompts(value);
  } else if (key == "system" || key == "instructions" || key == "suffix") {
    text(value, 0);
  } else if (key == "tools") {
    tools(value);
  } else {
    return false;
  }
  return true;
}

bool RequestReader::limit_field(std::string_view key, const json::Value& value) {
  if (key == "max_tokens" || key == "max_completion_tokens" || key == "max_output_tokens") {
    // Who gives both means the newer name, which bounds reasoning too.
    const bool weaker = key == "max_tokens" && facts_.max_tokens >= 0;
    if (!weaker) facts_.max_tokens = value.integer().value_or(facts_.max_tokens);
  } else if (key == "n") {
    facts_.n = value.integer().value_or(1);
  } else {
    return false;
  }
  return true;
}

bool RequestReader::session_field(std::string_view key, const json::Value& value) {
  if (key == "prompt_cache_key") {
    session(SessionRank::kCacheKey, value);
  } else if (key == "metadata") {
    metadata(value.object());
  } else if (key == "conversation") {
    const bool object = value.kind() == json::Kind::kObject;
    session(SessionRank::kConversation, object ? value.object().find("id") : value);
  } else if (key == "user") {
    session(SessionRank::kUser, value);
  } else if (key == "safety_identifier") {
    session(SessionRank::kSafety, value);
  } else {
    return false;
  }
  return true;
}

void RequestReader::model(const json::Value& value) {
  const auto name = value.text();
  if (!name) return complain("field 'model' must be a string: the name of the model to use");
  if (has_model_) {
    if (facts_.shadowed_count == kShadowedModelsMax) {
      return complain("field 'model' is there more than three times: give it once");
    }
    facts_.shadowed_models[facts_.shadowed_count++] = facts_.model_value;
  }
  has_model_ = true;
  if (name->empty()) return complain("field 'model' is empty: name the model to use");
  if (name->size() > kModelBytesMax) {
    return complain(
        concat("field 'model' has ", name->size(), " bytes; a name has at most ", kModelBytesMax));
  }
  facts_.model.assign(*name);
  facts_.model_value = value.range();
}

void RequestReader::stream(const json::Value& value) {
  const auto flag = value.boolean();
  if (!flag && !value.is_null()) {
    return complain("field 'stream' must be true or false, without quotes");
  }
  facts_.stream = flag.value_or(false);
}

void RequestReader::stream_options(const json::Value& value) {
  StreamOptions& options = facts_.stream_options;
  options = {};
  options.value = value.range();
  options.kind = value.kind();
  value.object().each([&](std::string_view key, const json::Value& member) {
    options.empty = false;
    if (key != "include_usage") return;
    options.include_usage_value = member.range();
    const auto flag = member.boolean();
    if (member.is_null()) {
      options.include_usage = IncludeUsage::kAbsent;
    } else {
      options.include_usage = flag.value_or(false) ? IncludeUsage::kTrue : IncludeUsage::kFalse;
    }
  });
}

// Chat messages, Anthropic messages or the input items of responses.
void RequestReader::messages(const json::Value& value) {
  if (value.kind() == json::Kind::kString) {
    facts_.messages = 1;
    return text(value, 0);
  }
  facts_.messages = 0;
  value.array().each([&](const json::Value& message) {
    ++facts_.messages;
    text(message, 1);
  });
}

// A prompt or a text to embed: a string, several strings, token ids, or several arrays of them.
void RequestReader::prompts(const json::Value& value) {
  const bool ids = value.array().first().kind() == json::Kind::kNumber;
  if (ids || value.kind() != json::Kind::kArray) {
    facts_.messages = value.is_null() ? 0 : 1;
    return text(value, 0);
  }
  messages(value);
}

void RequestReader::tools(const json::Value& value) {
  facts_.tools = value.array().count();
  facts_.tool_bytes = facts_.tools > 0 ? value.raw().size() : 0;
}

// Counts the text in a part of the prompt, whatever its shape.
void RequestReader::text(const json::Value& value, int depth) {
  switch (value.kind()) {
    case json::Kind::kString:
      facts_.prompt_bytes += std::max<size_t>(value.raw().size(), 2) - 2;  // without the quotes
      return;
    case json::Kind::kNumber:
      facts_.prompt_bytes += kBytesPerTokenId;
      return;
    case json::Kind::kArray:
      if (depth >= kPromptDepthMax) return;
      return value.array().each([&](const json::Value& element) { text(element, depth + 1); });
    case json::Kind::kObject:
      if (depth >= kPromptDepthMax) return;
      return part(value.object(), depth + 1);
    case json::Kind::kNull:
    case json::Kind::kBool:
      return;
  }
}

// A message, an input item, a content part or a tool call.
void RequestReader::part(json::Object object, int depth) {
  object.each([&](std::string_view key, const json::Value& value) {
    if (key == "type") {
      const std::string_view type = value.text_or("");
      if (type == "image_url" || type == "input_image" || type == "image") ++facts_.images;
    } else if (key == "content" || key == "text" || key == "thinking" || key == "arguments" ||
               key == "output" || key == "tool_calls" || key == "function" ||
               key == "reasoning_content") {
      text(value, depth);
    } else if (key == "input") {  // of a tool: an object of any shape, or text
      facts_.prompt_bytes += value.raw().size();
    }
  });
}

void RequestReader::metadata(json::Object object) {
  session(SessionRank::kMetadata, object.find("user_id"));
}

void RequestReader::session(SessionRank rank, const json::Value& value) {
  if (rank < session_rank_ || !value.has_text()) return;
  const std::string_view name = value.text_or("");
  if (name.empty() || name.size() > kSessionBytesMax) return;
  facts_.session.assign(name);
  session_rank_ = rank;
}

Status RequestReader::verdict() const {
  if (!complaint_.empty()) return fail(ErrorCode::kBadRequest, complaint_);
  if (!has_model_) {
    return fail(ErrorCode::kBadRequest, "field 'model' is missing: name the model to use");
  }
  return {};
}

bool has_stream_options(Dialect dialect) {
  switch (dialect) {
    case Dialect::kOpenaiChat:
    case Dialect::kOpenaiCompletions:
      return true;
    case Dialect::kOpenaiResponses:
    case Dialect::kOpenaiEmbeddings:
    case Dialect::kAnthropicMessages:
      return false;
  }
  HW_ASSERT(false);
}

}  // namespace

int64_t estimated_input(Dialect dialect, const RequestFacts& facts) {
  constexpr int64_t kTokensPerImage = 1600;
  constexpr int64_t kTokensPerMessage = 4;
  constexpr int64_t kTokensBeforeAnswer = 3;
  const bool templated =
      dialect != Dialect::kOpenaiCompletions && dialect != Dialect::kOpenaiEmbeddings;
  const auto messages = static_cast<int64_t>(facts.messages);
  return estimated_tokens(facts.prompt_bytes + facts.tool_bytes) +
         static_cast<int64_t>(facts.images) * kTokensPerImage +
         (templated ? messages * kTokensPerMessage + kTokensBeforeAnswer : 0);
}

Status scan_request(Dialect dialect, std::string_view body, RequestFacts& out) {
  out = RequestFacts{};
  if (body.find_first_not_of(" \t\r\n") == body.npos) {
    return fail(ErrorCode::kBadRequest,
                "the request body is empty: send a JSON object that names a 'model'");
  }
  json::Document document(ErrorCode::kBadRequest);
  const auto blame = [](const Error& error) {
    return fail(ErrorCode::kBadRequest,
                concat("the request body is not a JSON object: ", error.message), error.detail);
  };
  if (const Status opened = document.open(body); !opened) return blame(opened.error());
  out.object_begin = document.root().offset();
  RequestReader reader(dialect, out);
  document.root().each(
      [&](std::string_view key, const json::Value& value) { reader.field(key, value); });
  if (const Status finished = document.finish(); !finished) return blame(finished.error());
  return reader.verdict();
}

void RequestEdits::set_model(std::string_view name) {
  if (name == facts_.model && facts_.shadowed_count == 0) return;
  std::string quoted;
  json::append_quoted(quoted, name);
  for (size_t i = 0; i < facts_.shadowed_count; ++i) {
    splice_.replace(facts_.shadowed_models[i], quoted);
  }
  if (name != facts_.model) splice_.replace(facts_.model_value, std::move(quoted));
}

bool RequestEdits::ask_for_usage(Dialect dialect) {
  const StreamOptions& options = facts_.stream_options;
  if (!has_stream_options(dialect) || !facts_.stream ||
      options.include_usage != IncludeUsage::kAbsent) {
    return false;
  }
  if (options.value.length == 0) {
    // Behind the first brace; the body has a model, so a comma follows.
    splice_.insert(facts_.object_begin + 1, R"("stream_options":{"include_usage":true},)");
  } else if (options.kind == json::Kind::kNull) {
    splice_.replace(options.value, R"({"include_usage":true})");
  } else if (options.kind != json::Kind::kObject) {
    return false;
  } else if (options.include_usage_value.length > 0) {
    splice_.replace(options.include_usage_value, "true");
  } else {
    splice_.insert(options.value.offset + 1,
                   options.empty ? R"("include_usage":true)" : R"("include_usage":true,)");
  }
  return true;
}

}  // namespace hw::wire
