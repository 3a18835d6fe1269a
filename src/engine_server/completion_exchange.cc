#include "engine_server/completion_exchange.h"

#include <algorithm>
#include <utility>

#include "base/ids.h"
#include "base/text.h"
#include "engine_server/prompt_tokens.h"
#include "engine_server/reply.h"
#include "http/chunked.h"
#include "http/head.h"
#include "wire/error_body.h"

namespace hw::engine_server {
namespace {

// No vocabulary has longer tokens; so a longer text has too many of them for sure, and need not be
// tokenised to find out.
constexpr size_t kTokenBytesMax = 128;
constexpr size_t kRequestIdBytesMax = 128;

bool completed(engine::FinishReason reason) {
  return reason == engine::FinishReason::kStop || reason == engine::FinishReason::kLength;
}

bool usable_id(std::string_view id) {
  return !id.empty() && id.size() <= kRequestIdBytesMax && http::is_token(id);
}

}  // namespace

CompletionExchange::CompletionExchange(const Services& services, http::ServerConnection& client,
                                       Dialect dialect)
    : services_(services), client_(client) {
  identity_.dialect = dialect;
}

CompletionExchange::~CompletionExchange() {
  if (answer_ == nullptr) return;
  answer_->detach();
  if (!ended_) services_.engine.abort(number_);
}

net::Task<void> CompletionExchange::run(std::string_view request_id) {
  request_id_ = usable_id(request_id)
                    ? std::string(request_id)
                    : std::string(RequestId::make(wall_ns(), services_.random).view());
  Status started = co_await client_.read_body(kBodyBytesMax, monotonic_ns() + kBodyTimeout);
  if (!started && started.error().code == ErrorCode::kClientGone) co_return;
  if (started) started = co_await start();
  if (!started) {
    const Reply reply = error_reply(started.error(), request_id_);
    co_await send_reply(client_, reply);
    co_return;
  }
  client_.release_request();
  if (request_.stream) {
    co_await stream();
  } else {
    co_await collect();
  }
}

net::Task<Status> CompletionExchange::start() {
  Status done = read_request();
  if (done) done = co_await tokenise();
  if (done) done = submit();
  co_return done;
}

Status CompletionExchange::read_request() {
  Result<CompletionRequest> read = read_completion_request(identity_.dialect, client_.body());
  if (!read) return fail(std::move(read.error()));
  request_ = std::move(*read);
  if (request_.model != services_.model_id) return fail(wire::unknown_model(request_.model));
  const int input_len_max = services_.engine.limits().scheduling.input_len_max();
  const auto tokens_least = static_cast<int64_t>(request_.text_bytes() / kTokenBytesMax);
  if (tokens_least > input_len_max) {
    return fail(ErrorCode::kBadRequest,
                concat("the prompt has more than ", tokens_least,
                       " tokens; this instance takes at most ", input_len_max));
  }
  return {};
}

// A long text takes its time, in which other answers' tokens must not wait on this loop.
net::Task<Status> CompletionExchange::tokenise() {
  Result<std::vector<engine::Token>> made;
  if (request_.text_bytes() <= kTokeniseHereMax) {
    made = prompt_tokens(request_, services_.tokenizer);
  } else {
    std::function<void()> job = [this, &made] {
      made = prompt_tokens(request_, services_.tokenizer);
    };
    const bool ran = co_await services_.blocking.run(services_.loop, job);
    if (!ran) co_return fail(ErrorCode::kOverloaded, "too many long prompts wait; try again soon");
  }
  if (!made) co_return fail(std::move(made.error()));
  prompt_ = std::move(*made);
  co_return Status{};
}

Status CompletionExchange::submit() {
  engine::Request wanted;
  wanted.prompt = std::move(prompt_);
  wanted.output_tokens_max = static_cast<int>(request_.output_tokens_max);
  wanted.sampling = request_.sampling;
  if (!request_.seeded) wanted.sampling.seed = services_.random.next();
  wanted.stop = std::move(request_.stop);
  wanted.ignore_end = request_.ignore_end;
  wanted.priority = static_cast<int>(request_.priority);
  wanted.cache_salt = std::move(request_.cache_salt);
  wanted.id = request_id_;

  auto answer = std::make_shared<Answer>(services_.loop, client_.event());
  const Result<engine::RequestNumber> number = services_.engine.submit(std::move(wanted), answer);
  if (!number) return fail(number.error());
  answer_ = std::move(answer);
  number_ = *number;
  const bool chat = identity_.dialect == Dialect::kOpenaiChat;
  identity_.id = concat(chat ? "chatcmpl-" : "cmpl-", request_id_);
  identity_.model = services_.model_id;
  identity_.created_s = wall_ns() / kSecond;
  return {};
}

// The head goes out with the first news, so that what fails before has its own status.
net::Task<void> CompletionExchange::stream() {
  const ChunkWriter writer(identity_, request_.include_usage ? ChunkWriter::Usage::kLastChunk
                                                             : ChunkWriter::Usage::kNone);
  std::string out;
  bool begun = false;
  while (!ended_) {
    const net::Signals got = co_await client_.event().wait(kNews | http::kGone);
    if ((got & http::kGone) != 0) co_return;
    const engine::Update news = answer_->take();
    ended_ = news.ending.has_value();
    if (!begun && ended_ && !completed(news.ending->reason)) {
      const Error error = failure(news.ending->reason);
      const Reply reply = error_reply(error, request_id_);
      co_await send_reply(client_, reply);
      co_return;
    }
    out.clear();
    if (!begun) append_stream_head(out, client_, request_id_);
    const size_t chunk = client_.http_1_0() ? 0 : http::begin_chunk(out);
    if (!begun) writer.append_role(out);
    begun = true;
    compose(out, news, writer);
    if (!client_.http_1_0()) http::end_chunk(out, chunk);
    const bool whole = ended_ && completed(news.ending->reason);
    if (whole && !client_.http_1_0()) out += http::kLastChunk;
    if (ended_ && !whole) client_.break_off();
    const bool written = co_await client_.write(std::string_view(out));
    if (!written) co_return;
  }
}

// The events that a piece of news becomes.
void CompletionExchange::compose(std::string& out, const engine::Update& news,
                                 const ChunkWriter& writer) {
  if (!news.text.empty()) writer.append_text(out, news.text);
  if (!news.ending) return;
  if (completed(news.ending->reason)) {
    writer.append_end(out, *news.ending);
  } else {
    wire::append_error_event(out, identity_.dialect, failure(news.ending->reason), request_id_,
                             nullptr);
  }
}

net::Task<void> CompletionExchange::collect() {
  std::string text;
  std::optional<engine::Ending> ending;
  while (!ending) {
    const net::Signals got = co_await client_.event().wait(kNews | http::kGone);
    if ((got & http::kGone) != 0) co_return;
    engine::Update news = answer_->take();
    text += news.text;
    ending = news.ending;
  }
  ended_ = true;
  Reply reply;
  if (completed(ending->reason)) {
    reply.body = completion_body(identity_, text, *ending);
    reply.request_id = request_id_;
    reply.server_timing = server_timing(ending->record);
  } else {
    reply = error_reply(failure(ending->reason), request_id_);
  }
  co_await send_reply(client_, reply);
}

// What to say of an answer that the engine did not finish.
Error CompletionExchange::failure(engine::FinishReason reason) const {
  switch (reason) {
    case engine::FinishReason::kTimeout:
      return Error(ErrorCode::kTimeoutTotal,
                   concat("the instance did not finish the answer within ",
                          services_.request_timeout_s, " s (request_timeout_seconds)"));
    case engine::FinishReason::kAborted:
      return Error(ErrorCode::kDraining, "the instance is shutting down");
    case engine::FinishReason::kStop:
    case engine::FinishReason::kLength:
    case engine::FinishReason::kError:
      break;
  }
  return Error(ErrorCode::kInternal, "the instance failed to compute the answer; see its log");
}

}  // namespace hw::engine_server
