#include "store/store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/assert.h"
#include "base/log.h"
#include "base/text.h"
#include "journal/call_codec.h"
#include "journal/loop_journal.h"
#include "store/call_reader.h"
#include "store/schema.h"
#include "store/writer_thread.h"

namespace hw::store {
namespace {

// How long a query waits for calls that have just ended. A healthy database takes a few
// milliseconds.
constexpr std::chrono::milliseconds kDrainTimeout{200};
// How long it waits for a look into the journals, which are 64 MiB and in memory.
constexpr std::chrono::milliseconds kSearchTimeout{1'000};
// What a process that died has left is stored before open() returns, unless it is more than this
// takes.
constexpr std::chrono::milliseconds kLeftoverTimeout{500};
constexpr Nanos kLossRecentNs = 60 * kSecond;

std::string journal_folder(const std::string& database) {
  return std::filesystem::path(database).replace_extension(".journal").string();
}

// Holds the folder for this process; the lock goes with the process.
class FolderLock {
 public:
  FolderLock() = default;
  ~FolderLock() {
    if (fd_ >= 0) close(fd_);
  }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  Status take(const std::string& folder) {
    std::error_code made;
    std::filesystem::create_directories(folder, made);
    const std::string path = folder + "/lock";
    fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd_ < 0) {
      return fail(ErrorCode::kStore, concat("The journal's folder ", folder, " cannot be used: ",
                                            std::string_view(std::strerror(errno)), "."));
    }
    if (flock(fd_, LOCK_EX | LOCK_NB) == 0) return note_holder();
    return fail(ErrorCode::kStore, concat("Another process has the store in ", folder,
                                          " open. Stop it, or set [store] path to another file."));
  }

  // The process that holds the folder; 0: none, -1: one that did not say which.
  static int holder(const std::string& folder) {
    const int fd = ::open((folder + "/lock").c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    const bool free = flock(fd, LOCK_SH | LOCK_NB) == 0;
    char text[16] = {};
    const ssize_t size = free ? 0 : ::read(fd, text, sizeof text);
    ::close(fd);
    if (free) return 0;
    int pid = -1;
    std::string_view digits(text, static_cast<size_t>(std::max<ssize_t>(size, 0)));
    digits = digits.substr(0, digits.find('\n'));
    return parse_number(digits, pid) && pid > 0 ? pid : -1;
  }

 private:
  // For people who find the folder taken. A full disk is no reason not to start.
  Status note_holder() {
    const std::string pid = concat(::getpid(), "\n");
    if (::ftruncate(fd_, 0) != 0 || ::write(fd_, pid.data(), pid.size()) < 0) {
      log_warning("store", concat("cannot note the process in the lock: ",
                                  std::string_view(std::strerror(errno))));
    }
    return {};
  }

  int fd_ = -1;
};

// The sink of one loop.
class LoopSink final : public CallSink {
 public:
  LoopSink(journal::Journal& journal, Counter lost, std::function<void()> filled)
      : loop_journal(journal, lost, std::move(filled)) {}
  void begin(const timeline::Call& call) override { loop_journal.begin(call); }
  void end(const timeline::Call& call) override { loop_journal.end(call); }

  journal::LoopJournal loop_journal;
};

}  // namespace

struct Store::Impl {
  explicit Impl(const StoreOptions& options) : reader(options.path) {}

  FolderLock lock;
  std::unique_ptr<WriterThread> writer;
  std::vector<std::unique_ptr<LoopSink>> sinks;
  std::unique_ptr<KeyStore> keys;
  CallReader reader;
  bool stopped = false;

  mutable std::mutex loss_lock;
  mutable uint64_t loss_seen = 0;
  mutable Nanos loss_at = 0;
  CollectHook hook;  // last: ends first

  uint64_t lost() const {
    uint64_t sum = 0;
    for (const auto& sink : sinks) sum += sink->loop_journal.lost();
    return sum;
  }
  uint64_t pending() const {
    // Stored first: a call that ends between the two counts as pending, not as below zero.
    const uint64_t stored = writer->stored_calls();
    uint64_t ended = 0;
    for (const auto& sink : sinks) ended += sink->loop_journal.ended();
    return ended > stored ? ended - stored : 0;
  }
  bool lost_lately() const;
  void add_sinks(int loops, Registry& registry);
};

void Store::Impl::add_sinks(int loops, Registry& registry) {
  const Counter lost =
      registry.counter("headway_store_lost_calls_total",
                       "Calls that were lost because the journal's reserve was full.");
  for (int loop = 0; loop < loops; ++loop) {
    sinks.push_back(
        std::make_unique<LoopSink>(writer->journal_of(loop), lost, [this] { writer->wake(); }));
  }
  const Gauge pending_gauge = registry.gauge(
      "headway_store_pending_calls", "Calls that have ended and are not in the database yet.");
  const Gauge free_gauge =
      registry.gauge("headway_store_journal_free_bytes", "What is left of the journal's reserve.");
  hook = registry.on_collect([this, pending_gauge, free_gauge] {
    pending_gauge.set(static_cast<int64_t>(pending()));
    free_gauge.set(static_cast<int64_t>(writer->free_bytes()));
  });
}

// Whether calls were lost within the last minute, as far as anyone has asked.
bool Store::Impl::lost_lately() const {
  const std::lock_guard guard(loss_lock);
  const uint64_t now_lost = lost();
  const Nanos now = monotonic_ns();
  if (now_lost != loss_seen) {
    loss_seen = now_lost;
    loss_at = now;
  }
  return loss_seen > 0 && now - loss_at < kLossRecentNs;
}

int Store::holder(const StoreOptions& options) {
  return FolderLock::holder(journal_folder(options.path));
}

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Store::~Store() {
  stop();
}

Result<std::unique_ptr<Store>> Store::open(const StoreOptions& options, int loops,
                                           Registry& registry) {
  HW_ASSERT(loops > 0);
  auto impl = std::make_unique<Impl>(options);
  const std::string folder = journal_folder(options.path);
  if (Status taken = impl->lock.take(folder); !taken) return fail(taken.error());
  Result<std::unique_ptr<Database>> database = open_store_database(options.path);
  if (!database) return fail(database.error());
  const Counter failures =
      registry.counter("headway_store_failures_total", "Transactions that the database refused.");
  Result<std::unique_ptr<WriterThread>> writer =
      WriterThread::create(options, loops, folder, std::move(*database), failures);
  if (!writer) return fail(writer.error());
  impl->writer = std::move(*writer);
  Result<std::unique_ptr<KeyStore>> keys = KeyStore::open(options.path);
  if (!keys) return fail(keys.error());
  impl->keys = std::move(*keys);
  impl->keys->changed_ = [thread = impl->writer.get()] { thread->look_at_keys(); };
  impl->add_sinks(loops, registry);
  const bool leftover = impl->writer->has_leftover();
  impl->writer->start();
  if (leftover) impl->writer->drain(kLeftoverTimeout);
  return std::unique_ptr<Store>(new Store(std::move(impl)));
}

CallSink& Store::sink(int loop) {
  HW_ASSERT(loop >= 0 && static_cast<size_t>(loop) < impl_->sinks.size());
  return *impl_->sinks[static_cast<size_t>(loop)];
}

Result<std::vector<timeline::Call>> Store::find(std::string_view id_or_alias) {
  impl_->writer->drain(kDrainTimeout);
  Result<std::vector<timeline::Call>> stored = impl_->reader.find(id_or_alias);
  if (impl_->stopped || (stored.has_value() && !stored->empty())) return stored;
  std::vector<timeline::Call> waiting;
  for (const std::string& record : impl_->writer->find_waiting(id_or_alias, kSearchTimeout)) {
    Result<timeline::Call> call = journal::decode_call(record);
    if (call.has_value()) waiting.push_back(std::move(*call));
  }
  // It may have been stored between the two looks.
  if (waiting.empty()) return impl_->reader.find(id_or_alias);
  return waiting;
}

Result<CallPage> Store::list(const CallQuery& query) {
  impl_->writer->drain(kDrainTimeout);
  return impl_->reader.list(query);
}

KeyStore& Store::keys() {
  return *impl_->keys;
}

void Store::on_keys_changed(std::function<void()> changed) {
  impl_->writer->on_keys_changed(std::move(changed));
}

StoreHealth Store::health() const {
  StoreHealth health;
  health.reasons = impl_->writer->troubles();
  health.pending_calls = impl_->pending();
  health.lost_calls = impl_->lost();
  if (impl_->lost_lately()) {
    health.reasons.push_back(concat("Calls are being lost: the journal's reserve is used up (",
                                    health.lost_calls, " so far)."));
  }
  if (!health.reasons.empty()) health.state = StoreState::kDegraded;
  return health;
}

void Store::stop() {
  if (impl_ == nullptr || impl_->stopped) return;
  impl_->stopped = true;
  for (const auto& sink : impl_->sinks) sink->loop_journal.close();
  impl_->writer->stop();
}

}  // namespace hw::store
