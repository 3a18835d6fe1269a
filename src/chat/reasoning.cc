#include "chat/reasoning.h"

#include "base/text.h"
#include "neutral/opaque.h"

namespace hw::translate {
namespace {

constexpr char kSizeMark = '~';
constexpr std::string_view kEnvelopeMark = "hw.";
// More pieces of thinking than this in one message are nobody's.
constexpr size_t kTicketsMax = 256;

struct Ticket {
  std::string envelope;
  uint64_t text_bytes = 0;
};

// What `text` says, tickets with blanks between; others are left out.
void take_tickets(const Text& text, std::vector<Ticket>& tickets) {
  if (!text.bytes().starts_with(kEnvelopeMark)) return;
  const std::string all = text.str();
  std::string_view rest = all;
  while (!rest.empty() && tickets.size() < kTicketsMax) {
    const std::string_view one = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    const size_t mark = one.find(kSizeMark);
    if (mark == std::string_view::npos) continue;
    Ticket ticket;
    ticket.envelope = one.substr(0, mark);
    if (!parse_number(one.substr(mark + 1), ticket.text_bytes)) continue;
    if (unseal(Text::plain(ticket.envelope))) tickets.push_back(std::move(ticket));
  }
}

void take_detail_tickets(const json::Value& details, std::vector<Ticket>& tickets) {
  details.array().each([&](const json::Value& detail) {
    detail.object().each([&](std::string_view key, const json::Value& value) {
      if (key == "data") take_tickets(Text::of(value), tickets);
    });
  });
}

std::vector<Ticket> all_tickets(const ChatReasoning& reasoning) {
  std::vector<Ticket> tickets;
  take_detail_tickets(reasoning.details, tickets);
  if (!tickets.empty()) return tickets;
  for (const Text& signature : reasoning.thought_signatures) take_tickets(signature, tickets);
  return tickets;
}

Part& add(std::vector<Part>& parts, Text text, Text signature) {
  Part& part = parts.emplace_back();
  part.kind = Part::Kind::kReasoning;
  part.text = text;
  part.signature = signature;
  return part;
}

// The text that the details of OpenRouter spell out, where there is no other.
Text details_text(const json::Value& details, Request& out) {
  std::string all;
  details.array().each([&](const json::Value& detail) {
    detail.object().each([&](std::string_view key, const json::Value& value) {
      if (key == "text" || key == "summary") Text::of(value).append_plain(all);
    });
  });
  return all.empty() ? Text() : Text::plain(out.keep(std::move(all)));
}

void append_thinking_block(json::Object block, Request& out, std::vector<Part>& parts) {
  Text text;
  Opaque opaque;
  block.each([&](std::string_view key, const json::Value& value) {
    if (key == "thinking") text = Text::of(value);
    if (key == "signature" || key == "data") {
      opaque.kind = key == "data" ? OpaqueKind::kRedacted : OpaqueKind::kSignature;
      opaque.content = Text::of(value).str();
    }
  });
  Text signature;
  if (!opaque.content.empty()) signature = Text::plain(out.keep(seal(opaque)));
  if (text.present() || signature.present()) add(parts, text, signature);
}

// The pieces of the text, each with its proof. Precondition: the tickets' sizes are the text's.
void append_pieces(const std::vector<Ticket>& tickets, std::string_view text, Request& out,
                   std::vector<Part>& parts) {
  for (const Ticket& ticket : tickets) {
    const Text piece =
        ticket.text_bytes == 0 ? Text() : Text::plain(text.substr(0, ticket.text_bytes));
    text.remove_prefix(ticket.text_bytes);
    add(parts, piece, Text::plain(out.keep(ticket.envelope)));
  }
}

// The client kept something else than it was given: what was hidden is still whole, and the text
// has no proof any more.
void append_torn(const std::vector<Ticket>& tickets, Text text, Request& out,
                 std::vector<Part>& parts) {
  if (!text.empty()) add(parts, text, Text());
  for (const Ticket& ticket : tickets) {
    if (ticket.text_bytes == 0) add(parts, Text(), Text::plain(out.keep(ticket.envelope)));
  }
}

// Whether the sizes of all tickets together are `bytes`.
bool make_up(const std::vector<Ticket>& tickets, uint64_t bytes) {
  for (const Ticket& ticket : tickets) {
    if (ticket.text_bytes > bytes) return false;
    bytes -= ticket.text_bytes;
  }
  return bytes == 0;
}

}  // namespace

void append_ticket(std::string& out, std::string_view envelope, uint64_t text_bytes) {
  append(out, envelope);
  append(out, kSizeMark);
  append(out, text_bytes);
}

void append_chat_reasoning(const ChatReasoning& reasoning, Request& out, std::vector<Part>& parts) {
  if (reasoning.thinking_blocks.array().count() > 0) {
    return reasoning.thinking_blocks.array().each(
        [&](const json::Value& block) { append_thinking_block(block.object(), out, parts); });
  }
  const std::vector<Ticket> tickets = all_tickets(reasoning);
  const Text text = reasoning.text.empty() ? details_text(reasoning.details, out) : reasoning.text;
  if (tickets.empty()) {
    if (!text.empty()) add(parts, text, Text());
    return;
  }
  const std::string plain = text.str();
  if (!make_up(tickets, plain.size())) return append_torn(tickets, text, out, parts);
  append_pieces(tickets, out.keep(plain), out, parts);
}

}  // namespace hw::translate
