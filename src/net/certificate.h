// The certificate that a server presents, looked at without trusting it: for telling a person why
// it was refused. Blocking; not for the data path.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace hw::net {

// What a certificate says of itself; nobody has vouched for any of it.
struct CertificateFacts {
  std::string subject, issuer;        // common names, or the whole name where there is none
  std::vector<std::string> names;     // DNS names and addresses that it is for, at most 20
  std::string not_before, not_after;  // "2026-01-31 12:00:00" in UTC
  bool self_signed = false;           // subject and issuer are one
  int sent = 0;                       // certificates that the server sent, its own included
};

// Connects to `host`, shakes hands without verifying anything, and gives the server's certificate;
// sends no byte beside. Errors: kConnect, kTimeoutConnect.
Result<CertificateFacts> fetch_certificate(const std::string& host, uint16_t port,
                                           Nanos timeout_ns);

}  // namespace hw::net
