// MessagesTurnWriter: the turns of a request as messages wants them: the system text in front, then
// user and assistant in turns, results of tools first in theirs, thinking first and signed.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "neutral/fidelity.h"
#include "neutral/request.h"

namespace hw::translate {

// Walks the turns once. The request and the account outlive it.
class MessagesTurnWriter {
 public:
  MessagesTurnWriter(const Request& request, Fidelity& fidelity);

  // The blocks of `system`, elements of a JSON array; empty: there are none.
  const std::string& system() const { return system_; }
  // The elements of `messages`; at least one.
  const std::string& messages() const { return messages_; }
  // Whether the running turn, which began with the user's last words, has calls of tools that no
  // thinking precedes, or ends with words of the assistant's that none does; with `thinking`
  // switched on, such a history is refused.
  bool lacks_thinking() const { return lacks_thinking_; }

 private:
  void write_turn(const Turn& turn);
  void write_system(const Turn& turn);
  void write_part(Role role, const Part& part);
  void write_text(Role role, const Part& part);
  void write_reasoning(const Part& part);
  void write_call(const Part& part);
  void write_result(const Part& part);
  void write_result_content(std::string& out, const Part& part);
  void write_media(Role role, const Part& part);
  void begin(Role role);
  std::string& next_block();
  void flush();
  void write_message();

  Fidelity& fidelity_;
  std::string system_, messages_;
  // The message that is being made: results stand in front of the other blocks.
  Role role_ = Role::kSystem;  // none yet
  std::string results_, blocks_;
  size_t solid_ = 0;  // bytes of blocks_ up to the last block that is no thinking
  bool has_call_ = false, begins_with_thinking_ = false;
  Role last_ = Role::kSystem;  // of the message written last
  bool last_begins_with_thinking_ = false;
  bool conversation_ = false;  // a user or the assistant has spoken
  bool lacks_thinking_ = false;
};

}  // namespace hw::translate
