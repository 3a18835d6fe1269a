#include "settings/toml_layout.h"

#include "base/text.h"

namespace hw::settings {
namespace {

constexpr int kDepthMax = 64;

bool is_bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

// Walks over a text once. Every step moves forward or gives up, so that it ends on any input.
class Walk {
 public:
  explicit Walk(std::string_view text) : text_(text) {}

  Result<TomlLayout> run() {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
    while (good_) {
      skip_empty_lines();
      if (at_ >= text_.size()) break;
      if (text_[at_] == '[') {
        header();
      } else {
        pair(table_, current_, 0, false);
        end_line();
      }
    }
    if (!good_) return fail(ErrorCode::kConfig, "its layout is not understood");
    return std::move(out_);
  }

 private:
  char here() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool sees(std::string_view what) const { return text_.substr(at_).starts_with(what); }
  void give_up() { good_ = false; }

  void skip_blanks() {
    while (here() == ' ' || here() == '\t') ++at_;
  }
  void skip_comment() {
    if (here() == '#') at_ = std::min(text_.find('\n', at_), text_.size());
  }
  // Blanks, line ends and comments.
  void skip_empty_lines() {
    for (;;) {
      const size_t before = at_;
      skip_blanks();
      skip_comment();
      while (here() == '\r' || here() == '\n') ++at_;
      if (at_ == before) return;
    }
  }
  // What may stand behind a pair or a header.
  void end_line() {
    skip_blanks();
    skip_comment();
    if (here() == '\r') ++at_;
    if (at_ < text_.size() && here() != '\n') give_up();
  }

  void header() {
    TomlHeader out;
    out.begin = at_;
    at_ += sees("[[") ? 2 : 1;
    skip_blanks();
    out.path = key();
    skip_blanks();
    if (here() != ']') return give_up();
    while (here() == ']') ++at_;
    end_line();
    out.end = at_ > 0 && text_[at_ - 1] == '\r' ? at_ - 1 : at_;
    table_ = out.path;
    current_ = static_cast<int>(out_.headers.size());
    out_.headers.push_back(std::move(out));
  }

  // key ( . key )*
  std::vector<std::string> key() {
    std::vector<std::string> out;
    for (;;) {
      const size_t begin = at_;
      if (here() == '"' || here() == '\'') {
        quoted();
        if (!good_) return out;
        out.emplace_back(text_.substr(begin + 1, at_ - begin - 2));
      } else {
        while (is_bare(here())) ++at_;
        if (at_ == begin) {
          give_up();
          return out;
        }
        out.emplace_back(text_.substr(begin, at_ - begin));
      }
      const size_t end = at_;
      skip_blanks();
      if (here() != '.') {
        at_ = end;
        return out;
      }
      ++at_;
      skip_blanks();
    }
  }

  void pair(const std::vector<std::string>& table, int header, int depth, bool in_line) {
    TomlPair out;
    out.header = header;
    out.in_line = in_line;
    out.key_begin = at_;
    out.path = table;
    for (std::string& one : key()) out.path.push_back(std::move(one));
    skip_blanks();
    if (here() != '=') return give_up();
    ++at_;
    skip_blanks();
    out.value_begin = at_;
    const size_t index = out_.pairs.size();
    const std::vector<std::string> path = out.path;
    out_.pairs.push_back(std::move(out));
    value(&path, header, depth + 1);
    out_.pairs[index].value_end = at_;
  }

  // `path` is where a table's members belong; null inside an array, whose tables have no path.
  void value(const std::vector<std::string>* path, int header, int depth) {
    if (depth > kDepthMax) return give_up();
    switch (here()) {
      case '"':
      case '\'':
        return quoted();
      case '[':
        return array(header, depth);
      case '{':
        return table(path, header, depth);
      default:
        break;
    }
    const size_t begin = at_;
    at_ = std::min(text_.find_first_of(",]}#\r\n", at_), text_.size());
    while (at_ > begin && (text_[at_ - 1] == ' ' || text_[at_ - 1] == '\t')) --at_;
    if (at_ == begin) give_up();
  }

  // All four kinds of strings.
  void quoted() {
    const char quote = here();
    const std::string three(3, quote);
    const bool escapes = quote == '"';
    if (sees(three)) {
      at_ += 3;
      while (at_ < text_.size() && !sees(three)) at_ += escapes && here() == '\\' ? 2 : 1;
      if (at_ >= text_.size()) return give_up();
      at_ += 3;
      for (int extra = 0; extra < 2 && here() == quote; ++extra) ++at_;
      return;
    }
    ++at_;
    while (at_ < text_.size() && here() != quote && here() != '\n') {
      at_ += escapes && here() == '\\' ? 2 : 1;
    }
    if (here() != quote) return give_up();
    ++at_;
  }

  void array(int header, int depth) {
    ++at_;
    while (good_) {
      skip_empty_lines();
      if (here() == ']') break;
      value(nullptr, header, depth + 1);
      skip_empty_lines();
      if (here() == ',') {
        ++at_;
      } else if (here() != ']') {
        give_up();
      }
    }
    ++at_;
  }

  void table(const std::vector<std::string>* path, int header, int depth) {
    ++at_;
    skip_blanks();
    while (good_ && here() != '}') {
      const size_t before = out_.pairs.size();
      pair(path == nullptr ? std::vector<std::string>() : *path, header, depth, true);
      if (path == nullptr) out_.pairs.resize(before);
      skip_blanks();
      if (here() == ',') {
        ++at_;
        skip_blanks();
      } else if (here() != '}') {
        give_up();
      }
    }
    ++at_;
  }

  std::string_view text_;
  size_t at_ = 0;
  bool good_ = true;
  std::vector<std::string> table_;  // of the header we are below
  int current_ = -1;
  TomlLayout out_;
};

}  // namespace

Result<TomlLayout> layout_of_toml(std::string_view text) {
  return Walk(text).run();
}

}  // namespace hw::settings
