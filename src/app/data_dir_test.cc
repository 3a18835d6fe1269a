#include "app/data_dir.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>

#include "app/scratch_folder.h"

using namespace hw;
using namespace hw::app;

namespace {

int mode_of(const std::string& path) {
  struct stat info{};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return static_cast<int>(info.st_mode & 0777);
}

}  // namespace

TEST_CASE("a secret is made once, kept, and readable by its owner only") {
  const ScratchFolder scratch;
  DataDir dir = *DataDir::open(scratch.file("a/b/data"));
  CHECK(mode_of(dir.path()) == 0700);
  const std::string made = *dir.secret("key", "hw-");
  CHECK(made.size() == 3 + 43);
  CHECK(made.starts_with("hw-"));
  CHECK(mode_of(dir.path() + "/key") == 0600);
  CHECK(*dir.secret("key", "hw-") == made);
  CHECK(*DataDir::open(dir.path())->secret("key", "hw-") == made);
  CHECK(*dir.secret("admin_token", "hw-") != made);
  CHECK(dir.read_secret("key") == made);
  CHECK(dir.read_secret("none").empty());
}

TEST_CASE("a secret that others may read, or none at all, is refused with what to do") {
  const ScratchFolder scratch;
  DataDir dir = *DataDir::open(scratch.path());
  std::ofstream(dir.path() + "/key") << "hw-abc\n";
  ::chmod((dir.path() + "/key").c_str(), 0644);
  const Result<std::string> open_to_all = dir.secret("key", "hw-");
  REQUIRE_FALSE(open_to_all.has_value());
  CHECK(open_to_all.error().message.find("chmod 600") != std::string::npos);
  ::chmod((dir.path() + "/key").c_str(), 0600);
  CHECK(*dir.secret("key", "hw-") == "hw-abc");
  std::ofstream(dir.path() + "/key") << "\n";
  CHECK(dir.secret("key", "hw-").error().message.find("is empty") != std::string::npos);
}

TEST_CASE("the address is there while something runs") {
  const ScratchFolder scratch;
  DataDir dir = *DataDir::open(scratch.path());
  CHECK(dir.read_address().empty());
  CHECK(dir.write_address("http://127.0.0.1:1").has_value());
  CHECK(dir.write_address("http://127.0.0.1:2").has_value());
  CHECK(dir.read_address() == "http://127.0.0.1:2");
  dir.remove_address();
  CHECK(dir.read_address().empty());
}

TEST_CASE("what is no folder is refused") {
  const ScratchFolder scratch;
  std::ofstream(scratch.file("f")) << "x";
  CHECK_FALSE(DataDir::open(scratch.file("f")).has_value());
  CHECK_FALSE(DataDir::open(scratch.file("f/below")).has_value());
  CHECK_FALSE(DataDir::open("").has_value());
}
