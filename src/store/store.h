// Store: the call log and the keys, on disk. Loops append to a journal without waiting; one writer
// thread moves finished calls into SQLite.
//
//   auto store = Store::open(options, loops, metrics());       // start-up, blocking
//   CallSink& sink = (*store)->sink(loop);                      // on each loop
//   auto calls = (*store)->find("req_...");                     // blocking pool
//   (*store)->stop();                                           // after the loops have ended
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/metrics.h"
#include "base/result.h"
#include "store/call_query.h"
#include "store/call_sink.h"
#include "store/health.h"
#include "store/key_store.h"
#include "store/options.h"
#include "timeline/call.h"

namespace hw::store {

class Store {
 public:
  // Opens or makes database and journal and starts the writer thread. What a process that died had
  // left in the journal is stored by that thread, soon after. Registers its metrics in `registry`,
  // which must outlive the store. Errors (kStore): the folder cannot be written, the database is
  // newer than this program or none at all, another process has this store open.
  static Result<std::unique_ptr<Store>> open(const StoreOptions& options, int loops,
                                             Registry& registry);
  // The process that has this store open: 0 where none has, -1 where it is not known which. Makes
  // nothing.
  static int holder(const StoreOptions& options);
  // Stops if need be.
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // The sink of loop 0 <= loop < loops; to be used by one thread at a time, until stop().
  CallSink& sink(int loop);

  // The calls with this id (one at most), or this client_request_id or trace id (latest first, at
  // most CallQuery::kLimitMax). Empty where there is none. Blocks: first what has ended is stored,
  // which takes up to 200 ms; what the database does not take is looked for in the journals. From
  // any thread.
  Result<std::vector<timeline::Call>> find(std::string_view id_or_alias);
  // A page of the log. Blocks likewise. kBadRequest: `before` is no call of this log.
  Result<CallPage> list(const CallQuery& query);

  // The keys of this database, for the admin API.
  KeyStore& keys();
  // Calls `changed` on the writer thread when keys were changed by anyone, another process too
  // (noticed within a second). Replaces the callback before; none: nullptr. Once this returns, the
  // callback before is not running and never will.
  void on_keys_changed(std::function<void()> changed);

  // From any thread; does not block.
  StoreHealth health() const;

  // Stores what has ended and ends the writer thread. Loops must not use their sinks any more.
  // Calls that are still open then come back as `interrupted` after the next start. Idempotent.
  void stop();

 private:
  struct Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hw::store
