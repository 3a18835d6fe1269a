// Writes an answer as the stream of a response, and knows the whole response when it is over.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "neutral/custom_input.h"
#include "responses/dialect.h"
#include "responses/events.h"
#include "responses/output.h"

namespace hw::translate {

// Texts and refusals that follow each other are parts of one message; thinking and each call are
// items of their own. Everything is told as it comes, and once more at its end.
class ResponsesStreamWriter final : public StreamWriter {
 public:
  // Of all texts together; what is beyond is told as it comes and not repeated at the end.
  static constexpr size_t kKeptBytesMax = size_t{32} << 20;

  // Both outlive the writer.
  ResponsesStreamWriter(const Reply& reply, Fidelity& fidelity)
      : fidelity_(fidelity), output_(reply) {}

  void write(const Event& event, std::string& out) override;
  void end(std::string& out) override;
  void fail(const Error& error, std::string& out) override;
  void heartbeat(std::string& out) override;
  bool failed() const override { return failure_.has_value(); }

  // Appends the response object as it stands, complete behind end().
  void append_response(std::string& out) const;

 private:
  // A block that has begun and not ended.
  struct Live {
    uint32_t block = 0;
    BlockKind kind = BlockKind::kText;
    size_t item = 0;
    size_t part = 0;
    bool begun = false;  // the client knows of it; texts begin with their first piece
    std::unique_ptr<CustomInput> custom;  // takes the input out of a function's arguments
  };

  void start(std::string& out);
  void begin(const BlockBegun& begun, std::string& out);
  void begin_call(const BlockBegun& begun, Live& live, std::string& out);
  void begin_part(Live& live, std::string& out);
  void write_delta(const Delta& delta, std::string& out);
  void write_text(Live& live, const Text& text, std::string& out);
  void write_thinking(Live& live, const Delta& delta, std::string& out);
  void write_arguments(Live& live, const Text& text, std::string& out);
  void tell_arguments(const Live& live, const Text& text, std::string& out);
  void add_annotation(Live& live, Raw raw, std::string& out);
  void add_logprobs(Live& live, Raw raw, std::string& out);
  void end_block(uint32_t block, std::string& out);
  void end_live(Live& live, std::string& out);
  void end_part(const Live& live, std::string& out);
  void end_section(size_t item, std::string& out);
  void end_call(Live& live, std::string& out);
  void end_item(size_t item, ItemStatus status, std::string& out);
  void end_message(ItemStatus status, std::string& out);
  void finish(StopReason reason, std::string& out);
  void break_off(wire::SpokenError error, std::string& out);

  Live* find(uint32_t block);
  OutputItem& item_of(const Live& live) { return output_.items()[live.item]; }
  // Appends to what is repeated at the end: text, or one more element of a list.
  void keep(std::string& kept, const Text& text);
  void keep_element(std::string& list, std::string_view element);
  bool has_room(size_t bytes);

  void begin_part_event(std::string& out, std::string_view type, const Live& live);
  void write_response_event(std::string& out, std::string_view type);

  Fidelity& fidelity_;
  ResponsesOutput output_;
  ResponsesEvents events_{output_};
  std::vector<Live> live_;
  std::optional<size_t> message_;  // the item of the message that is open
  size_t kept_bytes_ = 0;
  bool started_ = false;
  bool cut_ = false;  // more came than was kept
  ItemStatus status_ = ItemStatus::kInProgress;
  StopReason reason_ = StopReason::kEnd;
  std::optional<wire::SpokenError> failure_;
};

}  // namespace hw::translate
