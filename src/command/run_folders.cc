#include "command/run_folders.h"

#include <algorithm>
#include <filesystem>

#include "base/text.h"

namespace hw::cli {
namespace {

std::string data_folder(const Arguments& arguments) {
  const std::string given = arguments.value("data");
  if (!given.empty()) return given;
  const std::string_view shared = config::value_of(arguments.environment, "XDG_DATA_HOME");
  if (!shared.empty()) return concat(shared, "/headway");
  const std::string_view home = config::value_of(arguments.environment, "HOME");
  return home.empty() ? std::string("data") : concat(home, "/.local/share/headway");
}

}  // namespace

const Flag& archive_flag() {
  static const Flag flag = {"data",
                            "DIR",
                            {"Where baselines are kept (~/.local/share/headway).",
                             "基线的存放目录（~/.local/share/headway）。"},
                            "HEADWAY_DATA"};
  return flag;
}

comparison::Archive archive_of(const Arguments& arguments) {
  return comparison::Archive(data_folder(arguments) + "/baselines");
}

std::vector<std::string> run_folders(const Arguments& arguments, std::string_view flag) {
  const comparison::Archive archive = archive_of(arguments);
  const std::string value = arguments.value(flag);
  std::vector<std::string> out;
  for (std::string_view rest = value; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string one(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    std::error_code ignored;
    if (std::filesystem::is_directory(one, ignored) || !archive.has(one)) {
      out.push_back(one);
      continue;
    }
    for (std::string& run : archive.runs(one)) out.push_back(std::move(run));
  }
  return out;
}

}  // namespace hw::cli
