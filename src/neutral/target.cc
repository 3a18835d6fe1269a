#include "neutral/target.h"

#include <algorithm>

namespace hw::translate {

void write_other_fields(const Request& request, const Target& target, Fidelity& fidelity,
                        json::Writer& writer) {
  for (const OtherField& field : request.others) {
    const auto& extra = target.extra_fields;
    if (std::find(extra.begin(), extra.end(), field.name) != extra.end()) {
      writer.field_raw(field.name, field.value);
    } else {
      fidelity.meet(field.feature, field.name);
    }
  }
}

}  // namespace hw::translate
