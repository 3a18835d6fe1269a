#include "command/last_triple.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "access/digest.h"
#include "base/ids.h"
#include "base/random.h"
#include "base/text.h"
#include "config/document.h"

namespace hw::cli {
namespace {

constexpr size_t kFileBytesMax = 64u << 10;

std::string new_salt() {
  unsigned char drawn[16];
  secure_random(drawn, sizeof drawn);
  std::string out;
  append_hex(out, drawn, sizeof drawn);
  return out;
}

bool write_file(const std::string& path, const std::string& text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  const bool written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  return ::close(fd) == 0 && written;
}

}  // namespace

std::string last_triple_path(const config::Environment& environment) {
  const std::string_view state = config::value_of(environment, "XDG_STATE_HOME");
  if (!state.empty()) return concat(state, "/headway/last_triple.json");
  const std::string_view home = config::value_of(environment, "HOME");
  return home.empty() ? std::string() : concat(home, "/.local/state/headway/last_triple.json");
}

LastTriple::LastTriple(std::string path) : path_(std::move(path)) {
  if (!path_.empty()) {
    const Result<std::string> text = config::read_small_file(path_, kFileBytesMax);
    if (text.has_value()) before_ = verify::read_triple(*text);
  }
  salt_ = before_.has_value() ? before_->salt : new_salt();
}

verify::Triple LastTriple::make(const std::string& base_url, const std::string& key,
                                const std::string& model) const {
  verify::Triple out;
  out.base_url = verify::triple_base_url(base_url);
  out.model = model;
  out.salt = salt_;
  out.key_digest = access::digest_hex(access::sha256(salt_ + key));
  out.at = wall_ns();
  return out;
}

void LastTriple::keep(const verify::Triple& triple) {
  before_ = triple;
  if (path_.empty()) return;
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), ignored);
  // A reader beside us sees the old file or the new one, never half of one.
  const std::string fresh = concat(path_, ".", ::getpid());
  if (write_file(fresh, verify::write_triple(triple))) {
    std::rename(fresh.c_str(), path_.c_str());
  } else {
    std::remove(fresh.c_str());
  }
}

}  // namespace hw::cli
