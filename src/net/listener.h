// Listener: accepts connections for one loop. Several loops listen on one port (SO_REUSEPORT); what
// the kernel deals unevenly, the accepting side hands on.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "net/loop.h"

namespace hw::net {

class Listener {
 public:
  // Called on the loop's thread with each accepted, non-blocking descriptor; owns it from then on.
  using OnAccept = std::function<void(int fd)>;

  // Binds and listens; `port` 0 takes a free one. Errors: kConfig with address and reason.
  static Result<std::unique_ptr<Listener>> open(Loop& loop, const std::string& host, uint16_t port,
                                                OnAccept on_accept);
  // Whether a listener of any process has the port already, which SO_REUSEPORT would share in
  // silence; call it before the first open(). Errors: kConfig with address and reason.
  static Status check_free(const std::string& host, uint16_t port);
  // Whether an error of the two above means that another listener has the port.
  static bool is_taken(const Error& error);
  ~Listener();

  // Begins to accept; on the loop's thread or before it runs.
  void start();
  // Accepts no more and closes the port; on the loop's thread.
  void stop();
  uint16_t port() const { return port_; }

 private:
  struct Impl;
  explicit Listener(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
  uint16_t port_ = 0;
};

}  // namespace hw::net
