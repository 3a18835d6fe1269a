// Reads requests of responses (OpenAI's POST /v1/responses): the top level.
#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "responses/dialect.h"
#include "responses/item_reader.h"
#include "responses/members.h"
#include "responses/tool_reader.h"

namespace hw::translate {
namespace {

Status wrong(std::string_view field, std::string_view how) {
  return fail(ErrorCode::kBadRequest, concat("Your request: `", field, "` ", how));
}

Raw raw_object(const json::Value& value) {
  return value.kind() == json::Kind::kObject ? value.raw() : Raw();
}

// The members of a request, one after another in any order.
class RequestReader {
 public:
  explicit RequestReader(Request& out) : out_(out) {}

  Status read(json::Object root);

 private:
  using Read = Status (RequestReader::*)(const json::Value&);
  struct Member {
    std::string_view name;
    Read read;
  };
  static const Member kMembers[];

  Status read_member(std::string_view key, const json::Value& value);
  Status read_conversation();

  Status take_text(const json::Value& value, std::string_view field, Text& out);
  Status take_integer(const json::Value& value, std::string_view field,
                      std::optional<int64_t>& out);
  Status take_number(const json::Value& value, std::string_view field, Raw& out);
  void add_other(std::string_view name, const json::Value& value,
                 Feature feature = Feature::kOtherField);

  Status read_model(const json::Value& v) { return take_text(v, "model", out_.model); }
  Status read_user(const json::Value& v) { return take_text(v, "user", out_.user); }
  Status read_safety(const json::Value& v) {
    return take_text(v, "safety_identifier", out_.safety_identifier);
  }
  Status read_cache_key(const json::Value& v) {
    return take_text(v, "prompt_cache_key", out_.prompt_cache_key);
  }
  Status read_max_tokens(const json::Value& v) {
    return take_integer(v, "max_output_tokens", out_.max_tokens);
  }
  Status read_temperature(const json::Value& v) {
    return take_number(v, "temperature", out_.temperature);
  }
  Status read_top_p(const json::Value& v) { return take_number(v, "top_p", out_.top_p); }
  Status read_instructions(const json::Value& v) {
    return take_text(v, "instructions", instructions_);
  }
  Status read_input(const json::Value& v) {
    input_ = v;
    return {};
  }
  Status read_tools(const json::Value& v) { return read_responses_tools(v, out_); }
  Status read_stream(const json::Value& value);
  Status read_top_logprobs(const json::Value& value);
  Status read_service_tier(const json::Value& value);
  Status read_store(const json::Value& value);
  Status read_parallel(const json::Value& value);
  Status read_tool_choice(const json::Value& v) { return read_responses_tool_choice(v, out_); }
  Status read_reasoning(const json::Value& value);
  Status read_text(const json::Value& value);
  Status read_format(json::Object object);
  Status read_include(const json::Value& value);
  Status read_metadata(const json::Value& value);
  Status read_truncation(const json::Value& value);
  Status read_stream_options(const json::Value& value);
  Status read_background(const json::Value& value);
  Status read_previous(const json::Value& value);
  Status read_stored_conversation(const json::Value& value);
  Status read_prompt(const json::Value& value);

  Request& out_;
  Text instructions_;
  json::Value input_;
  std::vector<OtherField> others_;  // behind those inside items and tools
  bool stored_ = false;             // the history is elsewhere
};

const RequestReader::Member RequestReader::kMembers[] = {
    {"model", &RequestReader::read_model},
    {"input", &RequestReader::read_input},
    {"instructions", &RequestReader::read_instructions},
    {"stream", &RequestReader::read_stream},
    {"tools", &RequestReader::read_tools},
    {"tool_choice", &RequestReader::read_tool_choice},
    {"parallel_tool_calls", &RequestReader::read_parallel},
    {"reasoning", &RequestReader::read_reasoning},
    {"text", &RequestReader::read_text},
    {"include", &RequestReader::read_include},
    {"max_output_tokens", &RequestReader::read_max_tokens},
    {"temperature", &RequestReader::read_temperature},
    {"top_p", &RequestReader::read_top_p},
    {"top_logprobs", &RequestReader::read_top_logprobs},
    {"store", &RequestReader::read_store},
    {"metadata", &RequestReader::read_metadata},
    {"user", &RequestReader::read_user},
    {"safety_identifier", &RequestReader::read_safety},
    {"prompt_cache_key", &RequestReader::read_cache_key},
    {"service_tier", &RequestReader::read_service_tier},
    {"truncation", &RequestReader::read_truncation},
    {"stream_options", &RequestReader::read_stream_options},
    {"background", &RequestReader::read_background},
    {"previous_response_id", &RequestReader::read_previous},
    {"conversation", &RequestReader::read_stored_conversation},
    {"prompt", &RequestReader::read_prompt},
};

Status RequestReader::read(json::Object root) {
  std::string_view key;
  json::Value value;
  while (root.next(key, value)) {
    if (value.is_null()) continue;
    if (const Status read = read_member(key, value); !read) return read;
  }
  if (const Status read = read_conversation(); !read) return read;
  out_.others.insert(out_.others.end(), others_.begin(), others_.end());
  return {};
}

Status RequestReader::read_member(std::string_view key, const json::Value& value) {
  const auto member = std::find_if(std::begin(kMembers), std::end(kMembers),
                                   [key](const Member& one) { return one.name == key; });
  if (member != std::end(kMembers)) return (this->*member->read)(value);
  add_other(out_.keep(key.empty() ? "(no name)" : std::string(key)), value);
  return {};
}

Status RequestReader::read_conversation() {
  if (!instructions_.empty()) {
    Turn& turn = out_.turns.emplace_back();
    turn.role = Role::kSystem;
    turn.parts.emplace_back().text = instructions_;
  }
  if (!input_.is_null()) return read_responses_input(input_, out_);
  if (stored_) return {};
  return wrong("input", "is missing");
}

Status RequestReader::take_text(const json::Value& value, std::string_view field, Text& out) {
  out = Text::of(value);
  return out.present() ? Status() : wrong(field, "is not a text");
}

Status RequestReader::take_integer(const json::Value& value, std::string_view field,
                                   std::optional<int64_t>& out) {
  out = value.integer();
  return out ? Status() : wrong(field, "is not a whole number");
}

Status RequestReader::take_number(const json::Value& value, std::string_view field, Raw& out) {
  if (value.kind() != json::Kind::kNumber) return wrong(field, "is not a number");
  out = value.raw();
  return {};
}

void RequestReader::add_other(std::string_view name, const json::Value& value, Feature feature) {
  if (others_.size() < kListedMax) others_.push_back({name, value.raw(), feature});
}

Status RequestReader::read_stream(const json::Value& value) {
  const auto stream = value.boolean();
  if (!stream) return wrong("stream", "is not true or false");
  out_.stream = *stream;
  return {};
}

// 0 is the default and asks for nothing.
Status RequestReader::read_top_logprobs(const json::Value& value) {
  if (value.integer() == 0) return {};
  out_.logprobs = true;
  return take_number(value, "top_logprobs", out_.top_logprobs);
}

// "auto" is the default.
Status RequestReader::read_service_tier(const json::Value& value) {
  if (value.text_or("") == "auto") return {};
  return take_text(value, "service_tier", out_.service_tier);
}

Status RequestReader::read_store(const json::Value& value) {
  out_.store = value.boolean();
  return out_.store ? Status() : wrong("store", "is not true or false");
}

Status RequestReader::read_parallel(const json::Value& value) {
  out_.tool_choice.parallel = value.boolean();
  return out_.tool_choice.parallel ? Status()
                                   : wrong("parallel_tool_calls", "is not true or false");
}

Status RequestReader::read_reasoning(const json::Value& value) {
  if (value.kind() != json::Kind::kObject) return wrong("reasoning", "is not an object");
  Thinking& thinking = out_.thinking;
  value.object().each([&](std::string_view key, const json::Value& member) {
    if (key == "effort") {
      thinking.effort = Text::of(member);
    } else if (key == "summary" || (key == "generate_summary" && !thinking.summary.present())) {
      thinking.summary = Text::of(member);
    } else if (!member.is_null()) {
      note_responses_member(out_, "reasoning", key, member);
    }
  });
  if (thinking.effort.is("none")) {
    thinking.kind = Thinking::Kind::kOff;
    thinking.effort = Text();
  } else if (!thinking.effort.empty()) {
    thinking.kind = Thinking::Kind::kOn;
  }
  return {};
}

Status RequestReader::read_text(const json::Value& value) {
  if (value.kind() != json::Kind::kObject) return wrong("text", "is not an object");
  json::Object members = value.object();
  std::string_view key;
  json::Value member;
  while (members.next(key, member)) {
    if (key == "verbosity") {
      const Text verbosity = Text::of(member);
      if (!verbosity.is("medium")) out_.verbosity = verbosity;  // which is the default
    } else if (key == "format") {
      if (const Status read = read_format(member.object()); !read) return read;
    } else {
      note_responses_member(out_, "text", key, member);
    }
  }
  return {};
}

Status RequestReader::read_format(json::Object object) {
  Format& format = out_.format;
  std::string_view type;
  object.each([&](std::string_view key, const json::Value& value) {
    if (key == "type") type = value.text_or("");
    if (key == "name") format.name = Text::of(value);
    if (key == "description") format.description = Text::of(value);
    if (key == "schema") format.schema = raw_object(value);
    if (key == "strict") format.strict = value.boolean();
  });
  if (type == "json_schema") {
    if (format.schema.empty()) return wrong("text.format.schema", "is missing");
    format.kind = Format::Kind::kJsonSchema;
  } else if (type == "json_object") {
    format.kind = Format::Kind::kJsonObject;
  } else if (type == "text" || type.empty()) {
    format.kind = Format::Kind::kText;
  } else {
    return wrong("text.format.type", "is not text, json_object or json_schema");
  }
  return {};
}

Status RequestReader::read_include(const json::Value& value) {
  if (value.kind() != json::Kind::kArray) return wrong("include", "is not a list");
  bool all_known = true;
  value.array().each([&](const json::Value& element) {
    const std::string_view what = element.text_or("");
    if (what == "reasoning.encrypted_content") {
      out_.include_encrypted_reasoning = true;
    } else if (what == "message.output_text.logprobs") {
      out_.logprobs = true;
    } else {
      all_known = false;
    }
  });
  if (!all_known) add_other("include", value);
  return {};
}

Status RequestReader::read_metadata(const json::Value& value) {
  if (value.kind() != json::Kind::kObject) return wrong("metadata", "is not an object");
  if (!value.object().empty()) out_.metadata = value.raw();
  return {};
}

Status RequestReader::read_truncation(const json::Value& value) {
  if (value.text_or("") != "disabled") add_other("truncation", value);  // the default
  return {};
}

// Nobody else pads his events, so that what is switched off stays off.
Status RequestReader::read_stream_options(const json::Value& value) {
  value.object().each([&](std::string_view key, const json::Value& member) {
    if (member.boolean() != false) note_responses_member(out_, "stream_options", key, member);
  });
  return {};
}

Status RequestReader::read_background(const json::Value& value) {
  if (value.boolean() != false) add_other("background", value, Feature::kBackground);
  return {};
}

Status RequestReader::read_previous(const json::Value& value) {
  stored_ = true;
  add_other("previous_response_id", value, Feature::kStoredState);
  return {};
}

Status RequestReader::read_stored_conversation(const json::Value& value) {
  stored_ = true;
  add_other("conversation", value, Feature::kStoredState);
  return {};
}

Status RequestReader::read_prompt(const json::Value& value) {
  stored_ = true;
  add_other("prompt", value, Feature::kStoredState);
  return {};
}

}  // namespace

Status read_responses_request(json::Object root, Request& out) {
  return RequestReader(out).read(root);
}

}  // namespace hw::translate
