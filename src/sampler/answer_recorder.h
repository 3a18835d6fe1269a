// AnswerRecorder: reads along with the answer to one request and stamps what it sees into the
// request's record. Sans-I/O: it is handed the bytes of each read and the clock straight after it.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "http/response_reader.h"
#include "runs/record.h"
#include "sampler/target.h"
#include "wire/stream_observer.h"

namespace hw::sampler {

// Why nothing more will be read of an answer.
enum class AnswerEnd : uint8_t {
  kComplete,   // its framing says so
  kClosed,     // the server ended the connection
  kReset,      // the connection broke
  kTimeout,    // one of our limits
  kCancelled,  // we want no more of it
};

// Takes one answer. Not thread-safe.
//
//   while (read) { if (!recorder.take(bytes, now)) break; }   // false: nothing more belongs to it
//   recorder.finish(end, error_class, now);                   // once; decides the outcome
//
// What the answer says is bounded and never trusted: what is no HTTP, no stream, or no answer of
// the dialect is an outcome of the record, not an error.
class AnswerRecorder {
 public:
  // Writes into `record`; `head` is scratch, used during take() only. Both outlive this.
  AnswerRecorder(Dialect dialect, Delivery delivery, runs::Record& record,
                 http::ResponseHead& head);

  // The bytes of one read, which returned at `at`. False once the answer is complete or broken.
  bool take(std::string_view bytes, Nanos at);
  // Nothing more comes, for `end`; the outcome is decided. `limit` names what timed out ("total",
  // "grace"); it is not used otherwise.
  void finish(AnswerEnd end, std::string_view limit, Nanos at);

  // A byte of an answer has come: the request must not be sent again.
  bool begun() const { return begun_; }
  // The stream has had its last event, or all that its dialect demands; a server that keeps the
  // connection open has answered all the same.
  bool answered() const { return observer_.finished() || observer_.error_seen(); }
  // The connection may serve another request. After take() said false.
  bool reusable() const { return reader_.reusable() && !broken_; }
  // The answer came through a Headway, whose id the record has.
  bool from_headway() const { return from_headway_; }
  // The failure in the answer's own words, for people; may be empty.
  const wire::ErrorWords& error_words() const { return words_; }
  // The first bytes of an answer that was not streamed.
  const std::string& body() const { return body_; }

 private:
  enum class Body : uint8_t {
    kEvents,   // a stream, as asked for
    kWhole,    // an answer in one piece, an error, or something else
    kEncoded,  // in a coding that was not asked for
  };
  void take_head(Nanos at);
  bool take_body(std::string_view piece, Nanos at);
  void take_facts(const wire::EventFacts& fact, Nanos at);
  void look_at_state(Nanos at);
  void close_read();
  void look_into_rest();

  void conclude(AnswerEnd end, std::string_view limit);
  void conclude_stream(AnswerEnd end, std::string_view limit);
  void conclude_whole();
  void conclude_without_head(AnswerEnd end, std::string_view limit);
  void conclude_interrupted(AnswerEnd end, std::string_view limit);
  void take_usage(const wire::Usage& usage);
  void take_engine(const wire::EngineTimes& times);
  void set(runs::RequestOutcome outcome, std::string_view error_class);
  void mark(std::string_view name);

  const Dialect dialect_;
  const Delivery delivery_;
  runs::Record& record_;
  http::ResponseHead& head_;
  http::ResponseReader reader_;
  wire::StreamObserver observer_;
  wire::EngineTimes header_times_;
  wire::Usage usage_seen_;
  wire::ErrorWords words_;
  std::string body_;
  Body kind_ = Body::kWhole;
  std::string_view fault_;  // class of what broke the protocol; empty: nothing did
  size_t tokens_before_ = 0;
  uint32_t tokens_in_read_ = 0;
  bool said_events_ = false;  // by its Content-Type
  bool begun_ = false, broken_ = false, body_begun_ = false, body_cut_ = false;
  bool from_headway_ = false, reasoning_seen_ = false;
};

}  // namespace hw::sampler
