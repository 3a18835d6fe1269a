#include "net/tls.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cstring>
#include <unordered_map>

#include "base/assert.h"
#include "base/text.h"

namespace hw::net {
namespace {

// How many upstream hosts keep a session; more than any sensible configuration has channels.
constexpr size_t kSessionsMax = 1024;

std::string openssl_words() {
  const unsigned long code = ERR_get_error();
  const char* reason = code != 0 ? ERR_reason_error_string(code) : nullptr;
  if (ERR_SYSTEM_ERROR(code)) reason = std::strerror(ERR_GET_REASON(code));
  ERR_clear_error();
  return reason != nullptr ? reason : "unknown OpenSSL error";
}

// Adds the certificates of `pem` to `store`, or only reads them where that is null.
Status read_certificates(std::string_view pem, X509_STORE* store) {
  ERR_clear_error();
  const std::unique_ptr<BIO, decltype(&BIO_free)> bytes(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  HW_ASSERT(bytes != nullptr);
  for (int count = 0;; ++count) {
    const std::unique_ptr<X509, decltype(&X509_free)> one(
        PEM_read_bio_X509(bytes.get(), nullptr, nullptr, nullptr), X509_free);
    if (one == nullptr) {
      const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
      if (at_end && count > 0) break;
      if (at_end) return fail(ErrorCode::kConfig, "there is no certificate in PEM in it");
      return fail(ErrorCode::kConfig, openssl_words());
    }
    if (store != nullptr) X509_STORE_add_cert(store, one.get());
  }
  ERR_clear_error();
  return {};
}

bool is_ip_address(const std::string& host) {
  unsigned char bytes[16];
  return ::inet_pton(AF_INET, host.c_str(), bytes) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

}  // namespace

// The last session of each host, offered at the next handshake: one saved handshake pays for
// several hundred tokens.
struct TlsContext::Sessions {
  std::unordered_map<std::string, SSL_SESSION*> by_host;

  ~Sessions() {
    for (auto& [host, session] : by_host) SSL_SESSION_free(session);
  }

  static int keep(SSL* ssl, SSL_SESSION* session) {
    auto* self = static_cast<Sessions*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
    const char* host = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    if (self == nullptr || host == nullptr) return 0;
    auto found = self->by_host.find(host);
    if (found != self->by_host.end()) {
      SSL_SESSION_free(found->second);
      found->second = session;
      return 1;  // we keep the reference
    }
    if (self->by_host.size() >= kSessionsMax) return 0;
    self->by_host.emplace(host, session);
    return 1;
  }
};

Status TlsContext::check_trust(std::string_view ca_pem) {
  return read_certificates(ca_pem, nullptr);
}

Result<std::unique_ptr<TlsContext>> TlsContext::client(std::string_view ca_pem) {
  std::unique_ptr<TlsContext> made(new TlsContext);
  made->context_ = SSL_CTX_new(TLS_client_method());
  HW_ASSERT(made->context_ != nullptr);
  SSL_CTX* context = made->context_;
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_default_verify_paths(context);
  if (!ca_pem.empty()) {
    const Status added = read_certificates(ca_pem, SSL_CTX_get_cert_store(context));
    if (!added) return fail(added.error());
  }
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  made->sessions_ = std::make_unique<Sessions>();
  SSL_CTX_set_app_data(context, made->sessions_.get());
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL_STORE);
  SSL_CTX_sess_set_new_cb(context, Sessions::keep);
  return made;
}

Result<std::unique_ptr<TlsContext>> TlsContext::server(const std::string& certificate_file,
                                                       const std::string& key_file) {
  std::unique_ptr<TlsContext> made(new TlsContext);
  made->context_ = SSL_CTX_new(TLS_server_method());
  HW_ASSERT(made->context_ != nullptr);
  SSL_CTX* context = made->context_;
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  if (SSL_CTX_use_certificate_chain_file(context, certificate_file.c_str()) != 1) {
    return fail(ErrorCode::kConfig,
                concat("cannot use the certificate ", certificate_file, ": ", openssl_words()));
  }
  if (SSL_CTX_use_PrivateKey_file(context, key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
    const unsigned long code = ERR_peek_last_error();
    const bool foreign =
        ERR_GET_LIB(code) == ERR_LIB_X509 && ERR_GET_REASON(code) == X509_R_KEY_VALUES_MISMATCH;
    const std::string words = openssl_words();
    if (!foreign)
      return fail(ErrorCode::kConfig, concat("cannot use the key ", key_file, ": ", words));
    return fail(
        ErrorCode::kConfig,
        concat("the key ", key_file, " does not belong to the certificate ", certificate_file));
  }
  return made;
}

TlsContext::~TlsContext() {
  SSL_CTX_free(context_);
}

SSL* TlsContext::open(int fd) {
  SSL* ssl = SSL_new(context_);
  HW_ASSERT(ssl != nullptr);
  HW_ASSERT(SSL_set_fd(ssl, fd) == 1);
  return ssl;
}

void TlsContext::prepare_client(SSL* ssl, const std::string& host) {
  if (is_ip_address(host)) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host.c_str());
    return;
  }
  SSL_set_tlsext_host_name(ssl, host.c_str());
  SSL_set1_host(ssl, host.c_str());
  if (sessions_ == nullptr) return;
  const auto found = sessions_->by_host.find(host);
  if (found != sessions_->by_host.end()) SSL_set_session(ssl, found->second);
}

}  // namespace hw::net
