#include "verify/reference.h"

#include "base/text.h"
#include "verify/finding.h"

namespace hw::verify {
namespace {

// With "..." where an argument stands.
std::string without_arguments(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '{' && i + 2 < text.size() && text[i + 2] == '}') {
      out += "...";
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

std::string code_reference(config::Language language) {
  static constexpr config::Words kHead = {
      "| code | step | fault | what is wrong | what it is not |",
      "| 代码 | 步骤 | 责任方 | 问题 | 并非 |"};
  std::string out = concat(kHead.in(language), "\n|---|---|---|---|---|\n");
  for (int i = 0; i < kCodeCount; ++i) {
    const CodeInfo& info = code_info(static_cast<Code>(i));
    out += concat("| `", info.name, "` | `", step_name(info.step), "` | `", blame_name(info.blame),
                  "` | ", without_arguments(info.title.in(language)), " | ",
                  without_arguments(info.not_it.in(language)), " |\n");
  }
  return out;
}

}  // namespace hw::verify
