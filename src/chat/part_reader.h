// Reads the content of a message of chat: a string, or an array of parts.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/scan.h"
#include "neutral/request.h"

namespace hw::translate {

// A member's name, and where it is kept.
template <class Members>
struct ChatMember {
  std::string_view name;
  json::Value Members::* place;
};

// Keeps `value` where `members` has a place for it; false where it has none.
template <class Members, size_t N>
bool keep_chat_member(const ChatMember<Members> (&places)[N], std::string_view key,
                      const json::Value& value, Members& members) {
  for (const ChatMember<Members>& place : places) {
    if (key != place.name) continue;
    members.*place.place = value;
    return true;
  }
  return false;
}

// A list with something in it, else nothing.
Raw chat_list(const json::Value& value);

// The members of a part (in the .cc file).
struct ChatPart;

// Reads the parts of messages, of one request.
class ChatPartReader {
 public:
  // `parts_left` is how many parts the request may still have.
  ChatPartReader(Request& out, size_t& parts_left) : out_(out), parts_left_(parts_left) {}

  // Appends what `content` of the message with that number says. Parts of unknown types become
  // foreign ones; kBadRequest names the member that has another shape than chat's.
  Status read(const json::Value& content, size_t message, std::vector<Part>& parts);

 private:
  template <class... Parts>
  Status wrong(std::string_view expected, const Parts&... path) const;
  Status read_part(const json::Value& value, size_t at, std::vector<Part>& parts);
  void note_others(json::Object part);
  Status read_known(const ChatPart& part, std::string_view type, size_t at,
                    std::vector<Part>& parts);
  Status read_image(const ChatPart& part, size_t at, std::vector<Part>& parts);
  Status read_audio(const ChatPart& part, size_t at, std::vector<Part>& parts);
  Status read_file(const ChatPart& part, size_t at, std::vector<Part>& parts);
  void read_thinking(const ChatPart& part, std::vector<Part>& parts);

  Request& out_;
  size_t& parts_left_;
  size_t message_ = 0;
};

}  // namespace hw::translate
