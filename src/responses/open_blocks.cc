#include "responses/open_blocks.h"

#include <algorithm>

namespace hw::translate {
namespace {

// More blocks than this are not open at once in any answer; further ones are left out.
constexpr size_t kOpenMax = 1024;

bool has_parts(BlockKind kind) {
  return kind == BlockKind::kText || kind == BlockKind::kRefusal;
}

bool is_no_call(const OpenBlocks::Open& open) {
  return open.kind != BlockKind::kToolCall;
}

}  // namespace

OpenBlocks::Open* OpenBlocks::find(int64_t item, int64_t part, BlockKind kind) {
  for (Open& open : open_) {
    const bool there = open.kind == kind && open.item == item;
    if (there && (!has_parts(kind) || open.part == part)) return &open;
  }
  return nullptr;
}

OpenBlocks::Open* OpenBlocks::ensure(int64_t item, int64_t part, BlockKind kind, Events& out) {
  if (Open* open = find(item, part, kind)) return open;
  if (open_.size() >= kOpenMax || told_.size() >= kOpenMax) return nullptr;
  end_all(out);
  BlockBegun begun;
  begun.block = so_far_.next_block++;
  begun.kind = kind;
  out.push_back(begun);
  Open& open = open_.emplace_back();
  open.item = item;
  open.part = part;
  open.kind = kind;
  open.block = begun.block;
  if (std::find(told_.begin(), told_.end(), item) == told_.end()) told_.push_back(item);
  return &open;
}

void OpenBlocks::begin_call(int64_t item, json::Object object, Events& out) {
  if (open_.size() >= kOpenMax || told_.size() >= kOpenMax) return;
  Open open;
  open.item = item;
  open.kind = BlockKind::kToolCall;
  open.block = so_far_.next_block;
  Events begun;
  if (!begin_responses_call(object, so_far_, begun)) return;
  end_where(is_no_call, out);
  out.push_back(begun.front());
  open_.push_back(open);
  told_.push_back(item);
}

void OpenBlocks::say(Open& open, const Text& text, Events& out) {
  if (text.empty()) return;
  open.said = true;
  Delta delta;
  delta.block = open.block;
  delta.text = text;
  out.push_back(delta);
}

void OpenBlocks::end_part(int64_t item, int64_t part, Events& out) {
  end_where(
      [&](const Open& open) {
        return open.item == item && open.part == part && has_parts(open.kind);
      },
      out);
}

bool OpenBlocks::end_item(int64_t item, json::Object object, Events& out) {
  const auto told = std::find(told_.begin(), told_.end(), item);
  if (told == told_.end()) {
    end_where(is_no_call, out);
    return false;
  }
  told_.erase(told);
  for (Open& open : open_) {
    if (open.item != item) continue;
    if (open.kind == BlockKind::kReasoning) read_responses_proof(object, open.block, out);
    if (open.kind != BlockKind::kToolCall || open.said) continue;
    const json::Value arguments = object.find("arguments");
    say(open, Text::of(arguments.is_null() ? object.find("input") : arguments), out);
  }
  end_where([&](const Open& open) { return open.item == item; }, out);
  return true;
}

void OpenBlocks::end_all(Events& out) {
  end_where([](const Open&) { return true; }, out);
}

template <class Ends>
void OpenBlocks::end_where(Ends&& ends, Events& out) {
  size_t kept = 0;
  for (const Open& open : open_) {
    if (ends(open)) {
      out.push_back(BlockEnded{open.block});
    } else {
      open_[kept++] = open;
    }
  }
  open_.resize(kept);
}

}  // namespace hw::translate
