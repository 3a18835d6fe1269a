#include "app/gateway_system.h"

#include <algorithm>
#include <mutex>

#include "access/key_sources.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/text.h"
#include "console/answer.h"
#include "console/api.h"
#include "gateway/gateway.h"
#include "net/listener.h"
#include "setup/docs_page.h"
#include "store/store.h"

namespace hw::app {
namespace {

constexpr std::string_view kWhere = "app";
// Of a path that is named in a message.
constexpr size_t kPathShownMax = 80;

bool is_api(std::string_view path) {
  return path == "/api" || path.starts_with("/api/");
}

gateway::MountedAnswer serve_api(const console::Api& api, const gateway::MountedRequest& request) {
  std::vector<access::Presented> credentials;
  for (const auto& one : request.credentials) credentials.push_back({one.source, one.value});
  console::ApiRequest asked;
  asked.method = request.method, asked.path = request.path, asked.query = request.query;
  asked.body = request.body;
  asked.credentials = credentials;
  console::ApiResponse answer =
      is_api(request.path) ? api.handle(asked)
                           : console::error_answer(
                                 Error(ErrorCode::kUnknownRoute,
                                       concat("There is no ", request.path.substr(0, kPathShownMax),
                                              " in this program.")));
  gateway::MountedAnswer out;
  out.status = answer.status;
  out.content_type = std::move(answer.content_type);
  out.body = std::move(answer.body);
  return out;
}

// The set-ups of clients for this gateway. What models there are is told to who has a key.
gateway::MountedAnswer serve_docs(const gateway::MountedRequest& request,
                                  const gateway::Snapshot& current) {
  std::vector<access::Presented> credentials;
  for (const auto& one : request.credentials) credentials.push_back({one.source, one.value});
  setup::DocsFacts facts;
  facts.root = request.root;
  if (access::authorize(*current.keys, credentials))
    facts.models = current.catalogue->model_names();
  gateway::MountedAnswer out;
  out.content_type = setup::kDocsContentType;
  out.content_security_policy = setup::kDocsContentSecurityPolicy;
  out.body = setup::render_docs_page(facts);
  return out;
}

// Two keys of one name are two keys; but a call tells its key by the name.
void warn_of_shared_names(const std::vector<access::DeclaredKey>& declared,
                          const std::vector<store::StoredKey>& stored) {
  for (const access::DeclaredKey& one : declared) {
    const auto made = std::find_if(stored.begin(), stored.end(), [&](const store::StoredKey& key) {
      return key.name == one.name;
    });
    if (made == stored.end()) continue;
    log_warning(kWhere,
                concat("the configuration declares a key \"", one.name,
                       "\" and one of that name was made at run time: both are let in, and each "
                       "sees the calls of both. Rename the declared one, or delete the other "
                       "(`headway key delete ",
                       made->id, "`)"));
  }
}

}  // namespace

// `mutex` guards what a reload replaces; it is held for moments, never while something blocks on
// the network or the database.
struct GatewaySystem::Impl {
  SystemClock clock;
  std::unique_ptr<store::Store> store;
  std::unique_ptr<console::Api> api;
  std::unique_ptr<gateway::Gateway> gateway;
  int loops = 1;

  std::mutex reload_mutex;  // one reload at a time, from reading the keys to handing over
  GatewayFile started;      // as it was at the start, for what takes a restart

  std::mutex mutex;
  GatewayFile config;
  gateway::Snapshot current;

  Result<gateway::Snapshot> make_snapshot(const GatewayFile& from,
                                          const route::Catalogue* previous) {
    Result<std::vector<store::StoredKey>> stored = store->keys().list();
    if (!stored.has_value()) return fail(stored.error());
    gateway::Snapshot out;
    out.options = from.gateway;
    out.server = gateway::server_options(from.gateway);
    out.catalogue = std::make_shared<const route::Catalogue>(from.channels, previous);
    out.keys = access::make_key_snapshot(from.keys, *stored);
    warn_of_shared_names(from.keys, *stored);
    return out;
  }

  // The keys in the database have changed: a new snapshot with the same settings.
  void refresh_keys() {
    const std::lock_guard serial(reload_mutex);
    Result<std::vector<store::StoredKey>> stored = store->keys().list();
    if (!stored.has_value()) {
      log_error(kWhere, concat("cannot read the keys: ", stored.error().message));
      return;
    }
    gateway::Snapshot next;
    {
      const std::lock_guard lock(mutex);
      current.keys = access::make_key_snapshot(config.keys, *stored);
      next = current;
    }
    if (gateway) gateway->reload(next);
  }

  console::ApiSources api_sources() {
    console::ApiSources out;
    out.find_calls = [this](std::string_view id) { return store->find(id); };
    out.list_calls = [this](const store::CallQuery& query) { return store->list(query); };
    out.list_keys = [this] { return store->keys().list(); };
    out.create_key = [this](std::string_view name, const std::vector<std::string>& models) {
      return store->keys().create(name, models);
    };
    out.set_key_state = [this](std::string_view id, store::KeyState state) {
      return store->keys().set_state(id, state);
    };
    out.remove_key = [this](std::string_view id) { return store->keys().remove(id); };
    out.keys_changed = [this] { refresh_keys(); };
    out.admin_token = [this] {
      const std::lock_guard lock(mutex);
      return config.gateway.admin_token;
    };
    out.keys = [this] {
      const std::lock_guard lock(mutex);
      return current.keys;
    };
    out.declared_keys = [this] {
      const std::lock_guard lock(mutex);
      return config.keys;
    };
    out.catalogue = [this] {
      const std::lock_guard lock(mutex);
      return current.catalogue;
    };
    out.clock = &clock;
    return out;
  }

  gateway::Parts parts() {
    gateway::Parts out;
    out.sink = [this](int loop) -> store::CallSink& { return store->sink(loop); };
    out.mounted = [this](const gateway::MountedRequest& request) {
      const bool asks = request.method == "GET" || request.method == "HEAD";
      if (!asks || request.path != "/docs") return serve_api(*api, request);
      gateway::Snapshot snapshot;
      {
        const std::lock_guard lock(mutex);
        snapshot = current;
      }
      return serve_docs(request, snapshot);
    };
    out.readiness = [this] { return gateway::Readiness{store->health().reasons}; };
    return out;
  }

  Status open() {
    loops = gateway::loop_count(config.gateway);
    Result<std::unique_ptr<store::Store>> opened =
        store::Store::open(config.store, loops, metrics());
    if (!opened.has_value()) return fail(opened.error());
    store = std::move(*opened);
    Result<gateway::Snapshot> snapshot = make_snapshot(config, nullptr);
    if (!snapshot.has_value()) return fail(snapshot.error());
    current = std::move(*snapshot);
    api = std::make_unique<console::Api>(api_sources());
    Result<std::unique_ptr<gateway::Gateway>> listening = gateway::Gateway::open(current, parts());
    if (!listening.has_value()) return fail(listening.error());
    gateway = std::move(*listening);
    store->on_keys_changed([this] { refresh_keys(); });
    return {};
  }

  ~Impl() {
    if (store) store->on_keys_changed(nullptr);
  }
};

GatewaySystem::GatewaySystem(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
GatewaySystem::~GatewaySystem() = default;

GatewaySystem::Obstacle GatewaySystem::find_obstacle(const GatewayFile& config) {
  const int process = store::Store::holder(config.store);
  if (process != 0) return {Obstacle::Kind::kStoreTaken, process};
  const Status free =
      net::Listener::check_free(config.gateway.listen_host, config.gateway.listen_port);
  if (!free.has_value() && net::Listener::is_taken(free.error())) {
    return {Obstacle::Kind::kPortTaken, 0};
  }
  return {};
}

Result<std::unique_ptr<GatewaySystem>> GatewaySystem::open(GatewayFile config) {
  auto impl = std::make_unique<Impl>();
  for (const std::string& note : config.notes) log_warning(kWhere, note);
  if (config.channels.empty()) log_warning(kWhere, "no channel is configured: no model is served");
  impl->started = config;
  impl->config = std::move(config);
  if (const Status opened = impl->open(); !opened) return fail(opened.error());
  return std::unique_ptr<GatewaySystem>(new GatewaySystem(std::move(impl)));
}

void GatewaySystem::run() {
  impl_->gateway->run();
  impl_->store->on_keys_changed(nullptr);
  impl_->store->stop();
}

Result<std::vector<std::string>> GatewaySystem::reload(const GatewayFile& fresh) {
  const std::lock_guard serial(impl_->reload_mutex);
  std::shared_ptr<const route::Catalogue> previous;
  {
    const std::lock_guard lock(impl_->mutex);
    previous = impl_->current.catalogue;
  }
  for (const std::string& note : fresh.notes) log_warning(kWhere, note);
  Result<gateway::Snapshot> snapshot = impl_->make_snapshot(fresh, previous.get());
  if (!snapshot.has_value()) return fail(snapshot.error());
  const Status renewed = impl_->gateway->renew_tls(fresh.gateway.tls);
  if (!renewed) return fail(renewed.error());
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->config = fresh;
    impl_->current = *snapshot;
  }
  impl_->gateway->reload(*snapshot);
  return restart_needed(impl_->started, fresh);
}

void GatewaySystem::stop() {
  impl_->gateway->stop();
}

uint16_t GatewaySystem::port() const {
  return impl_->gateway->port();
}

}  // namespace hw::app
