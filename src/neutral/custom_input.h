// Custom input: the free text of a custom tool's call, put into the one string argument that a
// function of the same name has instead, {"input": "..."}, and taken out again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "neutral/request.h"

namespace hw::translate {

// The arguments' schema of a function that stands for a custom tool.
inline constexpr std::string_view kCustomInputSchema =
    R"({"type":"object","properties":{"input":{"type":"string"}},"required":["input"]})";

// What stands before and behind the escaped text in such arguments, for those who write them piece
// by piece.
inline constexpr std::string_view kCustomInputOpen = R"({"input":")";
inline constexpr std::string_view kCustomInputClose = R"("})";

// Appends {"input":"<text>"}: the JSON of the arguments.
void append_custom_arguments(std::string& out, const Text& text);

// Appends the description of such a function, a text: the tool's own, and its grammar behind it
// where it has one. Nothing where it has neither.
void append_custom_description(std::string& out, const Tool& tool);

// Takes the text out of arguments that come in any pieces.
//
//   for each fragment: input.feed(fragment, text);   // `text` has grown by what is known of it
//   input.end(text);
//
// Arguments that are no object with a string `input` are the text themselves, since a model that
// ignores the schema mostly means them so. Where they begin with an object they are held until its
// `input` comes, at most kHeldBytesMax of them.
class CustomInput {
 public:
  static constexpr size_t kHeldBytesMax = size_t{64} * 1024;

  // Appends what the next fragment, JSON text, adds.
  void feed(std::string_view fragment, std::string& out);
  // The arguments are complete.
  void end(std::string& out);

 private:
  enum class State : uint8_t {
    kStart,     // before the brace
    kKey,       // before a member's name
    kInKey,     // in it
    kColon,     // behind it
    kValue,     // before a member's value
    kSkip,      // in the value of another member
    kSkipText,  // in a string of such a value
    kText,      // in the text
    kOver,      // behind it
    kAsItIs,    // no such object
  };
  void step(char c, std::string& out);
  void step_in_key(char c);
  void step_in_value(char c);
  void step_in_skipped(char c);
  void step_in_text(char c, std::string& out);
  void take_escape(char c, std::string& out);
  void take_unicode(char c, std::string& out);
  void give_up(std::string& out);

  State state_ = State::kStart;
  std::string held_;  // all arguments so far, until the text begins
  std::string key_;   // name of the member; longer ones are cut
  bool escaped_ = false;
  uint8_t digits_ = 0;  // of a \u escape that are still to come
  uint32_t code_ = 0;   // what they say so far
  uint32_t high_ = 0;   // first half of a surrogate pair
  uint32_t depth_ = 0;  // brackets open in the value that is skipped
};

// Appends the text of complete arguments; `arguments` is their JSON text.
void append_custom_input(std::string& out, const Text& arguments);

}  // namespace hw::translate
