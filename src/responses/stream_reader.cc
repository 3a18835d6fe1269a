// Reads the stream of a response. Items come one after another, each with its parts; what servers
// leave out (part starts, indices, all deltas of an item) is made up for.
#include <string>
#include <vector>

#include "json/check.h"
#include "responses/dialect.h"
#include "responses/open_blocks.h"
#include "responses/output_reader.h"

namespace hw::translate {
namespace {

// The members of an event, whatever its type.
struct Members {
  json::Value type, response, item, part, delta, text, arguments, input, refusal, annotation,
      logprobs, item_id, output_index, content_index, summary_index, error;
};
struct Place {
  std::string_view name;
  json::Value Members::* value;
};
constexpr Place kPlaces[] = {
    {"type", &Members::type},
    {"delta", &Members::delta},
    {"item_id", &Members::item_id},
    {"output_index", &Members::output_index},
    {"content_index", &Members::content_index},
    {"summary_index", &Members::summary_index},
    {"logprobs", &Members::logprobs},
    {"item", &Members::item},
    {"part", &Members::part},
    {"text", &Members::text},
    {"arguments", &Members::arguments},
    {"input", &Members::input},
    {"refusal", &Members::refusal},
    {"annotation", &Members::annotation},
    {"response", &Members::response},
    {"error", &Members::error},
};

// Where an item is told apart from others: by its place in the output, else by its id.
int64_t item_key(const json::Value& output_index, std::string_view id) {
  if (const auto index = output_index.integer()) return *index;
  constexpr uint64_t kPrime = 0x100000001B3;
  uint64_t hash = 0xCBF29CE484222325;
  for (const char c : id) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  return -1 - static_cast<int64_t>(hash >> 1);
}

class ResponsesStreamReader final : public StreamReader {
 public:
  void read(const http::SseEvent& event, Events& out) override;
  void end(Events& out) override;

 private:
  using Handle = void (ResponsesStreamReader::*)(const Members&);
  struct Handler {
    std::string_view type;
    Handle handle;
  };
  static const Handler kHandlers[];

  void begin_answer(const Members& members);
  void stay_alive(const Members& members);
  void add_text(const Members& members);
  void add_refusal(const Members& members);
  void add_summary(const Members& members);
  void add_words(const Members& members);
  void add_arguments(const Members& members);
  void make_up_text(const Members& members);
  void make_up_refusal(const Members& members);
  void make_up_arguments(const Members& members);
  void make_up_input(const Members& members);
  void add_annotation(const Members& members);
  void begin_part(const Members& members);
  void end_part(const Members& members);
  void begin_item(const Members& members);
  void end_item(const Members& members);
  void end_answer(const Members& members);
  void break_off(const Members& members);

  void start(json::Object response);
  int64_t key_of(const Members& members) const {
    return item_key(members.output_index, members.item_id.text_or(""));
  }
  using Open = OpenBlocks::Open;
  void add_reasoning(const Members& members, int64_t section, bool raw_words);
  Open* ensure(int64_t item, int64_t part, BlockKind kind) {
    start({});
    return open_.ensure(item, part, kind, *out_);
  }
  void say(Open& open, const Text& text) { open_.say(open, text, *out_); }

  Events* out_ = nullptr;  // of the call that is running
  std::string_view data_;  // of the event that is read
  std::string_view type_;  // of that event
  OutputSoFar so_far_;
  OpenBlocks open_{so_far_};
  bool started_ = false;
  bool in_progress_ = false;
  bool over_ = false;
};

const ResponsesStreamReader::Handler ResponsesStreamReader::kHandlers[] = {
    {"response.output_text.delta", &ResponsesStreamReader::add_text},
    {"response.function_call_arguments.delta", &ResponsesStreamReader::add_arguments},
    {"response.reasoning_summary_text.delta", &ResponsesStreamReader::add_summary},
    {"response.reasoning_text.delta", &ResponsesStreamReader::add_words},
    {"response.custom_tool_call_input.delta", &ResponsesStreamReader::add_arguments},
    {"response.refusal.delta", &ResponsesStreamReader::add_refusal},
    {"response.output_text.done", &ResponsesStreamReader::make_up_text},
    {"response.refusal.done", &ResponsesStreamReader::make_up_refusal},
    {"response.function_call_arguments.done", &ResponsesStreamReader::make_up_arguments},
    {"response.custom_tool_call_input.done", &ResponsesStreamReader::make_up_input},
    {"response.output_text.annotation.added", &ResponsesStreamReader::add_annotation},
    {"response.content_part.added", &ResponsesStreamReader::begin_part},
    {"response.content_part.done", &ResponsesStreamReader::end_part},
    {"response.output_item.added", &ResponsesStreamReader::begin_item},
    {"response.output_item.done", &ResponsesStreamReader::end_item},
    {"response.created", &ResponsesStreamReader::begin_answer},
    {"response.queued", &ResponsesStreamReader::stay_alive},
    {"response.in_progress", &ResponsesStreamReader::stay_alive},
    {"keepalive", &ResponsesStreamReader::stay_alive},
    {"response.completed", &ResponsesStreamReader::end_answer},
    {"response.incomplete", &ResponsesStreamReader::end_answer},
    {"response.failed", &ResponsesStreamReader::end_answer},
    {"error", &ResponsesStreamReader::break_off},
};

void ResponsesStreamReader::read(const http::SseEvent& event, Events& out) {
  if (over_) return;
  json::Document document(ErrorCode::kUpstreamDialect);
  if (!document.open(event.data)) return;
  Members members;
  document.root().each([&](std::string_view key, const json::Value& value) {
    for (const Place& place : kPlaces) {
      if (key != place.name) continue;
      members.*place.value = value;
      return;
    }
  });
  type_ = members.type.text_or(event.type);
  for (const Handler& handler : kHandlers) {
    if (type_ != handler.type) continue;
    out_ = &out;
    data_ = event.data;
    (this->*handler.handle)(members);
    return;
  }
}

void ResponsesStreamReader::end(Events& out) {
  if (over_) return;
  over_ = true;
  out_ = &out;
  start({});
  open_.end_all(*out_);
  Finished finished;
  finished.reason = so_far_.tool_called ? StopReason::kToolUse : StopReason::kEnd;
  out.push_back(finished);
}

void ResponsesStreamReader::start(json::Object response) {
  if (started_) return;
  started_ = true;
  Started started;
  response.each([&](std::string_view key, const json::Value& value) {
    if (key == "id") started.id = Text::of(value);
    if (key == "model") started.model = Text::of(value);
    if (key == "usage") wire::read_usage(Dialect::kOpenaiResponses, value.object(), started.usage);
  });
  out_->push_back(started);
}

void ResponsesStreamReader::begin_answer(const Members& members) {
  start(members.response.object());
}

// The first one belongs to the beginning; those that repeat it say that the upstream is alive.
void ResponsesStreamReader::stay_alive(const Members& members) {
  if (members.response.kind() == json::Kind::kObject) start(members.response.object());
  if (in_progress_) out_->push_back(Ping{});
  in_progress_ = true;
}

void ResponsesStreamReader::end_answer(const Members& members) {
  over_ = true;
  const json::Object response = members.response.object();
  const bool failed = type_.ends_with(".failed");
  if (failed) return read_responses_end(response, so_far_, *out_);
  start(response);
  open_.end_all(*out_);
  if (so_far_.next_block == 0 && json::is_json_object(data_)) {
    response.find("output").array().each(
        [&](const json::Value& item) { read_responses_item(item, so_far_, *out_); });
  }
  read_responses_end(response, so_far_, *out_);
}

void ResponsesStreamReader::break_off(const Members& members) {
  over_ = true;
  Failed failed;
  if (members.error.is_null()) {
    json::Document document(ErrorCode::kUpstreamDialect);
    if (document.open(data_)) wire::read_error(document.root(), failed.words);
    failed.words.type.clear();  // it was the event's: "error"
  } else {
    wire::read_error(members.error, failed.words);
  }
  name_responses_error(failed.words);
  out_->push_back(std::move(failed));
}

void ResponsesStreamReader::begin_item(const Members& members) {
  const json::Object item = members.item.object();
  start({});
  open_.begin_call(item_key(members.output_index, item.find("id").text_or("")), item, *out_);
}

void ResponsesStreamReader::end_item(const Members& members) {
  const json::Object item = members.item.object();
  const int64_t key = item_key(members.output_index, item.find("id").text_or(""));
  start({});
  if (open_.end_item(key, item, *out_)) return;
  if (json::is_json_object(data_)) read_responses_item(members.item, so_far_, *out_);
}

void ResponsesStreamReader::begin_part(const Members& members) {
  const std::string_view type = members.part.object().find("type").text_or("");
  const int64_t part = members.content_index.integer().value_or(0);
  if (type == "output_text") ensure(key_of(members), part, BlockKind::kText);
  if (type == "refusal") ensure(key_of(members), part, BlockKind::kRefusal);
}

void ResponsesStreamReader::end_part(const Members& members) {
  open_.end_part(key_of(members), members.content_index.integer().value_or(0), *out_);
}

void ResponsesStreamReader::add_text(const Members& members) {
  Open* open =
      ensure(key_of(members), members.content_index.integer().value_or(0), BlockKind::kText);
  if (open == nullptr) return;
  say(*open, Text::of(members.delta));
  if (!members.logprobs.array().first().is_null() && json::is_json_object(data_))
    read_responses_logprobs(members.logprobs, open->block, *out_);
}

void ResponsesStreamReader::add_refusal(const Members& members) {
  Open* open =
      ensure(key_of(members), members.content_index.integer().value_or(0), BlockKind::kRefusal);
  if (open != nullptr) say(*open, Text::of(members.delta));
}

void ResponsesStreamReader::add_summary(const Members& members) {
  add_reasoning(members, members.summary_index.integer().value_or(0), false);
}

void ResponsesStreamReader::add_words(const Members& members) {
  add_reasoning(members, members.content_index.integer().value_or(0), true);
}

// Where a server tells both a summary and the words, the first that came is the block's.
void ResponsesStreamReader::add_reasoning(const Members& members, int64_t section, bool raw_words) {
  const Text text = Text::of(members.delta);
  const int64_t item = key_of(members);
  if (text.empty()) return;
  Open* open = open_.find(item, 0, BlockKind::kReasoning);
  if (open == nullptr) {
    open = ensure(item, section, BlockKind::kReasoning);
    if (open == nullptr) return;
    open->raw_words = raw_words;
  }
  if (open->raw_words != raw_words) return;
  Delta delta;
  delta.block = open->block;
  delta.text = text;
  delta.new_section = open->said && open->part != section;
  open->part = section;
  open->said = true;
  out_->push_back(delta);
}

void ResponsesStreamReader::add_arguments(const Members& members) {
  Open* open = open_.find(key_of(members), 0, BlockKind::kToolCall);
  if (open != nullptr) say(*open, Text::of(members.delta));
}

void ResponsesStreamReader::make_up_text(const Members& members) {
  const Text text = Text::of(members.text);
  if (text.empty()) return;
  const int64_t part = members.content_index.integer().value_or(0);
  Open* open = ensure(key_of(members), part, BlockKind::kText);
  if (open != nullptr && !open->said) say(*open, text);
}

void ResponsesStreamReader::make_up_refusal(const Members& members) {
  const Text text = Text::of(members.refusal);
  if (text.empty()) return;
  const int64_t part = members.content_index.integer().value_or(0);
  Open* open = ensure(key_of(members), part, BlockKind::kRefusal);
  if (open != nullptr && !open->said) say(*open, text);
}

void ResponsesStreamReader::make_up_arguments(const Members& members) {
  Open* open = open_.find(key_of(members), 0, BlockKind::kToolCall);
  if (open != nullptr && !open->said) say(*open, Text::of(members.arguments));
}

void ResponsesStreamReader::make_up_input(const Members& members) {
  Open* open = open_.find(key_of(members), 0, BlockKind::kToolCall);
  if (open != nullptr && !open->said) say(*open, Text::of(members.input));
}

void ResponsesStreamReader::add_annotation(const Members& members) {
  const Open* open =
      open_.find(key_of(members), members.content_index.integer().value_or(0), BlockKind::kText);
  if (open == nullptr || !json::is_json_object(data_)) return;
  Delta delta;
  delta.block = open->block;
  delta.kind = Delta::Kind::kAnnotation;
  delta.raw = members.annotation.raw();
  if (!delta.raw.empty()) out_->push_back(delta);
}

}  // namespace

std::unique_ptr<StreamReader> make_responses_stream_reader() {
  return std::make_unique<ResponsesStreamReader>();
}

}  // namespace hw::translate
