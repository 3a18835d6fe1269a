#include <string>
#include <string_view>

#include "base/text.h"
#include "json/scan.h"
#include "messages/block_reader.h"
#include "messages/dialect.h"

namespace hw::translate {
namespace {

// More members of one tool than this are one too many to name.
constexpr size_t kToolOthersMax = 16;

Raw raw_unless_null(const json::Value& value) {
  return value.is_null() ? Raw() : value.raw();
}

template <class... Words>
Status wrong(const Words&... words) {
  return fail(ErrorCode::kBadRequest, concat("Your request: ", words...));
}

class MessagesReader {
 public:
  explicit MessagesReader(Request& out) : out_(out) {}

  Status read(json::Object root);

 private:
  bool read_setting(std::string_view key, const json::Value& value);
  bool read_number(std::string_view key, const json::Value& value);
  bool read_structure(std::string_view key, const json::Value& value);
  void read_other(std::string_view key, const json::Value& value);
  void read_metadata(json::Object metadata);
  void read_thinking(json::Object thinking);
  void read_output_config(json::Object config);
  void read_format(std::string_view where, json::Object format);
  void read_tool_choice(json::Object choice);
  Status read_system(const json::Value& system);
  Status read_messages(const json::Value& messages);
  Status read_message(json::Object message, size_t index);
  Status read_tools(json::Array tools);
  Status read_tool(const json::Value& whole, size_t index);
  Status read_stop_sequences(json::Array sequences);

  Request& out_;
  size_t parts_left_ = kPartsMax;
  json::Value system_, messages_, tools_, stop_sequences_;
};

// The system text stands first, wherever the body has it.
Status MessagesReader::read(json::Object root) {
  root.each([&](std::string_view key, const json::Value& value) {
    if (value.is_null()) return;
    if (!read_setting(key, value) && !read_number(key, value) && !read_structure(key, value))
      read_other(key, value);
  });
  if (Status read = read_system(system_); !read) return read;
  if (Status read = read_messages(messages_); !read) return read;
  if (Status read = read_tools(tools_.array()); !read) return read;
  return read_stop_sequences(stop_sequences_.array());
}

bool MessagesReader::read_setting(std::string_view key, const json::Value& value) {
  if (key == "model") {
    out_.model = Text::of(value);
  } else if (key == "stream") {
    out_.stream = value.boolean().value_or(false);
  } else if (key == "max_tokens") {
    out_.max_tokens = value.integer();
  } else if (key == "service_tier") {
    out_.service_tier = Text::of(value);
  } else {
    return false;
  }
  return true;
}

bool MessagesReader::read_number(std::string_view key, const json::Value& value) {
  if (key != "temperature" && key != "top_p" && key != "top_k") return false;
  if (value.kind() != json::Kind::kNumber) return false;
  (key == "temperature" ? out_.temperature
   : key == "top_p"     ? out_.top_p
                        : out_.top_k) = value.raw();
  return true;
}

bool MessagesReader::read_structure(std::string_view key, const json::Value& value) {
  if (key == "messages") {
    messages_ = value;
  } else if (key == "system") {
    system_ = value;
  } else if (key == "tools") {
    tools_ = value;
  } else if (key == "stop_sequences") {
    stop_sequences_ = value;
  } else if (key == "tool_choice") {
    read_tool_choice(value.object());
  } else if (key == "thinking") {
    read_thinking(value.object());
  } else if (key == "metadata") {
    read_metadata(value.object());
  } else if (key == "output_config") {
    read_output_config(value.object());
  } else if (key == "output_format") {
    read_format("output_format", value.object());  // its name before output_config
  } else {
    return false;
  }
  return true;
}

void MessagesReader::read_other(std::string_view key, const json::Value& value) {
  if (out_.others.size() >= kListedMax) return;
  OtherField field{out_.keep(std::string(key)), value.raw()};
  if (key == "thread") field.feature = Feature::kStoredState;
  if (key == "cache_control") field.feature = Feature::kCacheControl;
  out_.others.push_back(field);
}

void MessagesReader::read_metadata(json::Object metadata) {
  metadata.each([&](std::string_view key, const json::Value& value) {
    if (key == "user_id") {
      out_.user = Text::of(value);
    } else {
      note_nested_field(out_, "metadata", key, value);
    }
  });
}

void MessagesReader::read_thinking(json::Object thinking) {
  thinking.each([&](std::string_view key, const json::Value& value) {
    if (key == "type") {
      const std::string_view type = value.text_or("");
      if (type == "enabled") out_.thinking.kind = Thinking::Kind::kOn;
      if (type == "disabled") out_.thinking.kind = Thinking::Kind::kOff;
      if (type == "adaptive") out_.thinking.kind = Thinking::Kind::kAdaptive;
    } else if (key == "budget_tokens") {
      out_.thinking.budget = value.integer();
    } else if (key == "display") {
      out_.thinking.display = Text::of(value);
    } else {
      note_nested_field(out_, "thinking", key, value);
    }
  });
}

void MessagesReader::read_output_config(json::Object config) {
  config.each([&](std::string_view key, const json::Value& value) {
    if (key == "effort") {
      out_.thinking.effort = Text::of(value);
    } else if (key == "format") {
      read_format("output_config.format", value.object());
    } else {
      note_nested_field(out_, "output_config", key, value);
    }
  });
}

void MessagesReader::read_format(std::string_view where, json::Object format) {
  format.each([&](std::string_view key, const json::Value& value) {
    if (key == "type") {
      if (value.text_or("") == "json_schema") out_.format.kind = Format::Kind::kJsonSchema;
    } else if (key == "schema") {
      out_.format.schema = raw_unless_null(value);
    } else if (key == "name") {
      out_.format.name = Text::of(value);
    } else {
      note_nested_field(out_, where, key, value);
    }
  });
}

void MessagesReader::read_tool_choice(json::Object choice) {
  choice.each([&](std::string_view key, const json::Value& value) {
    if (key == "type") {
      const std::string_view type = value.text_or("");
      if (type == "auto") out_.tool_choice.kind = ToolChoice::Kind::kAuto;
      if (type == "any") out_.tool_choice.kind = ToolChoice::Kind::kRequired;
      if (type == "tool") out_.tool_choice.kind = ToolChoice::Kind::kNamed;
      if (type == "none") out_.tool_choice.kind = ToolChoice::Kind::kNone;
    } else if (key == "name") {
      out_.tool_choice.name = Text::of(value);
    } else if (key == "disable_parallel_tool_use") {
      if (value.boolean()) out_.tool_choice.parallel = !*value.boolean();
    } else {
      note_nested_field(out_, "tool_choice", key, value);
    }
  });
}

Status MessagesReader::read_system(const json::Value& system) {
  if (system.is_null()) return {};
  Turn turn;
  turn.role = Role::kSystem;
  const ContentPlace place{"system", "system[]"};
  Status read = read_messages_content(system, place, out_, turn.parts, parts_left_);
  if (read && !turn.parts.empty()) out_.turns.push_back(std::move(turn));
  return read;
}

Status MessagesReader::read_messages(const json::Value& messages) {
  if (messages.kind() != json::Kind::kArray) return wrong("messages must be an array");
  json::Array array = messages.array();
  json::Value message;
  for (size_t index = 0; array.next(message); ++index) {
    if (index >= kPartsMax) return wrong("messages has more than ", kPartsMax, " elements");
    if (Status read = read_message(message.object(), index); !read) return read;
  }
  return {};
}

Status MessagesReader::read_message(json::Object message, size_t index) {
  json::Value role, content;
  message.each([&](std::string_view key, const json::Value& value) {
    if (key == "role") {
      role = value;
    } else if (key == "content") {
      content = value;
    } else {
      note_nested_field(out_, "messages[]", key, value);
    }
  });
  Turn turn;
  const std::string_view name = role.text_or("");
  if (name == "assistant") {
    turn.role = Role::kAssistant;
  } else if (name == "system") {
    turn.role = Role::kSystem;
  } else if (name != "user") {
    return wrong("messages[", index, "].role must be user, assistant or system");
  }
  const ContentPlace place{concat("messages[", index, "].content"), "messages[].content[]"};
  Status read = read_messages_content(content, place, out_, turn.parts, parts_left_);
  if (read) out_.turns.push_back(std::move(turn));
  return read;
}

Status MessagesReader::read_tools(json::Array tools) {
  json::Value tool;
  for (size_t index = 0; tools.next(tool); ++index) {
    if (index >= kListedMax) return wrong("tools has more than ", kListedMax, " elements");
    if (Status read = read_tool(tool, index); !read) return read;
  }
  return {};
}

// A tool without a type, or of type custom, has a schema and is the client's own.
Status MessagesReader::read_tool(const json::Value& whole, size_t index) {
  Tool tool;
  json::Value type;
  whole.object().each([&](std::string_view key, const json::Value& value) {
    if (key == "name") {
      tool.name = Text::of(value);
    } else if (key == "description") {
      tool.description = Text::of(value);
    } else if (key == "input_schema") {
      tool.schema = raw_unless_null(value);
    } else if (key == "cache_control") {
      tool.cache_control = raw_unless_null(value);
    } else if (key == "type") {
      type = value;
    } else if (key == "strict") {
      tool.strict = value.boolean().value_or(false);
    } else if (key == "defer_loading") {
      tool.deferred = value.boolean().value_or(false);
    } else if (!value.is_null() && tool.others.size() < kToolOthersMax) {
      tool.others.push_back(out_.keep(std::string(key)));
    }
  });
  const std::string_view kind = type.text_or("custom");
  if (kind != "custom") {
    tool.kind = Tool::Kind::kServer;
    tool.raw = whole.raw();
    tool.type = out_.keep(std::string(kind));
  } else if (tool.name.empty()) {
    return wrong("tools[", index, "].name must be a string");
  }
  out_.tools.push_back(std::move(tool));
  return {};
}

Status MessagesReader::read_stop_sequences(json::Array sequences) {
  json::Value sequence;
  while (sequences.next(sequence)) {
    if (out_.stop.size() >= kListedMax)
      return wrong("stop_sequences has more than ", kListedMax, " elements");
    if (sequence.has_text()) out_.stop.push_back(Text::of(sequence));
  }
  return {};
}

}  // namespace

Status read_messages_request(json::Object root, Request& out) {
  return MessagesReader(out).read(root);
}

}  // namespace hw::translate
