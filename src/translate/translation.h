// Translation: one exchange's request and answer on the way between two dialects; made where the
// first channel that speaks another dialect than the client is about to be tried.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/dialect.h"
#include "base/ids.h"
#include "base/result.h"
#include "neutral/fidelity.h"
#include "neutral/request.h"
#include "neutral/target.h"
#include "translate/stream_translator.h"

namespace hw::translate {

class Translation {
 public:
  // Reads what the client asked. `body`, `model` and `id` outlive this, `body` until
  // drop_request(). kBadRequest where it cannot be read.
  static Result<std::unique_ptr<Translation>> read(Dialect client, std::string_view body,
                                                   std::string_view model, const RequestId& id,
                                                   int64_t input_estimate);

  // Says it in `upstream`'s dialect. kUnsupportedField where a rule refuses it.
  Status write(Dialect upstream, const Target& target);
  // What write() made, and in which dialect.
  std::string_view body() const { return body_; }
  Dialect upstream() const { return upstream_; }
  // The request will not be sent again: frees it.
  void drop_request();

  // For a stream that answers it.
  std::unique_ptr<StreamTranslator> make_stream();
  // Appends the client's answer, of the upstream's whole one. kUpstreamDialect where it is none.
  Status append_answer(std::string_view answer, std::string& out);
  // The fields that were lost so far.
  std::vector<std::string> lossy() const { return fidelity_->lossy(); }

 private:
  explicit Translation(Dialect client) : client_(client) {}

  Dialect client_;
  Dialect upstream_ = Dialect::kOpenaiChat;
  std::unique_ptr<Request> request_;
  Reply reply_;
  std::unique_ptr<Fidelity> fidelity_;  // of the last write()
  std::string body_;
};

}  // namespace hw::translate
