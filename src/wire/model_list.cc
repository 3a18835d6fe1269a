#include "wire/model_list.h"

#include "json/writer.h"

namespace hw::wire {
namespace {

void write_model(json::Writer& writer, Family family, std::string_view name) {
  writer.begin_object();
  switch (family) {
    case Family::kOpenai:
      writer.field("id", name);
      writer.field("object", "model");
      writer.field("created", 0);
      writer.field("owned_by", "headway");
      break;
    case Family::kAnthropic:
      writer.field("type", "model");
      writer.field("id", name);
      writer.field("display_name", name);
      writer.field("created_at", "1970-01-01T00:00:00Z");
      break;
  }
  writer.end_object();
}

// A name, or null for none.
void write_cursor(json::Writer& writer, std::string_view key, const std::string* name) {
  if (name == nullptr) return writer.field_null(key);
  writer.field(key, *name);
}

}  // namespace

void append_model(std::string& out, Family family, std::string_view name) {
  json::Writer writer(out);
  write_model(writer, family, name);
}

void append_model_list(std::string& out, Family family, std::span<const std::string> names) {
  json::Writer writer(out);
  writer.begin_object();
  if (family == Family::kOpenai) writer.field("object", "list");
  writer.key("data");
  writer.begin_array();
  for (const std::string& name : names) write_model(writer, family, name);
  writer.end_array();
  if (family == Family::kAnthropic) {
    writer.field("has_more", false);
    write_cursor(writer, "first_id", names.empty() ? nullptr : &names.front());
    write_cursor(writer, "last_id", names.empty() ? nullptr : &names.back());
  }
  writer.end_object();
}

}  // namespace hw::wire
