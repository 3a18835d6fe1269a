// /api/channels: settings and health of each channel.
#pragma once

#include "console/api.h"

namespace hw::console {

// GET /api/channels. Of a credential only whether there is one.
ApiResponse list_channels(const ApiSources& sources);

}  // namespace hw::console
