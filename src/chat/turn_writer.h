// ChatTurnWriter: turns become the messages of chat.
#pragma once

#include <string>

#include "neutral/fidelity.h"
#include "neutral/request.h"

namespace hw::translate {

// Writes the elements of `messages`. Neighbouring turns of the assistant are one message, so that
// all calls of a round stand in one; the results follow it at once, in front of everything else
// that was said before the assistant's next message, as OpenAI wants it. Contents of nothing but
// text are one string, since many servers take no parts.
class ChatTurnWriter {
 public:
  ChatTurnWriter(Fidelity& fidelity, std::string& out) : fidelity_(fidelity), out_(out) {}

  // Appends the elements to `out`, which ends in the bracket that opens them.
  void write(const Request& request);

 private:
  // What one message of the assistant is made of, each as it will stand between its brackets or
  // quotes.
  struct Assistant {
    std::string text, refusal, reasoning, details, calls;
    bool open = false;
  };

  void write_turn(const Turn& turn);
  void write_words(std::string_view role, const Turn& turn);
  void write_result(const Part& result);
  void write_shown(const Part& result);
  void take_assistant(const Turn& turn);
  void take_part(const Part& part, bool first_text);
  void take_reasoning(const Part& part);
  void take_call(const Part& part);
  void end_assistant();
  void end_words();
  bool append_part(const Part& part, std::string& out);
  void meet_marks(const Part& part);
  void begin_message(std::string& out, std::string_view role);

  Fidelity& fidelity_;
  std::string& out_;
  std::string words_;  // messages that wait for the results of calls
  Assistant assistant_;
};

}  // namespace hw::translate
