#include "responses/events.h"

#include "base/text.h"

namespace hw::translate {

void ResponsesEvents::begin(std::string& out, std::string_view type) {
  out += "event: ";
  out += type;
  out += "\ndata: {\"type\":\"";
  out += type;
  out += "\",\"sequence_number\":";
  append(out, next_++);
}

void ResponsesEvents::begin_item(std::string& out, std::string_view type, size_t item) {
  begin(out, type);
  out += ",\"item_id\":\"";
  out += output_.items()[item].id;
  out += "\",\"output_index\":";
  append(out, item);
}

void ResponsesEvents::begin_part(std::string& out, std::string_view type, size_t item,
                                 size_t part) {
  begin_item(out, type, item);
  out += ",\"content_index\":";
  append(out, part);
}

void ResponsesEvents::begin_section(std::string& out, std::string_view type, size_t item) {
  begin_item(out, type, item);
  out += ",\"summary_index\":";
  append(out, output_.items()[item].parts.size() - 1);
}

void ResponsesEvents::write_item(std::string& out, std::string_view type, size_t item) {
  begin(out, type);
  out += ",\"output_index\":";
  append(out, item);
  out += ",\"item\":";
  output_.append_item(out, output_.items()[item]);
  out += kEnd;
}

}  // namespace hw::translate
