#include "settings/file_text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/text.h"
#include "config/document.h"
#include "settings/json_tree.h"

namespace hw::settings {
namespace {

constexpr int kBackupsOfOneSecond = 100;

tl::unexpected<Error> failed(std::string_view what, const std::string& path) {
  return fail(ErrorCode::kConfig, concat("cannot ", what, " ", path, ": ", std::strerror(errno)));
}

// Writes a file that was not there.
Status write_new(const std::string& path, std::string_view text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return failed("write", path);
  size_t written = 0;
  bool good = true;
  while (good && written < text.size()) {
    const ssize_t count = ::write(fd, text.data() + written, text.size() - written);
    good = count > 0;
    if (good) written += static_cast<size_t>(count);
  }
  good = good && ::fchmod(fd, 0600) == 0 && ::fsync(fd) == 0;
  const int error = errno;
  ::close(fd);
  if (good) return {};
  ::unlink(path.c_str());
  errno = error;
  return failed("write", path);
}

// "20260101T120000Z" of "2026-01-01T12:00:00.000Z".
std::string compact_time(std::string_view time) {
  std::string out;
  for (const char c : time.substr(0, time.find('.'))) {
    if (c != '-' && c != ':') out += c;
  }
  return out + "Z";
}

Result<std::string> write_backup(const std::string& path, std::string_view text,
                                 std::string_view time) {
  const std::string first = concat(path, ".backup-", compact_time(time));
  std::string name = first;
  struct stat info{};
  for (int i = 2; i <= kBackupsOfOneSecond && ::lstat(name.c_str(), &info) == 0; ++i) {
    name = concat(first, "-", i);
  }
  if (const Status written = write_new(name, text); !written) return fail(written.error());
  return name;
}

// A file that belonged to somebody else still does, where we may give it.
void keep_owner(const std::string& path, const std::string& draft) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return;
  (void)!::chown(draft.c_str(), info.st_uid, info.st_gid);
}

}  // namespace

Result<FileText> read_file(const std::string& path) {
  FileText out;
  out.path = path;
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return out;
    return failed("read", path);
  }
  if (!S_ISREG(info.st_mode)) return fail(ErrorCode::kConfig, concat(path, " is no file"));
  Result<std::string> text = config::read_small_file(path, kSettingsBytesMax);
  if (!text.has_value()) {
    return fail(ErrorCode::kConfig, concat("cannot read ", path, ": ", text.error().message));
  }
  out.there = true;
  out.text = std::move(*text);
  out.mode = info.st_mode & 07777;
  return out;
}

Result<std::string> replace_file(const FileText& before, std::string_view text,
                                 std::string_view time) {
  std::error_code error;
  std::string path = before.path;
  if (std::filesystem::is_symlink(path, error)) {
    path = std::filesystem::weakly_canonical(path, error).string();
    if (error) return fail(ErrorCode::kConfig, concat("cannot follow ", before.path));
  }
  const std::string folder = std::filesystem::path(path).parent_path().string();
  if (!folder.empty() && !std::filesystem::exists(folder, error)) {
    const mode_t mask = ::umask(077);
    std::filesystem::create_directories(folder, error);
    ::umask(mask);
    if (error) {
      return fail(ErrorCode::kConfig, concat("cannot make ", folder, ": ", error.message()));
    }
  }
  const std::string draft = concat(path, ".new-", ::getpid());
  if (const Status written = write_new(draft, text); !written) return fail(written.error());
  const auto give_up = [&](tl::unexpected<Error> why) -> Result<std::string> {
    ::unlink(draft.c_str());
    return why;
  };
  std::string backup;
  if (before.there) {
    Result<std::string> made = write_backup(path, before.text, time);
    if (!made.has_value()) return give_up(fail(made.error()));
    backup = std::move(*made);
  }
  const Result<FileText> now = read_file(before.path);
  if (!now.has_value() || now->there != before.there || now->text != before.text) {
    if (!backup.empty()) ::unlink(backup.c_str());
    return give_up(fail(ErrorCode::kConfig,
                        concat(path, " was changed by someone else meanwhile; try again")));
  }
  keep_owner(path, draft);
  if (::rename(draft.c_str(), path.c_str()) != 0) return give_up(failed("replace", path));
  return backup;
}

}  // namespace hw::settings
