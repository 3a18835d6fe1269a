#include "translate/trimmed_body.h"

#include <string.h>

#include <algorithm>
#include <array>

#include "json/scan.h"
#include "neutral/opaque.h"

namespace hw::translate {
namespace {

// Without these there is no request; they need not be listed.
constexpr std::array<std::string_view, 6> kAlwaysTaken = {"model", "stream", "messages",
                                                          "input", "prompt", "max_tokens"};
// How an envelope begins as a JSON string: looked for before anything is read.
constexpr std::string_view kEnvelopeInJson = "\"hw.";

// The members or elements of one container that stay, as they stand in the text.
class Kept {
 public:
  // `inner` is where the container's first byte behind its bracket lies.
  Kept(std::string_view text, size_t inner) : text_(text), from_(inner) {}

  // The next member or element ends with `value`; it stays.
  void keep(const json::Value& value) { add(slice_to(value)); }
  // The same, with `instead` in the value's place.
  void keep(const json::Value& value, std::string_view instead) {
    const std::string_view whole = slice_to(value);
    add(whole.substr(0, whole.size() - value.range().length));
    out_ += instead;
  }
  // It goes.
  void cut(const json::Value& value) { slice_to(value); }

  std::string in(char open, char close) const { return open + out_ + close; }

 private:
  // From behind the one before, without the comma, to the end of `value`.
  std::string_view slice_to(const json::Value& value) {
    const json::Range range = value.range();
    std::string_view slice = text_.substr(from_, range.offset + range.length - from_);
    from_ = range.offset + range.length;
    const size_t begin = slice.find_first_not_of(", \t\r\n");
    return begin == std::string_view::npos ? std::string_view() : slice.substr(begin);
  }
  void add(std::string_view slice) {
    if (!out_.empty()) out_ += ',';
    out_ += slice;
  }

  std::string_view text_;
  size_t from_;
  std::string out_;
};

// A look at the bytes alone, quick enough for every request.
bool may_hold_envelopes(Dialect dialect, std::string_view body) {
  if (dialect != Dialect::kAnthropicMessages && dialect != Dialect::kOpenaiResponses) return false;
  return memmem(body.data(), body.size(), kEnvelopeInJson.data(), kEnvelopeInJson.size()) !=
         nullptr;
}

class Trimmer {
 public:
  Trimmer(Dialect dialect, std::string_view body, std::span<const std::string> fields)
      : dialect_(dialect),
        body_(body),
        fields_(fields),
        envelopes_(may_hold_envelopes(dialect, body)) {}

  bool has_work() const { return !fields_.empty() || envelopes_; }

  std::optional<TrimmedBody> run() {
    json::Document document;
    if (!document.open(body_)) return std::nullopt;
    json::Object root = document.root();
    Kept kept(body_, root.offset() + 1);
    bool changed = false;
    root.each([&](std::string_view key, const json::Value& value) {
      if (!takes(key)) {
        note(key);
        kept.cut(value);
        changed = true;
      } else if (const auto instead = conversation(key, value)) {
        kept.keep(value, *instead);
        changed = true;
      } else {
        kept.keep(value);
      }
    });
    if (!changed || !document.finish()) return std::nullopt;
    return TrimmedBody{kept.in('{', '}'), std::move(lossy_)};
  }

 private:
  bool takes(std::string_view key) const {
    return fields_.empty() || std::ranges::find(fields_, key) != fields_.end() ||
           std::ranges::find(kAlwaysTaken, key) != kAlwaysTaken.end();
  }

  void note(std::string_view mark) {
    if (std::ranges::find(lossy_, mark) == lossy_.end()) lossy_.emplace_back(mark);
  }

  // A conversation without our envelopes; nothing where there is none in it.
  std::optional<std::string> conversation(std::string_view key, const json::Value& value) {
    if (!envelopes_) return std::nullopt;
    if (dialect_ == Dialect::kAnthropicMessages && key == "messages") {
      return without(value, [&](const json::Value& message, Kept& kept) {
        return message_without(message, kept);
      });
    }
    if (dialect_ == Dialect::kOpenaiResponses && key == "input") {
      return without(value, [&](const json::Value& item, Kept& kept) {
        if (!is_sealed(item, "encrypted_content")) return false;
        note("reasoning");
        kept.cut(item);
        return true;
      });
    }
    return std::nullopt;
  }

  // The array with each element handed to `edit`, which cuts it or replaces it and then says true.
  template <class Edit>
  std::optional<std::string> without(const json::Value& array, Edit&& edit) {
    if (array.kind() != json::Kind::kArray) return std::nullopt;
    Kept kept(body_, array.range().offset + 1);
    bool changed = false;
    array.array().each([&](const json::Value& element) {
      if (edit(element, kept)) {
        changed = true;
      } else {
        kept.keep(element);
      }
    });
    if (!changed) return std::nullopt;
    return kept.in('[', ']');
  }

  // A turn of messages without sealed blocks. One that had nothing else goes.
  bool message_without(const json::Value& message, Kept& turns) {
    json::Object object = message.object();
    if (object.empty()) return false;
    Kept kept(body_, object.offset() + 1);
    bool changed = false, has_content = true;
    object.each([&](std::string_view key, const json::Value& value) {
      std::optional<std::string> blocks;
      if (key == "content") blocks = blocks_without(value);
      if (blocks) {
        changed = true;
        has_content = *blocks != "[]";
        kept.keep(value, *blocks);
      } else {
        kept.keep(value);
      }
    });
    if (!changed) return false;
    if (has_content) {
      turns.keep(message, kept.in('{', '}'));
    } else {
      turns.cut(message);
    }
    return true;
  }

  std::optional<std::string> blocks_without(const json::Value& content) {
    return without(content, [&](const json::Value& block, Kept& kept) {
      if (!is_sealed(block, "signature") && !is_sealed(block, "data")) return false;
      note("thinking");
      kept.cut(block);
      return true;
    });
  }

  static bool is_sealed(const json::Value& block, std::string_view name) {
    const json::Value proof = block.object().find(name);
    return proof.kind() == json::Kind::kString && unseal(Text::of(proof)).has_value();
  }

  const Dialect dialect_;
  const std::string_view body_;
  const std::span<const std::string> fields_;
  const bool envelopes_;
  std::vector<std::string> lossy_;
};

}  // namespace

std::optional<TrimmedBody> trim(Dialect dialect, std::string_view body,
                                std::span<const std::string> fields) {
  Trimmer trimmer(dialect, body, fields);
  if (!trimmer.has_work()) return std::nullopt;
  return trimmer.run();
}

}  // namespace hw::translate
