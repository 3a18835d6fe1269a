#include "neutral/custom_input.h"

#include "json/scan.h"

namespace hw::translate {
namespace {

constexpr std::string_view kMember = "input";

bool is_blank(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

bool is_high_surrogate(uint32_t code) {
  return code >= 0xD800 && code < 0xDC00;
}
bool is_low_surrogate(uint32_t code) {
  return code >= 0xDC00 && code < 0xE000;
}

void append_utf8(std::string& out, uint32_t code) {
  if (is_high_surrogate(code) || is_low_surrogate(code)) code = 0xFFFD;
  if (code < 0x80) {
    out += static_cast<char>(code);
    return;
  }
  if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
  } else {
    if (code < 0x10000) {
      out += static_cast<char>(0xE0 | (code >> 12));
    } else {
      out += static_cast<char>(0xF0 | (code >> 18));
      out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    }
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
  }
  out += static_cast<char>(0x80 | (code & 0x3F));
}

// The value of a hexadecimal digit; 16 for another byte.
uint32_t hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<uint32_t>(c - '0');
  const char small = static_cast<char>(c | 0x20);
  if (small >= 'a' && small <= 'f') return static_cast<uint32_t>(small - 'a' + 10);
  return 16;
}

// The byte that an escape of one letter stands for.
char simple_escape(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case 'r':
      return '\r';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
  }
  return c;  // a quote, a backslash, a slash, and what is no escape
}

}  // namespace

void append_custom_arguments(std::string& out, const Text& text) {
  out += kCustomInputOpen;
  text.append_escaped(out);
  out += kCustomInputClose;
}

void append_custom_description(std::string& out, const Tool& tool) {
  tool.description.append_plain(out);
  if (tool.format.empty()) return;
  json::Document document;
  if (!document.open(tool.format)) return;
  std::string syntax, definition;
  const auto read = [&](json::Object object) {
    object.each([&](std::string_view key, const json::Value& value) {
      if (key == "syntax") syntax = value.text_or("");
      if (key == "definition") definition = value.text_or("");
    });
  };
  read(document.root());
  read(document.root().find("grammar").object());  // as chat nests it
  if (definition.empty()) return;
  if (!out.empty()) out += "\n\n";
  out += "The input must match this grammar";
  if (!syntax.empty()) out += " (" + syntax + ")";
  out += ":\n";
  out += definition;
}

void CustomInput::feed(std::string_view fragment, std::string& out) {
  for (size_t i = 0; i < fragment.size(); ++i) {
    if (state_ == State::kAsItIs) {
      out.append(fragment.substr(i));
      return;
    }
    if (state_ == State::kOver) return;
    if (state_ == State::kText) {
      step_in_text(fragment[i], out);
    } else {
      held_ += fragment[i];
      step(fragment[i], out);
      if (held_.size() >= kHeldBytesMax) give_up(out);
    }
  }
}

void CustomInput::end(std::string& out) {
  if (state_ == State::kText && high_ != 0) append_utf8(out, high_);
  if (state_ != State::kText && state_ != State::kOver) give_up(out);
  state_ = State::kOver;
}

// Everything held was meant as it is.
void CustomInput::give_up(std::string& out) {
  out += held_;
  held_.clear();
  state_ = State::kAsItIs;
}

void CustomInput::step(char c, std::string& out) {
  switch (state_) {
    case State::kStart:
      if (is_blank(c)) return;
      if (c != '{') return give_up(out);
      state_ = State::kKey;
      return;
    case State::kKey:
      if (is_blank(c) || c == ',') return;
      if (c != '"') return give_up(out);
      key_.clear();
      state_ = State::kInKey;
      return;
    case State::kInKey:
      return step_in_key(c);
    case State::kColon:
      if (is_blank(c)) return;
      if (c != ':') return give_up(out);
      state_ = State::kValue;
      return;
    case State::kValue:
      return step_in_value(c);
    case State::kSkip:
    case State::kSkipText:
      return step_in_skipped(c);
    case State::kText:
    case State::kOver:
    case State::kAsItIs:
      return;
  }
}

void CustomInput::step_in_key(char c) {
  if (!escaped_ && c == '"') {
    state_ = State::kColon;
    return;
  }
  escaped_ = !escaped_ && c == '\\';
  if (key_.size() <= kMember.size()) key_ += c;
}

void CustomInput::step_in_value(char c) {
  if (is_blank(c)) return;
  if (c == '"' && key_ == kMember) {
    held_.clear();
    held_.shrink_to_fit();
    state_ = State::kText;
    return;
  }
  depth_ = 0;
  state_ = State::kSkip;
  step_in_skipped(c);
}

void CustomInput::step_in_skipped(char c) {
  if (state_ == State::kSkipText) {
    if (!escaped_ && c == '"') state_ = State::kSkip;
    escaped_ = !escaped_ && c == '\\';
    return;
  }
  if (c == '"') {
    state_ = State::kSkipText;
  } else if (c == '{' || c == '[') {
    ++depth_;
  } else if (depth_ > 0) {
    if (c == '}' || c == ']') --depth_;
  } else if (c == ',') {
    state_ = State::kKey;
  }
}

void CustomInput::step_in_text(char c, std::string& out) {
  if (digits_ > 0) return take_unicode(c, out);
  if (escaped_) return take_escape(c, out);
  if (c == '\\') {
    escaped_ = true;
    return;
  }
  if (high_ != 0) append_utf8(out, high_);  // its other half is missing
  high_ = 0;
  if (c == '"') {
    state_ = State::kOver;
    return;
  }
  out += c;
}

void CustomInput::take_escape(char c, std::string& out) {
  escaped_ = false;
  if (c == 'u') {
    digits_ = 4;
    code_ = 0;
    return;
  }
  if (high_ != 0) append_utf8(out, high_);
  high_ = 0;
  out += simple_escape(c);
}

void CustomInput::take_unicode(char c, std::string& out) {
  const uint32_t digit = hex_digit(c);
  code_ = code_ * 16 + (digit < 16 ? digit : 0);
  if (--digits_ > 0) return;
  if (high_ != 0 && is_low_surrogate(code_)) {
    append_utf8(out, 0x10000 + ((high_ - 0xD800) << 10) + (code_ - 0xDC00));
    high_ = 0;
    return;
  }
  if (high_ != 0) append_utf8(out, high_);
  high_ = is_high_surrogate(code_) ? code_ : 0;
  if (high_ == 0) append_utf8(out, code_);
}

void append_custom_input(std::string& out, const Text& arguments) {
  CustomInput input;
  input.feed(arguments.str(), out);
  input.end(out);
}

}  // namespace hw::translate
