// RunFolder: the folder of one run: reading it line by line, and writing its records with the hash
// that its manifest tells.
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "runs/content_hash.h"
#include "runs/manifest.h"
#include "runs/probe.h"
#include "runs/record.h"

namespace hw::runs {

// Names in the folder.
inline constexpr std::string_view kManifestFile = "manifest.json";
inline constexpr std::string_view kRequestsFile = "requests.jsonl";
inline constexpr std::string_view kProbesFile = "probes.jsonl";
inline constexpr std::string_view kSummaryFile = "summary.json";

// Most records of a folder that are read; above it, an error.
inline constexpr size_t kRecordsMax = 5'000'000;

// What reading told beside the records.
struct FolderFacts {
  std::optional<Manifest> manifest;  // absent where there is no file
  std::string content_sha256;        // of requests.jsonl as it is
  size_t records = 0;

  // A manifest that tells a hash, and another one than the content has.
  bool is_edited() const;
};

// Reads requests.jsonl a line at a time (memory: one line) and hands each record to `visit`. Empty
// lines are skipped. kConfig, with the place of what is wrong, for a folder without the file, a
// wrong line, and a manifest that cannot be read.
Result<FolderFacts> read_run(const std::string& folder,
                             const std::function<void(const Record&)>& visit);

// Reads probes.jsonl; no file is no probe. Wrong lines are an error, as above.
Status read_probes(const std::string& folder, const std::function<void(const Probe&)>& visit);

// Calls `visit` for each line of a text in pieces; for the readers above and their tests. Lines
// longer than `line_bytes_max` are kConfig, and the number of the line is put before what `visit`
// says is wrong.
class LineSplitter {
 public:
  using Visit = std::function<Status(std::string_view line)>;
  LineSplitter(size_t line_bytes_max, Visit visit)
      : line_bytes_max_(line_bytes_max), visit_(std::move(visit)) {}

  // The next bytes; after the last of them finish(), for a line without its line feed.
  Status add(std::string_view bytes);
  Status finish();

 private:
  Status visit_line(std::string_view line);

  size_t line_bytes_max_;
  Visit visit_;
  std::string pending_;
  size_t line_number_ = 0;
};

// Writes requests.jsonl as the run goes on; one thread.
class RequestsWriter {
 public:
  // Makes the file in `folder`, which must exist. kConfig where it cannot.
  static Result<RequestsWriter> create(const std::string& folder);

  // Appends one record. kStore where the disk is full; what was written before stays whole lines.
  Status append(const Record& record);
  // Flushes and closes; gives the hash for the manifest. Call once.
  Result<std::string> finish();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
  std::unique_ptr<ContentHash> hash_;
  std::string line_;
};

// Writes a small file of the folder at once (manifest, summary). kStore where it cannot.
Status write_file(const std::string& path, std::string_view text);

}  // namespace hw::runs
