#include "probe/reading.h"

#include <algorithm>

#include "base/text.h"
#include "json/check.h"
#include "json/scan.h"
#include "wire/answer_facts.h"

namespace hw::probe {
namespace {

constexpr size_t kTitleBytesMax = 120;
constexpr size_t kModelBytesMax = 200;

std::string lowered(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

std::string_view without_leading_blanks(std::string_view body) {
  if (body.starts_with("\xef\xbb\xbf")) body.remove_prefix(3);
  while (!body.empty() && (body[0] == ' ' || (body[0] >= '\t' && body[0] <= '\r'))) {
    body.remove_prefix(1);
  }
  return body;
}

bool begins_as_events(std::string_view body) {
  for (const std::string_view field : {"data:", "event:", "id:", "retry:", ":"}) {
    if (body.starts_with(field)) return true;
  }
  return false;
}

bool begins_as_html(std::string_view body) {
  const std::string low = lowered(body.substr(0, 512));
  return low.starts_with("<!doctype html") || low.starts_with("<html") ||
         low.starts_with("<head") ||
         (low.starts_with("<") && low.find("<html") != std::string::npos);
}

std::string title_of(std::string_view body) {
  const std::string low = lowered(body.substr(0, 16384));
  const size_t open = low.find("<title");
  const size_t begin = open == std::string::npos ? open : low.find('>', open);
  if (begin == std::string::npos) return {};
  const size_t end = low.find("</title", begin);
  if (end == std::string::npos) return {};
  const std::string_view title = trim(body.substr(begin + 1, end - begin - 1));
  return title.empty() ? std::string() : wire::excerpt(title.substr(0, kTitleBytesMax));
}

BodyKind kind_of(std::string_view body) {
  if (body.empty()) return BodyKind::kEmpty;
  if (body[0] == '{') {
    return json::is_json_object(body) ? BodyKind::kJson : BodyKind::kJsonBroken;
  }
  if (begins_as_events(body)) return BodyKind::kEvents;
  if (begins_as_html(body)) return BodyKind::kHtml;
  // A value of another kind is JSON if it is as the member of an object.
  const bool other = body[0] == '[' || body[0] == '"' || body.starts_with("null") ||
                     body.starts_with("true") || body.starts_with("false");
  if (other && json::is_json_object(concat("{\"value\":", body, "}"))) return BodyKind::kJsonOther;
  return BodyKind::kText;
}

std::string_view member_name(Dialect dialect) {
  switch (dialect) {
    case Dialect::kOpenaiChat:
    case Dialect::kOpenaiCompletions:
      return "choices";
    case Dialect::kOpenaiResponses:
      return "output";
    case Dialect::kOpenaiEmbeddings:
      return "data";
    case Dialect::kAnthropicMessages:
      return "content";
  }
  return "choices";
}

void read_object(Dialect dialect, std::string_view body, Reading& out) {
  json::Document document(ErrorCode::kUpstreamDialect);
  if (!document.open(body)) return;
  bool seen = false;
  document.root().each([&](std::string_view key, const json::Value& value) {
    if (key == member_name(dialect)) {
      seen = true;
      switch (value.kind()) {
        case json::Kind::kNull:
          out.member = AnswerMember::kNull;
          break;
        case json::Kind::kArray:
          out.member = value.array().count() == 0 ? AnswerMember::kEmpty : AnswerMember::kFilled;
          break;
        case json::Kind::kBool:
        case json::Kind::kNumber:
        case json::Kind::kString:
        case json::Kind::kObject:
          out.member = AnswerMember::kOther;
          break;
      }
    } else if (key == "model") {
      wire::keep(out.model, value.text_or(""), kModelBytesMax);
    } else if (key == "error") {
      out.error_member = out.error_member || !value.is_null();
    } else if (key == "type") {
      out.error_member = out.error_member || value.text_or("") == "error";
    }
  });
  if (!seen) out.member = AnswerMember::kMissing;
}

}  // namespace

Reading read_body(Dialect dialect, std::string_view body) {
  Reading out;
  const std::string_view text = without_leading_blanks(body);
  out.kind = kind_of(text);
  out.excerpt = wire::excerpt(text.substr(0, 2048));
  if (out.kind == BodyKind::kHtml) out.title = title_of(text);
  if (out.kind != BodyKind::kJson) return out;
  read_object(dialect, text, out);
  const wire::UpstreamErrorBody error = wire::read_error_body(family_of(dialect), text);
  out.error_shape = error.shape;
  out.error = error.words;
  const Result<wire::AnswerFacts> facts = wire::scan_answer(dialect, text);
  if (!facts.has_value()) return out;
  out.output_bytes = facts->output_bytes;
  out.finish_reason = facts->finish_reason;
  out.usage = facts->usage;
  if (facts->error) {
    out.error_member = true;
    if (out.error.message.empty()) out.error = facts->error_words;
  }
  return out;
}

bool is_about_model(const wire::ErrorWords& words, std::string_view model) {
  const std::string text = lowered(concat(words.message, " ", words.code));
  if (words.code == "model_not_found" || words.code == "unknown_model" ||
      words.code == "model_not_available") {
    return true;
  }
  if (words.type == "not_found_error" && text.starts_with("model")) return true;
  const bool names_it = !model.empty() && text.find(lowered(model)) != std::string::npos;
  if (text.find("model") == std::string::npos && !names_it) return false;
  for (const std::string_view word :
       {"not found", "not exist", "unknown", "not available", "not supported", "no such", "invalid",
        "not_found", "unavailable", "no channel", "not configured", "unsupported",
        "\xe4\xb8\x8d\xe5\xad\x98\xe5\x9c\xa8", "\xe6\x97\xa0\xe5\x8f\xaf\xe7\x94\xa8"}) {
    if (text.find(word) != std::string::npos) return true;
  }
  return false;
}

bool is_about_max_tokens(const wire::ErrorWords& words) {
  return words.message.find("max_completion_tokens") != std::string::npos ||
         words.message.find("'max_tokens'") != std::string::npos ||
         words.message.find("max_tokens is not") != std::string::npos;
}

std::vector<std::string> read_model_list(std::string_view body, size_t count_max) {
  std::vector<std::string> out;
  json::Document document(ErrorCode::kUpstreamDialect);
  if (!document.open(body)) return out;
  for (const std::string_view member : {"data", "models"}) {
    document.root().find(member).array().each([&](const json::Value& model) {
      json::Object object = model.object();
      std::string_view id = object.find("id").text_or("");
      if (id.empty()) id = object.find("name").text_or("");
      if (!id.empty() && id.size() <= kModelBytesMax && out.size() < count_max) {
        out.emplace_back(id);
      }
    });
    if (!out.empty()) break;
  }
  return out;
}

}  // namespace hw::probe
