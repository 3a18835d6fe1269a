#include "console/key_routes.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "console/answer.h"
#include "json/scan.h"
#include "json/writer.h"

namespace hw::console {
namespace {

void write_models(json::Writer& writer, const std::vector<std::string>& models) {
  writer.key("models");
  writer.begin_array();
  for (const std::string& model : models) writer.value(model);
  writer.end_array();
}

// The members of a stored key; never its digest.
void write_stored(json::Writer& writer, const store::StoredKey& key) {
  std::string created;
  append_rfc3339(created, key.created_wall);
  writer.field("id", key.id);
  writer.field("name", key.name);
  writer.field("prefix", key.prefix);
  writer.field("origin", "stored");
  writer.field("state", key.state == store::KeyState::kActive ? "active" : "disabled");
  writer.field("created", created);
  write_models(writer, key.models);
}

void write_declared(json::Writer& writer, const access::DeclaredKey& key) {
  writer.field_null("id");
  writer.field("name", key.name);
  writer.field_null("prefix");
  writer.field("origin", "declared");
  writer.field("state", "active");
  writer.field_null("created");
  write_models(writer, key.models);
}

// What POST /api/keys asks for.
struct NewKey {
  std::string name;
  std::vector<std::string> models = {"*"};
};

Status bad(std::string message) {
  return fail(ErrorCode::kBadRequest, std::move(message));
}

Status read_models(json::Value value, std::vector<std::string>& out) {
  if (value.kind() != json::Kind::kArray) {
    return bad("\"models\" takes a list of names, [\"a\", \"claude-*\"].");
  }
  Status status;
  out.clear();
  value.array().each([&](json::Value item) {
    const std::string model(item.text_or(""));
    const size_t star = model.find('*');
    const bool good = !model.empty() && (star == std::string::npos || star + 1 == model.size());
    if (!good && status.has_value()) {
      status = bad("\"models\" takes names, or patterns with one * at their end.");
    }
    out.push_back(model);
  });
  if (out.empty()) {
    return bad("\"models\" names no model: name one at least, or leave the field out for all.");
  }
  return status;
}

Result<NewKey> parse_new_key(std::string_view body) {
  json::Document document;
  if (const Status opened = document.open(body); !opened) return fail(opened.error());
  NewKey out;
  Status status;
  document.root().each([&](std::string_view name, json::Value value) {
    if (!status.has_value()) return;
    if (name == "name") {
      out.name = std::string(value.text_or(""));
    } else if (name == "models") {
      status = read_models(value, out.models);
    } else {
      status =
          bad(concat("There is no field \"", name.substr(0, 40), "\"; there are name, models."));
    }
  });
  if (const Status ended = document.finish(); !ended) return fail(ended.error());
  if (!status.has_value()) return fail(status.error());
  if (out.name.empty()) return fail(ErrorCode::kBadRequest, "\"name\" is missing.");
  return out;
}

bool is_declared(const ApiSources& sources, std::string_view name) {
  const std::vector<access::DeclaredKey> declared = sources.declared_keys();
  return std::any_of(declared.begin(), declared.end(),
                     [&](const access::DeclaredKey& key) { return key.name == name; });
}

// A key of the file is changed in the file only; an id of a stored key is never a declared name.
std::optional<Error> refuse_declared(const ApiSources& sources, std::string_view id) {
  if (!is_declared(sources, id)) return std::nullopt;
  return Error(ErrorCode::kBadRequest,
               concat("The key \"", id,
                      "\" is declared in the configuration file: change it there and reload."));
}

ApiResponse stored_answer(const store::StoredKey& key) {
  std::string body;
  json::Writer writer(body);
  writer.begin_object();
  write_stored(writer, key);
  writer.end_object();
  return json_answer(std::move(body));
}

}  // namespace

ApiResponse list_keys(const ApiSources& sources) {
  const Result<std::vector<store::StoredKey>> stored = sources.list_keys();
  if (!stored.has_value()) return error_answer(stored.error());
  std::string body;
  json::Writer writer(body);
  writer.begin_object();
  writer.key("keys");
  writer.begin_array();
  for (const access::DeclaredKey& key : sources.declared_keys()) {
    writer.begin_object();
    write_declared(writer, key);
    writer.end_object();
  }
  for (const store::StoredKey& key : *stored) {
    writer.begin_object();
    write_stored(writer, key);
    writer.end_object();
  }
  writer.end_array();
  writer.end_object();
  return json_answer(std::move(body));
}

ApiResponse create_key(const ApiSources& sources, std::string_view body) {
  const Result<NewKey> wanted = parse_new_key(body);
  if (!wanted.has_value()) return error_answer(wanted.error());
  if (is_declared(sources, wanted->name)) {
    return error_answer(
        Error(ErrorCode::kBadRequest, concat("The configuration file declares a key \"",
                                             wanted->name, "\": choose another name.")));
  }
  const Result<store::CreatedKey> created = sources.create_key(wanted->name, wanted->models);
  if (!created.has_value()) return error_answer(created.error());
  sources.keys_changed();
  std::string out;
  json::Writer writer(out);
  writer.begin_object();
  write_stored(writer, created->key);
  writer.field("secret", created->secret);
  writer.end_object();
  return json_answer(std::move(out), 201);
}

ApiResponse set_key_state(const ApiSources& sources, std::string_view id, store::KeyState state) {
  if (const auto refused = refuse_declared(sources, id)) return error_answer(*refused);
  const Result<store::StoredKey> changed = sources.set_key_state(id, state);
  if (!changed.has_value()) return error_answer(changed.error());
  sources.keys_changed();
  return stored_answer(*changed);
}

ApiResponse remove_key(const ApiSources& sources, std::string_view id) {
  if (const auto refused = refuse_declared(sources, id)) return error_answer(*refused);
  if (const Status removed = sources.remove_key(id); !removed) return error_answer(removed.error());
  sources.keys_changed();
  std::string body;
  json::Writer writer(body);
  writer.begin_object();
  writer.field("deleted", id);
  writer.end_object();
  return json_answer(std::move(body));
}

}  // namespace hw::console
