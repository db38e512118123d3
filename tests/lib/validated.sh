#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Run a command under the Khronos validation layer, with synchronization
# validation; any message of the layer makes it fail, whatever the command says.
#
#   tests/lib/validated.sh COMMAND [ARGUMENT...]
#
# With TDL_PROFILE the device pretends to have the limits of another one
# (tests/profiles), of the build folder that TDL_BUILD names.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat >"$dir/vk_layer_settings.txt" <<END
khronos_validation.debug_action = VK_DBG_LAYER_ACTION_LOG_MSG
khronos_validation.report_flags = error,warn,perf
khronos_validation.log_filename = $dir/messages
khronos_validation.enables = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT
khronos_validation.validate_sync = true
END
export VK_LAYER_SETTINGS_PATH=$dir/vk_layer_settings.txt
export VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation TDL_VALIDATION=1
if [ -n "${TDL_PROFILE:-}" ]; then
    # The last one is nearest to the driver, so that validation sees what it pretends. Loaders
    # like Debian 12's order them by the folders where they were found.
    export VK_INSTANCE_LAYERS=$VK_INSTANCE_LAYERS:VK_LAYER_TDL_profile
    export VK_ADD_LAYER_PATH=/usr/share/vulkan/explicit_layer.d:${TDL_BUILD:?}/tests/profiles
fi
"$@"
status=$?
if [ -s "$dir/messages" ]; then
    echo "messages of the validation layer:"
    head -c 4000 "$dir/messages"
    exit 1
fi
exit $status
