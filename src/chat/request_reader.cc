#include <string>

#include "base/text.h"
#include "chat/dialect.h"
#include "chat/message_reader.h"
#include "chat/tool_reader.h"

namespace hw::translate {
namespace {

class ChatRequestReader {
 public:
  explicit ChatRequestReader(Request& out) : out_(out) {}

  Status read(json::Object root);

 private:
  using Read = void (ChatRequestReader::*)(const json::Value& value);
  struct Field {
    std::string_view name;
    Read read;
  };
  static const Field kFields[];

  void read_field(std::string_view name, const json::Value& value);
  void wrong(std::string_view field, std::string_view expected);
  // The value where it is of the kind that `field` must have.
  bool flag(std::string_view field, const json::Value& value);
  Raw number(std::string_view field, const json::Value& value);
  Raw number_but_zero(std::string_view field, const json::Value& value);
  std::optional<int64_t> count(std::string_view field, const json::Value& value);

  void read_model(const json::Value& value) { out_.model = Text::of(value); }
  void read_messages(const json::Value& value) { take(read_chat_messages(value, out_)); }
  void read_stream(const json::Value& value) { out_.stream = flag("stream", value); }
  void read_stream_options(const json::Value& value);
  void read_tools(const json::Value& value) { take(read_chat_tools(value, out_)); }
  void read_functions(const json::Value& value) { take(read_chat_functions(value, out_)); }
  void read_tool_choice(const json::Value& value) { take(read_chat_tool_choice(value, out_)); }
  void read_parallel(const json::Value& value);
  void read_max_tokens(const json::Value& value);
  void read_max_completion_tokens(const json::Value& value);
  void read_stop(const json::Value& value);
  void read_temperature(const json::Value& value) {
    out_.temperature = number("temperature", value);
  }
  void read_top_p(const json::Value& value) { out_.top_p = number("top_p", value); }
  void read_top_k(const json::Value& value) { out_.top_k = number("top_k", value); }
  void read_seed(const json::Value& value) { out_.seed = number("seed", value); }
  void read_frequency_penalty(const json::Value& value);
  void read_presence_penalty(const json::Value& value);
  void read_logit_bias(const json::Value& value);
  void read_logprobs(const json::Value& value) { out_.logprobs = flag("logprobs", value); }
  void read_top_logprobs(const json::Value& value);
  void read_n(const json::Value& value);
  void read_response_format(const json::Value& value);
  void read_json_schema(const json::Value& value);
  void read_reasoning_effort(const json::Value& value);
  void read_reasoning(const json::Value& value);
  void read_thinking(const json::Value& value);
  void read_verbosity(const json::Value& value) { out_.verbosity = Text::of(value); }
  void read_user(const json::Value& value) { out_.user = Text::of(value); }
  void read_safety_identifier(const json::Value& value) {
    out_.safety_identifier = Text::of(value);
  }
  void read_metadata(const json::Value& value);
  void read_prompt_cache_key(const json::Value& value) { out_.prompt_cache_key = Text::of(value); }
  void read_service_tier(const json::Value& value);
  void read_store(const json::Value& value) { out_.store = flag("store", value); }
  void read_modalities(const json::Value& value);
  void read_audio(const json::Value& value) { other("audio", value, Feature::kAudioOutput); }
  void read_web_search(const json::Value& value) {
    other("web_search_options", value, Feature::kServerTool);
  }

  void take(const Status& status) {
    if (!status && status_) status_ = status;
  }
  void other(std::string_view name, const json::Value& value, Feature feature) {
    out_.others.push_back({name, value.raw(), feature});
  }

  Request& out_;
  Status status_;
};

const ChatRequestReader::Field ChatRequestReader::kFields[] = {
    {"model", &ChatRequestReader::read_model},
    {"messages", &ChatRequestReader::read_messages},
    {"stream", &ChatRequestReader::read_stream},
    {"stream_options", &ChatRequestReader::read_stream_options},
    {"tools", &ChatRequestReader::read_tools},
    {"tool_choice", &ChatRequestReader::read_tool_choice},
    {"parallel_tool_calls", &ChatRequestReader::read_parallel},
    {"functions", &ChatRequestReader::read_functions},
    {"function_call", &ChatRequestReader::read_tool_choice},
    {"max_tokens", &ChatRequestReader::read_max_tokens},
    {"max_completion_tokens", &ChatRequestReader::read_max_completion_tokens},
    {"stop", &ChatRequestReader::read_stop},
    {"temperature", &ChatRequestReader::read_temperature},
    {"top_p", &ChatRequestReader::read_top_p},
    {"top_k", &ChatRequestReader::read_top_k},
    {"seed", &ChatRequestReader::read_seed},
    {"frequency_penalty", &ChatRequestReader::read_frequency_penalty},
    {"presence_penalty", &ChatRequestReader::read_presence_penalty},
    {"logit_bias", &ChatRequestReader::read_logit_bias},
    {"logprobs", &ChatRequestReader::read_logprobs},
    {"top_logprobs", &ChatRequestReader::read_top_logprobs},
    {"n", &ChatRequestReader::read_n},
    {"response_format", &ChatRequestReader::read_response_format},
    {"reasoning_effort", &ChatRequestReader::read_reasoning_effort},
    {"reasoning", &ChatRequestReader::read_reasoning},
    {"thinking", &ChatRequestReader::read_thinking},
    {"verbosity", &ChatRequestReader::read_verbosity},
    {"user", &ChatRequestReader::read_user},
    {"safety_identifier", &ChatRequestReader::read_safety_identifier},
    {"metadata", &ChatRequestReader::read_metadata},
    {"prompt_cache_key", &ChatRequestReader::read_prompt_cache_key},
    {"service_tier", &ChatRequestReader::read_service_tier},
    {"store", &ChatRequestReader::read_store},
    {"modalities", &ChatRequestReader::read_modalities},
    {"audio", &ChatRequestReader::read_audio},
    {"web_search_options", &ChatRequestReader::read_web_search},
};

Status ChatRequestReader::read(json::Object root) {
  bool messages = false;
  root.each([&](std::string_view key, const json::Value& value) {
    messages |= key == "messages";
    if (status_ && !value.is_null()) read_field(key, value);
  });
  if (status_ && !messages) wrong("messages", "an array of messages");
  return status_;
}

void ChatRequestReader::read_field(std::string_view name, const json::Value& value) {
  for (const Field& field : kFields) {
    if (name == field.name) return (this->*field.read)(value);
  }
  if (out_.others.size() == kListedMax) return wrong("the body", "of fewer fields");
  other(out_.keep(std::string(name)), value, Feature::kOtherField);
}

void ChatRequestReader::wrong(std::string_view field, std::string_view expected) {
  if (!status_) return;
  status_ = fail(ErrorCode::kBadRequest, concat("Your request: ", field, " must be ", expected));
}

bool ChatRequestReader::flag(std::string_view field, const json::Value& value) {
  const std::optional<bool> is = value.boolean();
  if (!is) wrong(field, "true or false");
  return is.value_or(false);
}

Raw ChatRequestReader::number(std::string_view field, const json::Value& value) {
  if (value.kind() == json::Kind::kNumber) return value.raw();
  wrong(field, "a number");
  return {};
}

// Of those fields whose 0 says nothing.
Raw ChatRequestReader::number_but_zero(std::string_view field, const json::Value& value) {
  const Raw raw = number(field, value);
  return value.number() == 0.0 ? Raw() : raw;
}

std::optional<int64_t> ChatRequestReader::count(std::string_view field, const json::Value& value) {
  const std::optional<int64_t> is = value.integer();
  if (!is) wrong(field, "an integer");
  return is;
}

void ChatRequestReader::read_stream_options(const json::Value& value) {
  value.object().each([&](std::string_view key, const json::Value& option) {
    if (key == "include_usage") {
      out_.include_usage = option.boolean();
    } else if (option.boolean() != false) {
      note_chat_member(out_, "stream_options", key, option);
    }
  });
}

void ChatRequestReader::read_parallel(const json::Value& value) {
  out_.tool_choice.parallel = flag("parallel_tool_calls", value);
}

// llama.cpp's clients write -1 for no limit. max_completion_tokens is the newer word and wins.
void ChatRequestReader::read_max_tokens(const json::Value& value) {
  const std::optional<int64_t> tokens = count("max_tokens", value);
  if (!out_.max_tokens && tokens && *tokens >= 0) out_.max_tokens = tokens;
}

void ChatRequestReader::read_max_completion_tokens(const json::Value& value) {
  const std::optional<int64_t> tokens = count("max_completion_tokens", value);
  if (tokens && *tokens >= 0) out_.max_tokens = tokens;
}

void ChatRequestReader::read_stop(const json::Value& value) {
  if (value.kind() == json::Kind::kString) {
    if (value.has_text()) out_.stop.push_back(Text::of(value));
    return;
  }
  if (value.kind() != json::Kind::kArray) return wrong("stop", "a string or an array of strings");
  value.array().each([&](const json::Value& stop) {
    if (stop.kind() != json::Kind::kString) return wrong("stop", "an array of strings");
    if (out_.stop.size() == kListedMax) return wrong("stop", "of fewer strings");
    if (stop.has_text()) out_.stop.push_back(Text::of(stop));
  });
}

void ChatRequestReader::read_frequency_penalty(const json::Value& value) {
  out_.frequency_penalty = number_but_zero("frequency_penalty", value);
}

void ChatRequestReader::read_presence_penalty(const json::Value& value) {
  out_.presence_penalty = number_but_zero("presence_penalty", value);
}

void ChatRequestReader::read_top_logprobs(const json::Value& value) {
  out_.top_logprobs = number_but_zero("top_logprobs", value);
}

void ChatRequestReader::read_logit_bias(const json::Value& value) {
  if (!value.object().empty()) out_.logit_bias = value.raw();
}

void ChatRequestReader::read_n(const json::Value& value) {
  out_.n = count("n", value).value_or(1);
}

void ChatRequestReader::read_response_format(const json::Value& value) {
  json::Value schema;
  std::string_view type;
  value.object().each([&](std::string_view key, const json::Value& member) {
    if (key == "type")
      type = member.text_or("");
    else if (key == "json_schema")
      schema = member;
    else
      note_chat_member(out_, "response_format", key, member);
  });
  if (type == "text") {
    out_.format.kind = Format::Kind::kText;
  } else if (type == "json_object") {
    out_.format.kind = Format::Kind::kJsonObject;
  } else if (type == "json_schema") {
    out_.format.kind = Format::Kind::kJsonSchema;
    read_json_schema(schema);
  } else {
    other("response_format", value, Feature::kOtherField);
  }
}

void ChatRequestReader::read_json_schema(const json::Value& value) {
  value.object().each([&](std::string_view key, const json::Value& member) {
    if (key == "name")
      out_.format.name = Text::of(member);
    else if (key == "description")
      out_.format.description = Text::of(member);
    else if (key == "strict")
      out_.format.strict = member.boolean();
    else if (key == "schema") {
      if (member.kind() == json::Kind::kObject) out_.format.schema = member.raw();
    } else
      note_chat_member(out_, "response_format.json_schema", key, member);
  });
  if (out_.format.schema.empty()) wrong("response_format.json_schema.schema", "an object");
}

void ChatRequestReader::read_reasoning_effort(const json::Value& value) {
  const Text effort = Text::of(value);
  if (effort.empty()) return wrong("reasoning_effort", "a string");
  const bool off = effort.is("none");
  out_.thinking.kind = off ? Thinking::Kind::kOff : Thinking::Kind::kOn;
  if (!off) out_.thinking.effort = effort;
}

// OpenRouter's.
void ChatRequestReader::read_reasoning(const json::Value& value) {
  if (value.kind() != json::Kind::kObject) return other("reasoning", value, Feature::kOtherField);
  value.object().each([&](std::string_view key, const json::Value& member) {
    if (key == "effort") {
      if (member.has_text()) read_reasoning_effort(member);
    } else if (key == "max_tokens") {
      out_.thinking.kind = Thinking::Kind::kOn;
      out_.thinking.budget = member.integer();
    } else if (key == "enabled") {
      if (member.boolean() == false)
        out_.thinking.kind = Thinking::Kind::kOff;
      else if (out_.thinking.kind == Thinking::Kind::kAbsent)
        out_.thinking.kind = Thinking::Kind::kOn;
    } else if (member.boolean() != false) {
      note_chat_member(out_, "reasoning", key, member);
    }
  });
}

// LiteLLM's, and that of several servers: Anthropic's words.
void ChatRequestReader::read_thinking(const json::Value& value) {
  value.object().each([&](std::string_view key, const json::Value& member) {
    if (key == "type") {
      const std::string_view type = member.text_or("");
      if (type == "enabled") out_.thinking.kind = Thinking::Kind::kOn;
      if (type == "disabled") out_.thinking.kind = Thinking::Kind::kOff;
      if (type == "adaptive") out_.thinking.kind = Thinking::Kind::kAdaptive;
    } else if (key == "budget_tokens") {
      out_.thinking.budget = member.integer();
    } else {
      note_chat_member(out_, "thinking", key, member);
    }
  });
}

void ChatRequestReader::read_metadata(const json::Value& value) {
  if (!value.object().empty()) out_.metadata = value.raw();
}

// "auto" is what an absent one means.
void ChatRequestReader::read_service_tier(const json::Value& value) {
  const Text tier = Text::of(value);
  if (!tier.is("auto")) out_.service_tier = tier;
}

void ChatRequestReader::read_modalities(const json::Value& value) {
  bool only_text = true;
  value.array().each(
      [&](const json::Value& modality) { only_text &= modality.text_or("") == "text"; });
  if (!only_text) other("modalities", value, Feature::kAudioOutput);
}

}  // namespace

Status read_chat_request(json::Object root, Request& out) {
  return ChatRequestReader(out).read(root);
}

}  // namespace hw::translate
