// Writes the turns of a request as input items of responses.
#pragma once

#include <string>
#include <vector>

#include "neutral/fidelity.h"
#include "neutral/request.h"

namespace hw::translate {

// Writes one request's turns. A turn becomes a message for the parts that a message can hold, and
// an item of its own for each piece of thinking, call of a tool and result; in their order.
class ResponsesTurnWriter {
 public:
  // Appends to `out`; all outlive the writer.
  ResponsesTurnWriter(const Request& request, Fidelity& fidelity, std::string& out)
      : request_(request), fidelity_(fidelity), out_(out) {}

  // Appends the items, commas between them.
  void write();
  // Whether thinking of the upstream's own went back to it.
  bool gives_reasoning() const { return gives_reasoning_; }

 private:
  void write_turn(const Turn& turn);
  void write_part(Role role, const Part& part);
  void write_text(Role role, const Part& part);
  void write_refusal(Role role, const Part& part);
  void write_media(Role role, const Part& part);
  void write_reasoning(const Part& part);
  void write_call(const Part& part);
  void write_result(const Part& part);
  void write_output_text(const Part& part);
  void write_output_parts(const Part& part);

  // True where media can be said; a feature's rule is met.
  bool says_media(const Part& part);
  // A part of a content, comma in front where it is not the first of `content`.
  void begin_part(bool& first);
  void append_media(const Part& part);
  void append_image(const Part& part);
  void append_file(const Part& part);
  void append_audio(const Part& part);
  void append_document_text(const Part& part);

  void begin_item();
  void begin_content(Role role);
  void end_message();
  bool is_custom(const Part& result) const;

  const Request& request_;
  Fidelity& fidelity_;
  std::string& out_;
  bool first_item_ = true;
  bool in_message_ = false;
  bool first_part_ = true;
  bool gives_reasoning_ = false;
  std::vector<std::string> custom_calls_;  // ids of the calls of custom tools
};

}  // namespace hw::translate
