#include "sampler/mixed_prompts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "base/assert.h"
#include "base/ids.h"
#include "base/text.h"
#include "runs/content_hash.h"

namespace hw::sampler {
namespace {

constexpr std::array<std::string_view, 12> kQuestions = {
    "Explain in a few sentences why the sky is dark at night.",
    "Write a short note that moves a meeting from Tuesday to Thursday and says why.",
    "List five things to check before a bicycle tour in the mountains.",
    "What is the difference between a queue and a stack? Give an example of each.",
    "Describe the taste of an orange to somebody who has never eaten one.",
    "How does a lock on a canal lift a ship? Go through it step by step.",
    "Give three reasons for and three against working at night.",
    "Tell the story of a lighthouse keeper who finds a letter.",
    "请用几句话说明彩虹是怎样形成的。",
    "写一段简短的通知，告诉大家周五下午图书馆闭馆。",
    "列出搬家前需要确认的五件事，并各用一句话说明。",
    "解释一下为什么冬天的河面结冰而河底不结冰。",
};

constexpr std::array<std::string_view, 10> kSentences = {
    "The harbour had been quiet since the ferry left, and only the cranes still moved against the "
    "evening light. ",
    "Every barrel in the yard carried a number in white paint, and the numbers went into a book "
    "that "
    "nobody had opened for years. ",
    "When the river rose in spring, the people of the lower streets took their chairs upstairs and "
    "waited, as their parents had. ",
    "A map on the wall of the office showed a coast that was no longer there. ",
    "The train stops for four minutes, long enough to buy bread and too short to drink the "
    "coffee. ",
    "She wrote down what the instrument said at eight, at twelve and at four, also on the days "
    "when "
    "nothing changed. ",
    "Of the three bridges the oldest one carries the most weight, since the others were built for "
    "carts. ",
    "The instructions were clear as long as one did not read the second page. ",
    "旧仓库的门在风里轻轻响着，守夜人已经习惯了这个声音。",
    "他们沿着河岸走了一整天，到傍晚才看见第一座村庄的灯光。",
};

// How many bytes of these texts a token has, about; of English and Chinese alike.
constexpr size_t kBytesPerToken = 4;
constexpr size_t kNameBytesMax = 40;

tl::unexpected<Error> wrong_mix(std::string_view text) {
  return fail(ErrorCode::kConfig,
              concat("\"", text, "\" is no mix: expected NAME=SHARE:isl=TOKENS,osl=TOKENS;..."));
}

// "isl=128,osl=64"; a comma belongs to a length unless "osl=" or "isl=" follows it.
Status read_lengths(std::string_view text, MixBucket& bucket) {
  while (!text.empty()) {
    size_t end = std::min(text.find(",isl="), text.find(",osl="));
    end = std::min(end, text.size());
    const std::string_view field = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool input = field.starts_with("isl=");
    if (!input && !field.starts_with("osl=")) return wrong_mix(field);
    const Result<workload::Lengths> lengths = workload::Lengths::parse(field.substr(4));
    if (!lengths.has_value()) return fail(lengths.error());
    (input ? bucket.input : bucket.output) = *lengths;
  }
  return {};
}

Result<MixBucket> parse_bucket(std::string_view text, int max_tokens) {
  const size_t equals = text.find('='), colon = text.find(':');
  if (equals == std::string_view::npos || equals == 0 || equals > kNameBytesMax || colon < equals) {
    return wrong_mix(text);
  }
  MixBucket out;
  out.name = std::string(text.substr(0, equals));
  out.output = workload::Lengths(max_tokens);
  const std::string_view share = text.substr(equals + 1, colon - equals - 1);
  const auto end = std::from_chars(share.data(), share.data() + share.size(), out.weight);
  const bool read = end.ec == std::errc() && end.ptr == share.data() + share.size();
  if (!read || !(out.weight > 0) || out.weight > 1e9 || out.name == "all") return wrong_mix(text);
  if (colon == std::string_view::npos) return out;
  if (Status lengths = read_lengths(text.substr(colon + 1), out); !lengths.has_value()) {
    return fail(lengths.error());
  }
  return out;
}

}  // namespace

std::vector<MixBucket> daily_mix(int max_tokens) {
  constexpr int kLongTokens = 650;
  return {{"short", 1, workload::Lengths(1), workload::Lengths(max_tokens)},
          {"long", 1, workload::Lengths(kLongTokens), workload::Lengths(max_tokens)}};
}

Result<std::vector<MixBucket>> parse_mix(std::string_view text, int max_tokens) {
  std::vector<MixBucket> out;
  const std::string_view whole = text;
  while (!text.empty()) {
    const size_t end = std::min(text.find(';'), text.size());
    Result<MixBucket> bucket = parse_bucket(text.substr(0, end), max_tokens);
    if (!bucket.has_value()) return fail(bucket.error());
    out.push_back(std::move(*bucket));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (out.empty() || out.size() > MixedPrompts::kBucketsMax) return wrong_mix(whole);
  return out;
}

MixedPrompts::MixedPrompts(std::vector<MixBucket> mix, std::string mix_words, uint64_t seed,
                           uint64_t nonce)
    : mix_(std::move(mix)),
      mix_words_(std::move(mix_words)),
      choice_(seed),
      unique_(nonce),
      owed_(mix_.size(), 0) {
  HW_ASSERT(!mix_.empty() && mix_.size() <= kBucketsMax);
}

// The next block: whichever kind is owed most, then all shuffled.
void MixedPrompts::refill() {
  double sum = 0;
  for (const MixBucket& bucket : mix_) sum += bucket.weight;
  for (size_t i = 0; i < kBlock; ++i) {
    for (size_t b = 0; b < mix_.size(); ++b) owed_[b] += mix_[b].weight / sum;
    const auto most = std::max_element(owed_.begin(), owed_.end());
    *most -= 1;
    coming_.push_back(static_cast<size_t>(most - owed_.begin()));
  }
  for (size_t i = coming_.size() - 1; i > 0; --i) {
    std::swap(coming_[i], coming_[choice_.below(i + 1)]);
  }
}

std::string MixedPrompts::head() {
  const uint64_t number = unique_.next();
  std::string out = "(";
  append_hex(out, &number, sizeof number);
  return out + ") ";
}

Prompt MixedPrompts::next() {
  if (coming_.empty()) refill();
  const MixBucket& bucket = mix_[coming_.back()];
  coming_.pop_back();
  Prompt out;
  out.bucket = bucket.name;
  out.max_tokens = bucket.output.draw(choice_);
  const std::string_view question = kQuestions[choice_.below(kQuestions.size())];
  const size_t wanted = static_cast<size_t>(bucket.input.draw(choice_)) * kBytesPerToken;
  constexpr std::string_view kTurn = "\n\nThe text above is only a setting. ";
  out.text = head();
  const size_t around = question.size() + kTurn.size();
  if (out.text.size() + around < wanted) {
    while (out.text.size() + around < wanted) {
      out.text += kSentences[choice_.below(kSentences.size())];
    }
    out.text += kTurn;
  }
  out.text += question;
  return out;
}

std::string MixedPrompts::digest() const {
  runs::ContentHash hash;
  for (const std::string_view text : kQuestions) hash.add(text);
  for (const std::string_view text : kSentences) hash.add(text);
  hash.add(mix_words_);
  return hash.finish();
}

}  // namespace hw::sampler
