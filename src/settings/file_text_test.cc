#include "settings/file_text.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

using namespace hw;
using namespace hw::settings;
namespace fs = std::filesystem;

namespace {

constexpr const char* kTime = "2026-01-01T12:00:00.000Z";

// An empty folder, gone with the test.
struct Folder {
  fs::path path = fs::temp_directory_path() / ("headway-setup-" + std::to_string(::getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string file(const std::string& name) const { return path / name; }
  size_t count() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(path), {}));
  }
};

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void put(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}
unsigned mode(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 ? info.st_mode & 0777 : 0;
}

}  // namespace

TEST_CASE("a new file is made with its folders, for its owner only, without a backup") {
  const Folder folder;
  const std::string path = folder.file("a/b/settings.json");
  const FileText before = *read_file(path);
  CHECK_FALSE(before.there);
  CHECK(*replace_file(before, "new", kTime) == "");
  CHECK(read(path) == "new");
  CHECK(mode(path) == 0600);
  CHECK(mode(folder.file("a")) == 0700);
}

TEST_CASE("a file that was there stays beside the new one, whatever its mode was") {
  const Folder folder;
  const std::string path = folder.file("settings.json");
  put(path, "old");
  ::chmod(path.c_str(), 0644);
  const FileText before = *read_file(path);
  CHECK(before.mode == 0644);
  CHECK(*replace_file(before, "new", kTime) == path + ".backup-20260101T120000Z");
  CHECK(read(path) == "new");
  CHECK(mode(path) == 0600);
  CHECK(read(path + ".backup-20260101T120000Z") == "old");
  CHECK(mode(path + ".backup-20260101T120000Z") == 0600);
  CHECK(*replace_file(*read_file(path), "newer", kTime) == path + ".backup-20260101T120000Z-2");
  CHECK(folder.count() == 3);
}

TEST_CASE("a symbolic link stays one, its target is replaced") {
  const Folder folder;
  const std::string target = folder.file("dotfiles.json"), link = folder.file("settings.json");
  put(target, "old");
  fs::create_symlink("dotfiles.json", link);
  CHECK(replace_file(*read_file(link), "new", kTime).has_value());
  CHECK(fs::is_symlink(link));
  CHECK(read(target) == "new");
}

TEST_CASE("a file that somebody else changed meanwhile is left alone") {
  const Folder folder;
  const std::string path = folder.file("settings.json");
  put(path, "old");
  const FileText before = *read_file(path);
  put(path, "theirs");
  CHECK_FALSE(replace_file(before, "new", kTime).has_value());
  CHECK(read(path) == "theirs");
  CHECK(folder.count() == 1);
}

TEST_CASE("folders and files that are too large are no settings") {
  const Folder folder;
  CHECK_FALSE(read_file(folder.path.string()).has_value());
  put(folder.file("large"), std::string((1u << 20) + 1, ' '));
  CHECK_FALSE(read_file(folder.file("large")).has_value());
}
