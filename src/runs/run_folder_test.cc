#include "runs/run_folder.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "base/temp_folder.h"
#include "base/text.h"

namespace hw::runs {
namespace {

// A folder that goes with the test.
class Folder {
 public:
  const std::string& path() const { return folder_.path(); }
  void write(std::string_view name, std::string_view text) const {
    std::ofstream(folder_.file(std::string(name)), std::ios::binary) << text;
  }

 private:
  TempFolder folder_;
};

std::vector<std::string> ids_of(const std::string& folder, Result<FolderFacts>& facts) {
  std::vector<std::string> ids;
  facts = read_run(folder, [&](const Record& record) { ids.push_back(record.id); });
  return ids;
}

TEST_CASE("what the writer wrote is read back, and its hash is the content's") {
  const Folder folder;
  auto writer = RequestsWriter::create(folder.path());
  REQUIRE(writer.has_value());
  Record record;
  record.id = "a";
  REQUIRE(writer->append(record).has_value());
  record.id = "b";
  REQUIRE(writer->append(record).has_value());
  const auto hash = writer->finish();
  REQUIRE(hash.has_value());
  Manifest manifest;
  manifest.content_sha256 = *hash;
  manifest.fingerprint["model"] = "m";
  manifest.offered_rate = 2.5;
  REQUIRE(write_file(folder.path() + "/manifest.json", manifest_json(manifest)).has_value());
  Result<FolderFacts> facts = FolderFacts();
  CHECK(ids_of(folder.path(), facts) == std::vector<std::string>{"a", "b"});
  REQUIRE(facts.has_value());
  CHECK_FALSE(facts->is_edited());
  CHECK(facts->manifest->fingerprint.at("model") == "m");
  CHECK(facts->manifest->offered_rate == 2.5);

  std::ofstream(folder.path() + "/requests.jsonl", std::ios::app) << "{\"id\": \"c\"}";
  CHECK(ids_of(folder.path(), facts).size() == 3);
  CHECK(facts->is_edited());
}

TEST_CASE("a wrong line is told with file and number, a missing file by name") {
  const Folder folder;
  Result<FolderFacts> facts = FolderFacts();
  ids_of(folder.path(), facts);
  REQUIRE_FALSE(facts.has_value());
  CHECK(facts.error().message.find("requests.jsonl") != std::string::npos);
  folder.write("requests.jsonl", "{}\n\n{\"t_tok\": [2, 1]}\n");
  ids_of(folder.path(), facts);
  REQUIRE_FALSE(facts.has_value());
  CHECK(facts.error().message.find("line 3: ") != std::string::npos);
}

TEST_CASE("without a manifest a folder is read all the same") {
  const Folder folder;
  folder.write("requests.jsonl", "{\"id\": \"a\"}");
  Result<FolderFacts> facts = FolderFacts();
  CHECK(ids_of(folder.path(), facts) == std::vector<std::string>{"a"});
  CHECK_FALSE(facts->manifest.has_value());
  CHECK_FALSE(facts->is_edited());
}

TEST_CASE("lines come out whole however the bytes are split, and are bounded") {
  const std::string text = "one\ntwo\n\nthree";
  for (size_t split = 0; split <= text.size(); ++split) {
    std::vector<std::string> lines;
    LineSplitter splitter(5, [&](std::string_view line) -> Status {
      lines.emplace_back(line);
      return {};
    });
    REQUIRE(splitter.add(std::string_view(text).substr(0, split)).has_value());
    REQUIRE(splitter.add(std::string_view(text).substr(split)).has_value());
    REQUIRE(splitter.finish().has_value());
    CHECK(lines == std::vector<std::string>{"one", "two", "three"});
  }
  LineSplitter splitter(5, [](std::string_view) -> Status { return {}; });
  REQUIRE(splitter.add("abc").has_value());
  CHECK_FALSE(splitter.add("def").has_value());
}

TEST_CASE("probes read back, and no file is no probe") {
  const Folder folder;
  size_t probes = 0;
  const auto count = [&](const Probe& probe) { probes += probe.duration == 7 ? 1 : 100; };
  CHECK(read_probes(folder.path(), count).has_value());
  CHECK(probes == 0);
  std::string text;
  append_probe(text, {5, ProbeKind::kRtt, 7});
  append_probe(text, {6, ProbeKind::kCanary, 7});
  folder.write("probes.jsonl", text);
  CHECK(read_probes(folder.path(), count).has_value());
  CHECK(probes == 2);
  folder.write("probes.jsonl", "{\"t\": 1, \"kind\": \"rtt\", \"ns\": -1}\n");
  CHECK_FALSE(read_probes(folder.path(), count).has_value());
}

}  // namespace
}  // namespace hw::runs
