#include "app/data_dir.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/random.h"
#include "base/text.h"
#include "config/document.h"

namespace hw::app {
namespace {

constexpr size_t kSecretBytesMax = 512;
constexpr std::string_view kAddressFile = "address";

std::string without_line_end(std::string text) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  return text;
}

tl::unexpected<Error> failed(std::string_view what, const std::string& path) {
  return fail(ErrorCode::kConfig, concat(what, " ", path, ": ", std::strerror(errno)));
}

// 43 characters of base 62; a byte that would make some more likely than others is drawn anew.
std::string random_secret(std::string_view prefix) {
  constexpr std::string_view kLetters =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  constexpr size_t kLength = 43;
  constexpr unsigned kFair = 256 / 62 * 62;
  std::string out(prefix);
  while (out.size() < prefix.size() + kLength) {
    unsigned char byte = 0;
    secure_random(&byte, 1);
    if (byte < kFair) out += kLetters[byte % kLetters.size()];
  }
  return out;
}

// Writes a new file that appears whole or not at all.
Status write_file(const std::string& path, std::string_view content) {
  const std::string draft = path + ".new";
  const int fd = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return failed("cannot write", draft);
  const bool good =
      ::fchmod(fd, 0600) == 0 &&
      ::write(fd, content.data(), content.size()) == static_cast<ssize_t>(content.size()) &&
      ::fsync(fd) == 0;
  const int error = errno;
  ::close(fd);
  errno = error;
  if (!good || ::rename(draft.c_str(), path.c_str()) != 0) {
    const auto result = failed("cannot write", path);
    ::unlink(draft.c_str());
    return result;
  }
  return {};
}

}  // namespace

Result<DataDir> DataDir::open(const std::string& path) {
  if (path.empty()) return fail(ErrorCode::kConfig, "the data folder has no name");
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  if (!parent.empty()) std::filesystem::create_directories(parent, error);
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return failed("cannot make", path);
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return failed("cannot read", path);
  if (!S_ISDIR(info.st_mode)) return fail(ErrorCode::kConfig, concat(path, " is no folder"));
  return DataDir(path);
}

std::string DataDir::file(std::string_view name) const {
  return concat(path_, "/", name);
}

Result<std::string> DataDir::secret(std::string_view name, std::string_view prefix) {
  const std::string path = file(name);
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) {
    if (errno != ENOENT) return failed("cannot read", path);
    std::string made = random_secret(prefix);
    if (const Status written = write_file(path, made + "\n"); !written) {
      return fail(written.error());
    }
    return made;
  }
  if ((info.st_mode & 077) != 0) {
    return fail(ErrorCode::kConfig, concat(path, " may be read by others; run: chmod 600 ", path));
  }
  Result<std::string> content = config::read_small_file(path, kSecretBytesMax);
  if (!content.has_value()) {
    return fail(ErrorCode::kConfig, concat("cannot read ", path, ": ", content.error().message));
  }
  std::string secret = without_line_end(std::move(*content));
  if (secret.empty()) {
    return fail(ErrorCode::kConfig, concat(path, " is empty; remove it to have a new one made"));
  }
  return secret;
}

Status DataDir::keep_secret(std::string_view name, std::string_view secret) {
  return write_file(file(name), concat(secret, "\n"));
}

std::string DataDir::read_secret(std::string_view name) const {
  Result<std::string> content = config::read_small_file(file(name), kSecretBytesMax);
  return content.has_value() ? without_line_end(std::move(*content)) : std::string();
}

Status DataDir::write_address(std::string_view base_url) {
  return write_file(file(kAddressFile), concat(base_url, "\n"));
}

std::string DataDir::read_address() const {
  return read_secret(kAddressFile);
}

void DataDir::remove_address() {
  ::unlink(file(kAddressFile).c_str());
}

}  // namespace hw::app
