#include "wire/answer_facts.h"

#include "base/text.h"
#include "json/scan.h"
#include "wire/generated_text.h"
#include "wire/stream_state.h"

namespace hw::wire {
namespace {

// Reads one whole answer; each member function takes what its dialect has beyond the others.
class AnswerReader {
 public:
  AnswerReader(Dialect dialect, AnswerFacts& facts) : dialect_(dialect), facts_(facts) {}

  void field(std::string_view key, const json::Value& value) {
    if (key == "id") {
      keep(facts_.id, value.text_or(""), kIdBytesMax);
    } else if (key == "usage") {
      read_usage(dialect_, value.object(), facts_.usage);
    } else if (key == "error") {
      if (value.is_null()) return;
      facts_.error = true;
      read_error(value, facts_.error_words);
    } else if (!read_engine_member(key, value, facts_.engine)) {
      own_field(key, value);
    }
  }

  // Sums up when all fields are known.
  void finish() {
    facts_.output_bytes = count_.total();
    if (!incomplete_reason_.empty() && facts_.finish_reason == "incomplete") {
      facts_.finish_reason = incomplete_reason_;
    }
  }

 private:
  void own_field(std::string_view key, const json::Value& value) {
    switch (dialect_) {
      case Dialect::kOpenaiChat:
      case Dialect::kOpenaiCompletions:
        if (key == "choices") choices(value);
        return;
      case Dialect::kOpenaiResponses:
        return response_field(key, value);
      case Dialect::kOpenaiEmbeddings:
        if (key == "data") facts_.has_answer = value.kind() == json::Kind::kArray;
        return;
      case Dialect::kAnthropicMessages:
        return message_field(key, value);
    }
  }

  void choices(const json::Value& value) {
    facts_.has_answer = value.kind() == json::Kind::kArray;
    value.array().each([&](const json::Value& choice) {
      choice.object().each([&](std::string_view key, const json::Value& member) {
        if (key == "message") {
          count_chat_message(member.object(), count_);
        } else if (key == "text") {
          count_.add(TokenChannel::kContent, member.text_or(""));
        } else if (key == "finish_reason") {
          if (facts_.finish_reason.empty()) {
            keep(facts_.finish_reason, member.text_or(""), kWordBytesMax);
          }
        } else {
          read_engine_member(key, member, facts_.engine);
        }
      });
    });
  }

  void response_field(std::string_view key, const json::Value& value) {
    if (key == "output") {
      facts_.has_answer = value.kind() == json::Kind::kArray;
      count_responses_output(value.array(), count_);
    } else if (key == "status") {
      keep(facts_.finish_reason, value.text_or(""), kWordBytesMax);
      facts_.error |= facts_.finish_reason == "failed";
    } else if (key == "incomplete_details") {
      keep(incomplete_reason_, value.object().find("reason").text_or(""), kWordBytesMax);
    }
  }

  void message_field(std::string_view key, const json::Value& value) {
    if (key == "content") {
      facts_.has_answer = value.kind() == json::Kind::kArray;
      count_messages_content(value.array(), count_);
    } else if (key == "stop_reason") {
      keep(facts_.finish_reason, value.text_or(""), kWordBytesMax);
    } else if (key == "input_tokens" && value.kind() == json::Kind::kNumber) {
      facts_.has_answer = true;
      facts_.counted_tokens = value.integer().value_or(-1);
    }
  }

  Dialect dialect_;
  AnswerFacts& facts_;
  TextCount count_;
  std::string incomplete_reason_;
};

}  // namespace

Result<AnswerFacts> scan_answer(Dialect dialect, std::string_view body) {
  const auto blame = [&](const Error& error) {
    return fail(ErrorCode::kUpstreamDialect,
                concat("the channel's answer is not a complete JSON object: ", excerpt(body)),
                error.message);
  };
  json::Document document(ErrorCode::kUpstreamDialect);
  if (const Status opened = document.open(body); !opened) return blame(opened.error());
  AnswerFacts facts;
  AnswerReader reader(dialect, facts);
  document.root().each(
      [&](std::string_view key, const json::Value& value) { reader.field(key, value); });
  if (const Status finished = document.finish(); !finished) return blame(finished.error());
  reader.finish();
  return facts;
}

Result<int64_t> read_token_count(std::string_view body) {
  json::Document document(ErrorCode::kUpstreamDialect);
  if (Status opened = document.open(body); !opened) return fail(std::move(opened.error()));
  const auto count = document.root().find("count").integer();
  if (Status whole = document.finish(); !whole) return fail(std::move(whole.error()));
  if (!count || *count < 0)
    return fail(ErrorCode::kUpstreamDialect, "the answer to /tokenize has no count of tokens");
  return *count;
}

}  // namespace hw::wire
