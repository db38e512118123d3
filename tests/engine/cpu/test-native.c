/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A build for the machine that made it (-Dcpu-levels=native) on a lesser one: the device
 * says so and refuses, before an instruction that is not there ends the program.
 */
#include "check.h"

/* The file that decides, with a processor that has nothing. */
#undef TDL_CPU_HAVE_LEVELS
#undef TDL_CPU_ONLY
#define TDL_CPU_ONLY TDL_CPU_X86_64_V3
#define __builtin_cpu_supports(name) 0
#include "cpu/isa.c"

int main(void)
{
    static const char words[] = "the CPU has x86-64-v3; this one has baseline";
    struct tdl_device_info infos[16];
    struct tdl_context *ctx = NULL;
    uint32_t count = 0;

    check_begin("a lesser machine");
    OK(tdl_device_list(infos, COUNT(infos), &count));
    REQUIRE(count > 0 && count <= COUNT(infos), "%u devices", count);
    CHECK(!infos[count - 1].usable && strstr(infos[count - 1].unusable_reason, words),
          "the list says: %s", infos[count - 1].unusable_reason);
    FAILS(tdl_context_create(&(struct tdl_context_params){.device = "cpu"}, &ctx),
          TDL_ERROR_UNSUPPORTED, words);
    CHECK(!ctx, "a context that was refused");
    return check_result();
}
