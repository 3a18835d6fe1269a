// TlsContext: certificates, trust and session resumption for one side of TLS on one loop. OpenSSL
// contends on locks when threads share a context, so each loop makes its own.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct ssl_ctx_st;
struct ssl_st;
struct ssl_session_st;

namespace hw::net {

class TlsContext {
 public:
  // For upstreams: verifies against the system's roots and those in `ca_pem` (empty: none).
  // Errors: those of check_trust().
  static Result<std::unique_ptr<TlsContext>> client(std::string_view ca_pem);
  // Whether `ca_pem` is a list of certificates in PEM, one at least. Errors: kConfig with OpenSSL's
  // words.
  static Status check_trust(std::string_view ca_pem);
  // For clients of ours: a PEM chain and its key. Errors: kConfig with the file and OpenSSL's
  // words.
  static Result<std::unique_ptr<TlsContext>> server(const std::string& certificate_file,
                                                    const std::string& key_file);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  // A new connection object bound to descriptor `fd`; the caller frees it.
  ssl_st* open(int fd);
  // Prepares `ssl` to connect to `host`: SNI, host name verification, a session to resume.
  void prepare_client(ssl_st* ssl, const std::string& host);

 private:
  TlsContext() = default;
  struct Sessions;
  ssl_ctx_st* context_ = nullptr;
  std::unique_ptr<Sessions> sessions_;  // client side: the last session of each host
};

}  // namespace hw::net
