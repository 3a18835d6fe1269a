#include "net/certificate.h"

#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/text.h"
#include "net/resolver.h"

namespace hw::net {
namespace {

constexpr size_t kNamesMax = 20;

struct Close {
  int fd = -1;
  ~Close() {
    if (fd >= 0) ::close(fd);
  }
};

// Waits for `events` on `fd`; false when the time is over.
bool wait_for(int fd, short events, Nanos until) {
  const Nanos left = until - monotonic_ns();
  pollfd one{fd, events, 0};
  return left > 0 && ::poll(&one, 1, static_cast<int>(left / kMillisecond) + 1) > 0;
}

// A connected, non-blocking socket, or -1.
int connect_to(const Addresses& addresses, Nanos until) {
  for (const Address& address : addresses) {
    Close socket{::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    if (socket.fd < 0) continue;
    const auto* to = reinterpret_cast<const sockaddr*>(&address.storage);
    if (::connect(socket.fd, to, address.size) != 0 && errno != EINPROGRESS) continue;
    int error = 0;
    socklen_t size = sizeof error;
    if (!wait_for(socket.fd, POLLOUT, until)) continue;
    if (::getsockopt(socket.fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0) {
      return std::exchange(socket.fd, -1);
    }
  }
  return -1;
}

std::string common_name(const X509_NAME* name) {
  const int at = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
  if (at < 0) {
    char line[256] = {};
    X509_NAME_oneline(name, line, sizeof line);
    return line;
  }
  unsigned char* text = nullptr;
  const int size =
      ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
  std::string out;
  if (size > 0) out.assign(reinterpret_cast<char*>(text), static_cast<size_t>(size));
  OPENSSL_free(text);
  return out;
}

std::string date(const ASN1_TIME* time) {
  tm parts{};
  if (time == nullptr || ASN1_TIME_to_tm(time, &parts) != 1) return {};
  char text[32];
  return std::string(text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts));
}

std::string name_text(const GENERAL_NAME* name) {
  if (name->type == GEN_DNS) {
    return std::string(reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName)),
                       static_cast<size_t>(ASN1_STRING_length(name->d.dNSName)));
  }
  if (name->type != GEN_IPADD) return {};
  const int size = ASN1_STRING_length(name->d.iPAddress);
  char text[INET6_ADDRSTRLEN] = {};
  ::inet_ntop(size == 4 ? AF_INET : AF_INET6, ASN1_STRING_get0_data(name->d.iPAddress), text,
              sizeof text);
  return text;
}

void read_names(X509* certificate, std::vector<std::string>& out) {
  auto* names = static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(names) && out.size() < kNamesMax; ++i) {
    std::string name = name_text(sk_GENERAL_NAME_value(names, i));
    if (!name.empty()) out.push_back(std::move(name));
  }
  GENERAL_NAMES_free(names);
}

// Goes through the handshake; false where it fails or takes too long.
bool shake_hands(SSL* ssl, int fd, Nanos until) {
  for (;;) {
    const int done = SSL_connect(ssl);
    if (done == 1) return true;
    const int why = SSL_get_error(ssl, done);
    if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE) return false;
    if (!wait_for(fd, why == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT, until)) return false;
  }
}

}  // namespace

Result<CertificateFacts> fetch_certificate(const std::string& host, uint16_t port,
                                           Nanos timeout_ns) {
  const Nanos until = monotonic_ns() + timeout_ns;
  const Result<Addresses> addresses = look_up(host, port);
  if (!addresses.has_value()) return fail(addresses.error());
  const Close socket{connect_to(*addresses, until)};
  if (socket.fd < 0) return fail(ErrorCode::kConnect, concat("cannot connect to ", host));
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_client_method()),
                                                                  SSL_CTX_free);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_NONE, nullptr);
  const std::unique_ptr<SSL, decltype(&SSL_free)> ssl(SSL_new(context.get()), SSL_free);
  SSL_set_fd(ssl.get(), socket.fd);
  in6_addr ignored;
  const bool address = ::inet_pton(AF_INET, host.c_str(), &ignored) == 1 ||
                       ::inet_pton(AF_INET6, host.c_str(), &ignored) == 1;
  if (!address) SSL_set_tlsext_host_name(ssl.get(), host.c_str());
  if (!shake_hands(ssl.get(), socket.fd, until)) {
    return fail(ErrorCode::kConnect, concat("no TLS handshake with ", host));
  }
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(
      SSL_get1_peer_certificate(ssl.get()), X509_free);
  if (certificate == nullptr) return fail(ErrorCode::kConnect, "no certificate was sent");
  CertificateFacts out;
  const X509_NAME* subject = X509_get_subject_name(certificate.get());
  const X509_NAME* issuer = X509_get_issuer_name(certificate.get());
  out.subject = common_name(subject);
  out.issuer = common_name(issuer);
  out.self_signed = X509_NAME_cmp(subject, issuer) == 0;
  out.not_before = date(X509_get0_notBefore(certificate.get()));
  out.not_after = date(X509_get0_notAfter(certificate.get()));
  out.sent = sk_X509_num(SSL_get_peer_cert_chain(ssl.get()));
  read_names(certificate.get(), out.names);
  return out;
}

}  // namespace hw::net
