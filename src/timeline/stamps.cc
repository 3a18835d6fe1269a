#include "timeline/stamps.h"

namespace hw::timeline {

std::string_view stamp_name(ExchangeStamp stamp) {
  switch (stamp) {
    case ExchangeStamp::kArrived:
      return "arrived";
    case ExchangeStamp::kHeadRead:
      return "head_read";
    case ExchangeStamp::kBodyRead:
      return "body_read";
    case ExchangeStamp::kAuthorized:
      return "authorized";
    case ExchangeStamp::kAdmitted:
      return "admitted";
    case ExchangeStamp::kFinished:
      return "finished";
  }
  return "?";
}

std::string_view stamp_name(AttemptStamp stamp) {
  switch (stamp) {
    case AttemptStamp::kBegun:
      return "begun";
    case AttemptStamp::kLeased:
      return "leased";
    case AttemptStamp::kResolved:
      return "resolved";
    case AttemptStamp::kConnected:
      return "connected";
    case AttemptStamp::kSecured:
      return "secured";
    case AttemptStamp::kSent:
      return "sent";
    case AttemptStamp::kHead:
      return "head";
    case AttemptStamp::kFirstByte:
      return "first_byte";
    case AttemptStamp::kFirstFrame:
      return "first_frame";
    case AttemptStamp::kFirstToken:
      return "first_token";
    case AttemptStamp::kFirstVisible:
      return "first_visible";
    case AttemptStamp::kLastToken:
      return "last_token";
    case AttemptStamp::kTerminal:
      return "terminal";
    case AttemptStamp::kClosed:
      return "closed";
    case AttemptStamp::kResumed:
      return "resumed";
  }
  return "?";
}

}  // namespace hw::timeline
