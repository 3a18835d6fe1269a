#include "translate/translation.h"

#include "base/clock.h"
#include "translate/request_reader.h"
#include "translate/request_writer.h"

namespace hw::translate {

Result<std::unique_ptr<Translation>> Translation::read(Dialect client, std::string_view body,
                                                       std::string_view model, const RequestId& id,
                                                       int64_t input_estimate) {
  std::unique_ptr<Translation> out(new Translation(client));
  out->request_ = std::make_unique<Request>();
  Request& request = *out->request_;
  if (const Status got = read_request(client, body, request); !got) return fail(got.error());
  Reply& reply = out->reply_;
  reply.model = model;
  reply.request_id = id.view();
  reply.created_s = id.wall() / kSecond;
  reply.include_usage = request.include_usage.value_or(false);
  reply.encrypted_reasoning = request.include_encrypted_reasoning;
  reply.input_estimate = input_estimate;
  reply.tools = ToolNames(request);
  reply.max_tokens = request.max_tokens;
  reply.temperature = request.temperature;
  reply.top_p = request.top_p;
  return out;
}

Status Translation::write(Dialect upstream, const Target& target) {
  upstream_ = upstream;
  fidelity_ = std::make_unique<Fidelity>(client_, upstream);
  body_.clear();
  write_request(upstream, *request_, target, *fidelity_, body_);
  return fidelity_->status();
}

void Translation::drop_request() {
  request_.reset();
  body_ = std::string();
}

std::unique_ptr<StreamTranslator> Translation::make_stream() {
  return std::make_unique<StreamTranslator>(upstream_, client_, reply_, *fidelity_);
}

Status Translation::append_answer(std::string_view answer, std::string& out) {
  Events events;
  if (Status got = read_answer(upstream_, answer, events); !got) return got;
  for (const Event& event : events) {
    const Failed* const failed = std::get_if<Failed>(&event);
    if (failed != nullptr) return fail(ErrorCode::kUpstreamError, failed->words.message);
  }
  write_answer(client_, events, reply_, *fidelity_, out);
  return {};
}

}  // namespace hw::translate
