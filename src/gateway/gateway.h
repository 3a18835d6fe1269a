// Gateway: listens, deals connections out over the loops, and serves them. The one object that app
// makes; everything else in this module is a part of one loop or one exchange.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/snapshot.h"
#include "store/call_sink.h"

namespace hw::gateway {

// A request to what app mounts beside the model API (/api, /console, /chat, /docs).
struct MountedRequest {
  struct Credential {
    access::CredentialSource source;
    std::string value;  // of the header, as it came
  };
  std::string method, path, query;  // query without its '?'
  std::string root;                 // how the client reached us: "http://127.0.0.1:8080"
  std::vector<Credential> credentials;
  std::string body;
};
struct MountedAnswer {
  int status = 200;
  std::string content_type = "application/json";
  std::string content_security_policy;  // of a page; empty: none
  std::string body;
};
// Runs on threads that may block: GET and HEAD on several at once, everything else on one.
using Mounted = std::function<MountedAnswer(const MountedRequest&)>;

// What /readyz answers beside "starting" and "draining".
struct Readiness {
  std::vector<std::string> degraded;  // empty: all is well
};

// What the gateway is given by app.
struct Parts {
  std::function<store::CallSink&(int loop)> sink;
  Mounted mounted;                       // may be null: then those paths are 404
  std::function<Readiness()> readiness;  // may be null; cheap, from any loop
};

class Gateway {
 public:
  // Opens the listening sockets. `settings.options.threads` loops (0: one per core). Errors:
  // kConfig (address in use, certificate unreadable).
  static Result<std::unique_ptr<Gateway>> open(const Snapshot& settings, Parts parts);
  ~Gateway();

  // Serves until stop() is through. Blocks.
  void run();
  // Every exchange that begins from now on follows `settings`; from any thread. Listening address
  // and threads stay as they were, as does whether there is TLS.
  void reload(const Snapshot& settings);
  // Reads certificate and key again, for connections that come from now on; does nothing without
  // TLS. From any thread. Errors: kConfig; then nothing has changed.
  Status renew_tls(const TlsFiles& files);
  // New requests get 503, streams may finish for options.drain_s. What is open then is told so in
  // its dialect and ends, and run() returns. From any thread; a second call ends at once.
  void stop();

  // Where it listens, and with how many loops.
  uint16_t port() const;
  int loops() const;

 private:
  struct Impl;
  explicit Gateway(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// How many loops `options.threads` means on this machine.
int loop_count(const Options& options);

}  // namespace hw::gateway
