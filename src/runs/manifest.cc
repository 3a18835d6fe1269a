#include "runs/manifest.h"

#include <algorithm>

#include "base/text.h"
#include "json/scan.h"
#include "json/writer.h"

namespace hw::runs {
namespace {

using Texts = std::map<std::string, std::string>;
constexpr size_t kEntriesMax = 256;  // of fingerprint and metadata each

struct TextField {
  std::string_view name;
  std::string Manifest::* member;
};
constexpr TextField kTexts[] = {{"content_sha256", &Manifest::content_sha256},
                                {"started", &Manifest::started},
                                {"label", &Manifest::label},
                                {"command", &Manifest::command},
                                {"load", &Manifest::load}};

struct NumberField {
  std::string_view name;
  std::optional<double> Manifest::* member;
};
constexpr NumberField kNumbers[] = {{"offered_rate", &Manifest::offered_rate},
                                    {"achieved_rate", &Manifest::achieved_rate},
                                    {"concurrency", &Manifest::concurrency},
                                    {"sched_lag_p99_ms", &Manifest::sched_lag_p99_ms}};

void write_texts(json::Writer& writer, std::string_view name, const Texts& texts) {
  writer.key(name);
  writer.begin_object();
  for (const auto& [key, value] : texts) writer.field(key, value);
  writer.end_object();
}

Texts read_texts(json::Value value) {
  Texts out;
  value.object().each([&](std::string_view key, json::Value item) {
    if (out.size() >= kEntriesMax) return;
    const auto text = item.text();
    out[std::string(key)] = std::string(text ? *text : item.raw());
  });
  return out;
}

void take(Manifest& out, std::string_view key, json::Value value) {
  for (const TextField& field : kTexts) {
    if (key == field.name) out.*field.member = value.text_or("");
  }
  for (const NumberField& field : kNumbers) {
    if (key == field.name) out.*field.member = value.number();
  }
  if (key == "schema") {
    const int64_t schema = value.integer().value_or(0);
    out.schema = schema > 0 && schema < 1000 ? static_cast<int>(schema) : 0;
  } else if (key == "seed") {
    if (const auto seed = value.integer()) out.seed = static_cast<uint64_t>(*seed);
  } else if (key == "fingerprint") {
    out.fingerprint = read_texts(value);
  } else if (key == "metadata") {
    out.metadata = read_texts(value);
  } else if (key == "marks") {
    out.marks.clear();
    value.array().each([&](json::Value item) {
      if (out.marks.size() < kEntriesMax) out.marks.emplace_back(item.text_or(""));
    });
  }
}

}  // namespace

bool Manifest::has_mark(std::string_view mark) const {
  return std::find(marks.begin(), marks.end(), mark) != marks.end();
}

std::string manifest_json(const Manifest& manifest) {
  std::string out;
  json::Writer writer(out);
  writer.begin_object();
  writer.field("schema", manifest.schema);
  for (const TextField& field : kTexts) writer.field(field.name, manifest.*field.member);
  write_texts(writer, "fingerprint", manifest.fingerprint);
  write_texts(writer, "metadata", manifest.metadata);
  if (manifest.seed) writer.field("seed", static_cast<int64_t>(*manifest.seed));
  for (const NumberField& field : kNumbers) {
    if (manifest.*field.member) writer.field(field.name, *(manifest.*field.member));
  }
  writer.key("marks");
  writer.begin_array();
  for (const std::string& mark : manifest.marks) writer.value(mark);
  writer.end_array();
  writer.end_object();
  out += '\n';
  return out;
}

Result<Manifest> parse_manifest(std::string_view text) {
  if (text.size() > kManifestBytesMax) return fail(ErrorCode::kConfig, "the manifest is too long");
  json::Document document(ErrorCode::kConfig);
  if (const Status opened = document.open(text); !opened) return fail(opened.error());
  Manifest out;
  document.root().each([&](std::string_view key, json::Value value) { take(out, key, value); });
  if (const Status finished = document.finish(); !finished) return fail(finished.error());
  return out;
}

}  // namespace hw::runs
