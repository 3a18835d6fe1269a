#include "verify/triple.h"

#include "base/text.h"
#include "json/scan.h"
#include "json/writer.h"

namespace hw::verify {

using config::Language;
using config::Words;
namespace {

void say_change(std::string& out, bool changed, Words what, const std::string& before,
                const std::string& now, Language language) {
  if (!changed) return;
  static constexpr Words kNone = {"none", "无"};
  const std::string none(kNone.in(language));
  out += concat("  ", what.in(language), ": ", before.empty() ? none : before, " -> ",
                now.empty() ? none : now, "\n");
}

}  // namespace

std::string triple_base_url(std::string_view base_url) {
  while (base_url.ends_with('/')) base_url.remove_suffix(1);
  if (base_url.ends_with("/v1")) base_url.remove_suffix(3);
  while (base_url.ends_with('/')) base_url.remove_suffix(1);
  return std::string(base_url);
}

TripleChange compare_triples(const Triple& before, const Triple& now) {
  TripleChange out;
  out.base_url = before.base_url != now.base_url;
  out.key = before.key_digest != now.key_digest;
  out.model = before.model != now.model;
  out.answered_by = !out.base_url && !out.model && !before.answered_by.empty() &&
                    !now.answered_by.empty() && before.answered_by != now.answered_by;
  return out;
}

std::vector<std::string_view> changed_names(const TripleChange& change) {
  std::vector<std::string_view> out;
  if (change.base_url) out.emplace_back("base_url");
  if (change.key) out.emplace_back("key");
  if (change.model) out.emplace_back("model");
  if (change.answered_by) out.emplace_back("answered_by");
  return out;
}

std::string triple_words(const Triple& before, const Triple& now, const TripleChange& change,
                         Language language) {
  if (!change.any()) return {};
  static constexpr Words kHead = {
      "Changed since the run of {0}: numbers of before and after do not compare.",
      "自 {0} 的运行以来已改变：前后的数字不可比较。"};
  std::string when;
  append_rfc3339(when, before.at);
  constexpr size_t kWithoutFraction = 19;
  const std::string arguments[] = {when.substr(0, kWithoutFraction) + "Z"};
  std::string out = config::fill(kHead.in(language), arguments) + "\n";
  say_change(out, change.base_url, {"base URL", "Base URL"}, before.base_url, now.base_url,
             language);
  if (change.key) {
    out += Words{"  key: another one\n", "  密钥：换成了另一个\n"}.in(language);
  }
  say_change(out, change.model, {"model", "模型"}, before.model, now.model, language);
  say_change(out, change.answered_by, {"answered by", "应答的模型"}, before.answered_by,
             now.answered_by, language);
  return out;
}

std::string write_triple(const Triple& triple) {
  std::string out;
  json::Writer writer(out);
  writer.begin_object();
  writer.field("base_url", triple.base_url);
  writer.field("model", triple.model);
  writer.field("salt", triple.salt);
  writer.field("key_digest", triple.key_digest);
  writer.field("answered_by", triple.answered_by);
  writer.field("at", triple.at);
  writer.end_object();
  return out + "\n";
}

std::optional<Triple> read_triple(std::string_view text) {
  json::Document document(ErrorCode::kConfig);
  if (!document.open(text)) return std::nullopt;
  Triple out;
  document.root().each([&](std::string_view key, const json::Value& value) {
    if (key == "base_url") out.base_url = std::string(value.text_or(""));
    if (key == "model") out.model = std::string(value.text_or(""));
    if (key == "salt") out.salt = std::string(value.text_or(""));
    if (key == "key_digest") out.key_digest = std::string(value.text_or(""));
    if (key == "answered_by") out.answered_by = std::string(value.text_or(""));
    if (key == "at") out.at = value.integer().value_or(0);
  });
  if (!document.finish() || out.salt.empty() || out.key_digest.empty()) return std::nullopt;
  return out;
}

}  // namespace hw::verify
