#include "runs/run_folder.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/text.h"

namespace hw::runs {
namespace {

constexpr size_t kPieceBytes = size_t{1} << 18;  // of a file, read at once
constexpr size_t kProbeLineBytesMax = 4096;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

std::string path_of(const std::string& folder, std::string_view name) {
  return concat(folder, folder.ends_with('/') ? "" : "/", name);
}

// Hands the file's bytes on in pieces.
Status each_piece(std::FILE* file, const std::string& path,
                  const std::function<Status(std::string_view)>& visit) {
  const auto piece = std::make_unique<char[]>(kPieceBytes);
  while (const size_t got = std::fread(piece.get(), 1, kPieceBytes, file)) {
    if (const Status taken = visit({piece.get(), got}); !taken) {
      return fail(ErrorCode::kConfig, concat(path, ": ", taken.error().message));
    }
  }
  if (std::ferror(file) != 0) return fail(ErrorCode::kConfig, concat(path, ": cannot be read"));
  return {};
}

Status read_lines(const std::string& path, std::FILE* file, ContentHash* hash,
                  LineSplitter& splitter) {
  const Status read = each_piece(file, path, [&](std::string_view piece) {
    if (hash != nullptr) hash->add(piece);
    return splitter.add(piece);
  });
  if (!read) return read;
  if (const Status ended = splitter.finish(); !ended) {
    return fail(ErrorCode::kConfig, concat(path, ": ", ended.error().message));
  }
  return {};
}

Result<std::optional<Manifest>> read_manifest(const std::string& folder) {
  const std::string path = path_of(folder, kManifestFile);
  const File file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) return std::optional<Manifest>();
  std::string text;
  const Status read = each_piece(file.get(), path, [&](std::string_view piece) -> Status {
    if (text.size() + piece.size() > kManifestBytesMax) {
      return fail(ErrorCode::kConfig, "the manifest is too long");
    }
    text += piece;
    return {};
  });
  if (!read) return fail(read.error());
  Result<Manifest> manifest = parse_manifest(text);
  if (!manifest) return fail(ErrorCode::kConfig, concat(path, ": ", manifest.error().message));
  return std::optional(*std::move(manifest));
}

}  // namespace

bool FolderFacts::is_edited() const {
  return manifest && !manifest->content_sha256.empty() &&
         manifest->content_sha256 != content_sha256;
}

Status LineSplitter::visit_line(std::string_view line) {
  ++line_number_;
  if (trim(line).empty()) return {};
  if (const Status visited = visit_(line); !visited) {
    return fail(ErrorCode::kConfig, concat("line ", line_number_, ": ", visited.error().message));
  }
  return {};
}

Status LineSplitter::add(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t end = bytes.find('\n');
    const std::string_view part = bytes.substr(0, end);
    if (pending_.size() + part.size() > line_bytes_max_) {
      return fail(ErrorCode::kConfig,
                  concat("line ", line_number_ + 1, ": longer than ", line_bytes_max_, " bytes"));
    }
    if (end == std::string_view::npos) {
      pending_ += part;
      return {};
    }
    bytes.remove_prefix(end + 1);
    if (pending_.empty()) {
      if (const Status visited = visit_line(part); !visited) return visited;
      continue;
    }
    pending_ += part;
    const std::string line = std::exchange(pending_, {});
    if (const Status visited = visit_line(line); !visited) return visited;
  }
  return {};
}

Status LineSplitter::finish() {
  if (pending_.empty()) return {};
  const std::string line = std::exchange(pending_, {});
  return visit_line(line);
}

Result<FolderFacts> read_run(const std::string& folder,
                             const std::function<void(const Record&)>& visit) {
  FolderFacts out;
  Result<std::optional<Manifest>> manifest = read_manifest(folder);
  if (!manifest) return fail(manifest.error());
  out.manifest = *std::move(manifest);
  const std::string path = path_of(folder, kRequestsFile);
  const File file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) {
    return fail(ErrorCode::kConfig, concat(path, ": ", std::strerror(errno)));
  }
  ContentHash hash;
  LineSplitter splitter(kRecordBytesMax, [&](std::string_view line) -> Status {
    if (++out.records > kRecordsMax) return fail(ErrorCode::kConfig, "too many records");
    const Result<Record> record = parse_record(line);
    if (!record) return fail(record.error());
    visit(*record);
    return {};
  });
  if (const Status read = read_lines(path, file.get(), &hash, splitter); !read) {
    return fail(read.error());
  }
  out.content_sha256 = hash.finish();
  return out;
}

Status read_probes(const std::string& folder, const std::function<void(const Probe&)>& visit) {
  const std::string path = path_of(folder, kProbesFile);
  const File file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) return {};
  LineSplitter splitter(kProbeLineBytesMax, [&](std::string_view line) -> Status {
    const Result<Probe> probe = parse_probe(line);
    if (!probe) return fail(probe.error());
    visit(*probe);
    return {};
  });
  return read_lines(path, file.get(), nullptr, splitter);
}

Result<RequestsWriter> RequestsWriter::create(const std::string& folder) {
  const std::string path = path_of(folder, kRequestsFile);
  RequestsWriter out;
  out.file_.reset(std::fopen(path.c_str(), "wb"));
  if (out.file_ == nullptr) {
    return fail(ErrorCode::kConfig, concat(path, ": ", std::strerror(errno)));
  }
  out.hash_ = std::make_unique<ContentHash>();
  return out;
}

Status RequestsWriter::append(const Record& record) {
  line_.clear();
  append_record(line_, record);
  if (std::fwrite(line_.data(), 1, line_.size(), file_.get()) != line_.size()) {
    return fail(ErrorCode::kStore, concat(kRequestsFile, ": ", std::strerror(errno)));
  }
  hash_->add(line_);
  return {};
}

Result<std::string> RequestsWriter::finish() {
  if (std::fclose(file_.release()) != 0) {
    return fail(ErrorCode::kStore, concat(kRequestsFile, ": ", std::strerror(errno)));
  }
  return hash_->finish();
}

Status write_file(const std::string& path, std::string_view text) {
  File file(std::fopen(path.c_str(), "wb"));
  if (file == nullptr) return fail(ErrorCode::kStore, concat(path, ": ", std::strerror(errno)));
  const bool written = std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
  if (std::fclose(file.release()) != 0 || !written) {
    return fail(ErrorCode::kStore, concat(path, ": ", std::strerror(errno)));
  }
  return {};
}

}  // namespace hw::runs
