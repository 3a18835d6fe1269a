#include "comparison/archive.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/text.h"
#include "comparison/run.h"

namespace hw::comparison {
namespace {

namespace fs = std::filesystem;
constexpr size_t kNameBytesMax = 64;
constexpr size_t kIdDigits = 16;
constexpr std::string_view kUnfinished = ".part";  // of a copy that was interrupted; never listed

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '-' || c == '_';
}

// Folders in `folder` that are whole, by name.
std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> out;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (!at->is_directory(ignored) || at->path().extension() == kUnfinished) continue;
    out.push_back(at->path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string started_of(const fs::path& run) {
  const auto facts = runs::read_run(run.string(), [](const runs::Record&) {});
  return facts && facts->manifest ? facts->manifest->started : std::string();
}

// A copy is made under another name and renamed when it is whole.
Status copy_run(const fs::path& from, const fs::path& to) {
  const fs::path part = to.string() + std::string(kUnfinished);
  std::error_code error;
  fs::remove_all(part, error);
  fs::create_directories(part.parent_path(), error);
  if (!error) fs::copy(from, part, fs::copy_options::recursive, error);
  if (!error) fs::rename(part, to, error);
  if (error) return fail(ErrorCode::kStore, concat(to.string(), ": ", error.message()));
  return {};
}

// The id of a run that may be kept.
Result<std::string> checked(const std::string& folder) {
  const Result<Run> run = load_run(folder, Edited::kRefused);
  if (!run) return fail(run.error());
  if (run->manifest && run->manifest->has_mark("client_limited")) {
    return fail(ErrorCode::kConfig,
                concat(folder, ": limited by its client, which is no baseline"));
  }
  return run->folder.content_sha256.substr(0, kIdDigits);
}

}  // namespace

bool is_baseline_name(std::string_view name) {
  return !name.empty() && name.size() <= kNameBytesMax && name[0] != '.' &&
         std::all_of(name.begin(), name.end(), is_name_character) && !name.ends_with(kUnfinished);
}

std::string Archive::path_of(std::string_view name) const {
  return concat(folder_, "/", name);
}

std::vector<std::string> Archive::names() const {
  std::vector<std::string> out;
  for (const fs::path& folder : folders_in(folder_)) {
    if (is_baseline_name(folder.filename().string())) out.push_back(folder.filename().string());
  }
  return out;
}

bool Archive::has(std::string_view name) const {
  std::error_code ignored;
  return is_baseline_name(name) && fs::is_directory(path_of(name), ignored);
}

std::vector<std::string> Archive::runs(std::string_view name) const {
  if (!has(name)) return {};
  std::vector<std::pair<std::string, std::string>> by_start;
  for (const fs::path& run : folders_in(path_of(name))) {
    by_start.emplace_back(started_of(run), run.string());
  }
  std::sort(by_start.begin(), by_start.end());
  std::vector<std::string> out;
  for (auto& [started, path] : by_start) out.push_back(std::move(path));
  return out;
}

Result<size_t> Archive::accept(std::string_view name, const std::vector<std::string>& runs) {
  if (!is_baseline_name(name)) {
    return fail(ErrorCode::kConfig, concat("\"", name, "\" is no name for a baseline"));
  }
  std::vector<std::string> ids;
  for (const std::string& run : runs) {
    Result<std::string> id = checked(run);
    if (!id) return fail(id.error());
    ids.push_back(*std::move(id));
  }
  size_t added = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    const std::string to = concat(path_of(name), "/", ids[i]);
    std::error_code ignored;
    if (fs::exists(to, ignored)) continue;
    if (const Status copied = copy_run(runs[i], to); !copied) return fail(copied.error());
    ++added;
  }
  return added;
}

}  // namespace hw::comparison
