#include "comparison/archive.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "base/temp_folder.h"
#include "runs/run_folder.h"

namespace hw::comparison {
namespace {

// A folder that goes with the test, and runs in it.
class Scratch {
 public:
  std::string path(std::string_view name) const { return folder_.file(std::string(name)); }

  std::string make_run(const std::string& name, std::string_view mark = "") const {
    std::filesystem::create_directories(path(name));
    auto writer = runs::RequestsWriter::create(path(name));
    runs::Record record;
    record.id = name;
    record.t_tx0 = 1, record.tokens = {{2}, {3}};
    REQUIRE(writer->append(record).has_value());
    runs::Manifest manifest;
    manifest.content_sha256 = *writer->finish();
    manifest.started = "2026-01-01T00:00:0" + std::string(1, name.back()) + "Z";
    if (!mark.empty()) manifest.marks = {std::string(mark)};
    REQUIRE(runs::write_file(path(name) + "/manifest.json", manifest_json(manifest)).has_value());
    return path(name);
  }

 private:
  TempFolder folder_;
};

TEST_CASE("runs are kept once, by content, oldest first") {
  const Scratch scratch;
  Archive archive(scratch.path("baselines"));
  CHECK(archive.names().empty());
  const std::string second = scratch.make_run("r2"), first = scratch.make_run("r1");
  CHECK(archive.accept("main", {second, first}).value() == 2);
  CHECK(archive.accept("main", {first}).value() == 0);
  CHECK(archive.names() == std::vector<std::string>{"main"});
  const auto runs = archive.runs("main");
  REQUIRE(runs.size() == 2);
  std::string id;
  REQUIRE(runs::read_run(runs[0], [&](const runs::Record& record) { id = record.id; }));
  CHECK(id == "r1");
}

TEST_CASE("edited and client-limited runs and bad names are refused, and nothing is copied") {
  const Scratch scratch;
  Archive archive(scratch.path("baselines"));
  const std::string good = scratch.make_run("r1");
  const std::string limited = scratch.make_run("r2", "client_limited");
  CHECK_FALSE(archive.accept("main", {good, limited}).has_value());
  const std::string edited = scratch.make_run("r3");
  std::ofstream(edited + "/requests.jsonl", std::ios::app) << "{\"t_tok\": [1]}\n";
  CHECK_FALSE(archive.accept("main", {good, edited}).has_value());
  CHECK_FALSE(archive.accept("../main", {good}).has_value());
  CHECK_FALSE(archive.accept(".hidden", {good}).has_value());
  CHECK(archive.names().empty());
  CHECK_FALSE(archive.has("main"));
}

}  // namespace
}  // namespace hw::comparison
