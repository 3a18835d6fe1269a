#include "gateway/snapshot.h"

namespace hw::gateway {
namespace {

http::HalfClosePolicy policy(HalfClose setting) {
  switch (setting) {
    case HalfClose::kAbort:
      return http::HalfClosePolicy::kAbort;
    case HalfClose::kServe:
      return http::HalfClosePolicy::kServe;
    case HalfClose::kProbe:
      return http::HalfClosePolicy::kProbe;
  }
  return http::HalfClosePolicy::kAbort;
}

}  // namespace

http::ServerOptions server_options(const Options& options) {
  http::ServerOptions out;
  out.head.head_bytes_max = static_cast<size_t>(options.head_bytes_max);
  out.head_ms = options.timeouts.head_ms;
  out.idle_ms = options.idle_ms;
  out.write_stall_ms = options.timeouts.write_stall_ms;
  out.half_close = policy(options.client_half_close);
  out.connections_max = options.connections_max;
  return out;
}

}  // namespace hw::gateway
