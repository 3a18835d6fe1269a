#include "store/writer_thread.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "store/call_query.h"
#include "store/retention.h"
#include "store/schema.h"

namespace hw::store {
namespace {

// Between two looks at the journals when nobody wakes the thread: calls are readable well within a
// second, and ten wake-ups a second are nothing.
constexpr int kPollMs = 100;
// A database that has refused is asked again after this.
constexpr Nanos kRetryNs = 500 * kMillisecond;
// How long one transaction waits for another process's lock; the journal holds minutes.
constexpr int kBusyTimeoutMs = 100;
constexpr Nanos kPruneEveryNs = 60 * kSecond;
// Segments of each journal that are ready before the first call.
constexpr int kAsideAtOnce = 2;
// Segments to set aside between two looks at the journals.
constexpr int kAsideBatch = 16;

std::string journal_path(const std::string& folder, uint32_t loop) {
  return concat(folder, "/loop-", loop, ".journal");
}

// The loops whose journals lie in `folder` and that are not among the first `loops`.
std::vector<uint32_t> strangers_in(const std::string& folder, int loops) {
  std::vector<uint32_t> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    std::string_view digits = name;
    if (!digits.starts_with("loop-") || !digits.ends_with(".journal")) continue;
    digits = digits.substr(5, digits.size() - 5 - 8);
    uint32_t loop = 0;
    if (parse_number(digits, loop) && loop >= static_cast<uint32_t>(loops)) found.push_back(loop);
  }
  return found;
}

}  // namespace

WriterThread::WriterThread(const StoreOptions& options, int loops,
                           std::unique_ptr<Database> database, Counter failures)
    : options_(options),
      loops_(loops),
      database_(std::move(database)),
      failures_(failures),
      access_log_(options.access_log),
      wake_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

WriterThread::~WriterThread() {
  stop();
  if (wake_fd_ >= 0) close(wake_fd_);
}

Result<std::unique_ptr<WriterThread>> WriterThread::create(const StoreOptions& options, int loops,
                                                           const std::string& folder,
                                                           std::unique_ptr<Database> database,
                                                           Counter failures) {
  std::unique_ptr<WriterThread> writer(
      new WriterThread(options, loops, std::move(database), failures));
  if (writer->wake_fd_ < 0) return fail(ErrorCode::kStore, "There is no file descriptor left.");
  Archiver::Stored stored;
  if (writer->access_log_.enabled()) {
    stored = [log = &writer->access_log_](std::string_view record) { log->add(record); };
  }
  Result<std::unique_ptr<Archiver>> archiver =
      Archiver::create(*writer->database_, options.faults, std::move(stored));
  if (!archiver) return fail(archiver.error());
  writer->archiver_ = std::move(*archiver);
  if (Status opened = writer->open_journals(folder); !opened) return fail(opened.error());
  writer->database_->set_busy_timeout_ms(kBusyTimeoutMs);
  return writer;
}

Status WriterThread::open_journals(const std::string& folder) {
  for (int loop = 0; loop < loops_; ++loop) {
    const auto number = static_cast<uint32_t>(loop);
    if (Status opened = open_journal(journal_path(folder, number), number); !opened) return opened;
    for (int i = 0; i < kAsideAtOnce; ++i) journal_of(loop).set_aside_one();
  }
  for (const uint32_t loop : strangers_in(folder, loops_)) {
    if (Status opened = open_journal(journal_path(folder, loop), loop); !opened) return opened;
  }
  return archiver_->interrupt_orphans();
}

Status WriterThread::open_journal(const std::string& path, uint32_t loop) {
  const Result<Archiver::Place> place = archiver_->place_of(loop);
  if (!place) return fail(place.error());
  const Result<std::array<uint8_t, 16>> store = store_identity(*database_);
  if (!store) return fail(store.error());
  const journal::JournalIdentity identity{*store, loop};
  Result<std::unique_ptr<journal::Journal>> journal = journal::Journal::open(
      path, identity, journal::JournalGeometry::share(options_.journal_bytes, loops_),
      place->oldest, place->stored.sequence, options_.faults);
  if (!journal) return fail(journal.error());
  return archiver_->add(std::move(*journal), *place);
}

bool WriterThread::has_leftover() const {
  for (const auto& tail : archiver_->tails()) {
    if (!tail->boundary_passed()) return true;
  }
  return false;
}

void WriterThread::start() {
  thread_ = std::thread([this] { run(); });
}

void WriterThread::stop() {
  stopping_.store(true);
  wake();
  if (thread_.joinable()) thread_.join();
}

void WriterThread::wake() {
  const uint64_t one = 1;
  // Fails only when the thread has more wake-ups pending than it could count.
  [[maybe_unused]] const ssize_t ignored = ::write(wake_fd_, &one, sizeof one);
}

void WriterThread::run() {
  while (!stopping_.load()) {
    wait(timeout_ms());
    archive_all();
    answer_search();
    set_aside();
    if (monotonic_ns() >= next_second_) each_second();
    if (prune_pending_) prune();
  }
  // Whole segments are given back, so that the next start finds nothing to do.
  for (const auto& tail : archiver_->tails()) tail->loop_has_ended();
  retry_at_ = 0;
  archive_all();
}

int WriterThread::timeout_ms() const {
  return aside_pending_ || prune_pending_ ? 0 : kPollMs;
}

void WriterThread::wait(int timeout_ms) {
  pollfd wanted{wake_fd_, POLLIN, 0};
  if (poll(&wanted, 1, timeout_ms) <= 0) return;
  uint64_t count;
  [[maybe_unused]] const ssize_t ignored = ::read(wake_fd_, &count, sizeof count);
}

void WriterThread::archive_all() {
  uint64_t generation;
  {
    const std::lock_guard guard(drain_lock_);
    generation = drain_wanted_;
  }
  const bool asked = generation != drain_done_;
  if (!asked && monotonic_ns() < retry_at_) return;
  // Not until nothing is left: under load there always is, and each look would find a few calls.
  Result<bool> more = true;
  while (more.has_value() && *more) more = archiver_->archive();
  if (!more) {
    failures_.add();
    retry_at_ = monotonic_ns() + kRetryNs;
  }
  note(archive_trouble_, more.has_value() ? std::string() : more.error().message);
  if (access_log_.enabled()) note(log_trouble_, access_log_.flush());
  publish();
  answer_drains(generation);
}

void WriterThread::answer_drains(uint64_t generation) {
  {
    const std::lock_guard guard(drain_lock_);
    if (drain_done_ == generation) return;
    drain_done_ = generation;
  }
  drained_.notify_all();
}

std::vector<std::string> WriterThread::find_waiting(std::string_view name,
                                                    std::chrono::milliseconds timeout) {
  const std::lock_guard alone(asking_lock_);
  std::unique_lock guard(search_lock_);
  search_name_ = name;
  search_wanted_ = true;
  wake();
  searched_.wait_for(guard, timeout, [this] { return !search_wanted_; });
  search_wanted_ = false;
  return std::exchange(search_found_, {});
}

// The journals belong to this thread: others ask it to look.
void WriterThread::answer_search() {
  {
    const std::lock_guard guard(search_lock_);
    if (!search_wanted_) return;
    const journal::CallName name(search_name_);
    search_found_ = archiver_->find_waiting(name, CallQuery::kLimitMax);
    std::reverse(search_found_.begin(), search_found_.end());
    search_wanted_ = false;
  }
  searched_.notify_all();
}

// Journals of loops that this process does not have are removed once they are stored.
void WriterThread::drop_empty_strangers() {
  auto& tails = archiver_->tails();
  const auto first = static_cast<size_t>(loops_);
  for (size_t i = tails.size(); i > first; --i) {
    if (tails[i - 1]->has_work()) continue;
    std::error_code ignored;
    std::filesystem::remove(tails[i - 1]->journal().path(), ignored);
    tails.erase(tails.begin() + static_cast<std::ptrdiff_t>(i - 1));
  }
}

void WriterThread::set_aside() {
  if (!aside_pending_) return;
  aside_pending_ = false;
  int refused = 0;
  for (int loop = 0; loop < loops_; ++loop) {
    for (int i = 0; i < kAsideBatch && journal_of(loop).set_aside_one(); ++i) {
    }
    if (journal_of(loop).all_set_aside()) continue;
    if (journal_of(loop).set_aside_error() == 0) aside_pending_ = true;
    refused = std::max(refused, journal_of(loop).set_aside_error());
  }
  note(aside_trouble_, refused == 0 ? std::string()
                                    : concat("The journal's reserve cannot be set aside: ",
                                             std::string_view(std::strerror(refused)), "."));
  publish();
}

void WriterThread::each_second() {
  const Nanos now = monotonic_ns();
  drop_empty_strangers();
  next_second_ = now + kSecond;
  aside_pending_ = true;  // once more, should the disk have refused
  check_keys();
  if (now >= next_prune_) {
    next_prune_ = now + kPruneEveryNs;
    prune_pending_ = true;
  }
}

void WriterThread::check_keys() {
  const Result<int64_t> data = database_->number("PRAGMA data_version");
  if (!data) return;
  const bool asked = look_at_keys_.exchange(false);
  if (!asked && keys_version_ >= 0 && *data == data_version_) return;
  const Result<int64_t> keys =
      database_->number("SELECT value FROM facts WHERE name = 'keys_version'");
  if (!keys) return;
  data_version_ = *data;
  const bool changed = keys_version_ >= 0 && *keys != keys_version_;
  keys_version_ = *keys;
  if (!changed) return;
  const std::lock_guard guard(keys_lock_);
  if (keys_changed_ != nullptr) keys_changed_();
}

void WriterThread::prune() {
  const Result<bool> more =
      prune_step(*database_, {options_.keep_days, options_.bytes_max}, wall_ns());
  prune_pending_ = more.has_value() && *more;
  note(prune_trouble_, more.has_value() ? std::string() : more.error().message);
}

void WriterThread::note(std::string& trouble, const Status& status) {
  note(trouble, status ? std::string_view() : std::string_view(status.error().message));
}

// Logs the beginning and the end of a trouble, not each of its occurrences.
void WriterThread::note(std::string& trouble, std::string_view message) {
  const std::lock_guard guard(trouble_lock_);
  if (trouble == message) return;
  if (message.empty()) {
    log_info("store", concat("Over: ", trouble));
  } else {
    log_warning("store", message);
  }
  trouble = message;
}

void WriterThread::publish() {
  uint64_t stored = 0, free = 0;
  for (int loop = 0; loop < loops_; ++loop) {
    stored += archiver_->tails()[static_cast<size_t>(loop)]->ends_accepted();
    free += uint64_t{journal_of(loop).free_segments()} * journal_of(loop).geometry().segment_bytes;
  }
  stored_calls_.store(stored, std::memory_order_relaxed);
  free_bytes_.store(free, std::memory_order_relaxed);
}

void WriterThread::drain(std::chrono::milliseconds timeout) {
  if (stopping_.load()) return;
  std::unique_lock guard(drain_lock_);
  const uint64_t wanted = ++drain_wanted_;
  wake();
  drained_.wait_for(guard, timeout, [&] { return drain_done_ >= wanted; });
}

std::vector<std::string> WriterThread::troubles() const {
  const std::lock_guard guard(trouble_lock_);
  std::vector<std::string> all;
  for (const std::string* trouble :
       {&archive_trouble_, &aside_trouble_, &log_trouble_, &prune_trouble_}) {
    if (!trouble->empty()) all.push_back(*trouble);
  }
  return all;
}

void WriterThread::on_keys_changed(std::function<void()> changed) {
  const std::lock_guard guard(keys_lock_);
  keys_changed_ = std::move(changed);
}

void WriterThread::look_at_keys() {
  look_at_keys_.store(true);
  wake();
}

}  // namespace hw::store
