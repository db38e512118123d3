/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * /proc/cpuinfo has a "model name" on x86 and on ARM of 32 bits. On boards the device tree
 * says which one it is (Devicetree Specification 0.4, 2.3.2), which says more of the
 * processor than its own name. Other systems leave "CPU".
 */
#include "name.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

static bool read_model(const char *root, char *model, size_t size)
{
    char path[256], line[256];
    bool found = false;
    snprintf(path, sizeof(path), "%s/proc/cpuinfo", root);
    FILE *f = fopen(path, "re");
    while (f && !found && fgets(line, sizeof(line), f)) {
        const char *colon = strchr(line, ':');
        found = strncmp(line, "model name", 10) == 0 && colon && colon[1] == ' ';
        if (found)
            snprintf(model, size, " %.120s", colon + 2);
    }
    if (f)
        fclose(f);
    model[strcspn(model, "\n")] = 0;
    return found;
}

/* A text that ends with NUL, without a line's end. */
static bool read_board(const char *root, char *board, size_t size)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/proc/device-tree/model", root);
    FILE *f = fopen(path, "re");
    const size_t length = f ? fread(board, 1, size - 1, f) : 0;
    if (f)
        fclose(f);
    board[length] = 0;
    board[strcspn(board, "\n")] = 0;
    return *board;
}

void tdl_cpu_read_name(const char *root, char *name, size_t size)
{
    char model[128] = "", board[100];
    read_model(root, model, sizeof(model));
    if (read_board(root, board, sizeof(board)))
        snprintf(name, size, "CPU%s of %s", model, board);
    else
        snprintf(name, size, "CPU%s", model);
}

void tdl_cpu_extensions(char *text, size_t size)
{
    static const struct {
        unsigned long bit; /* of AT_HWCAP */
        const char *name;
    } known[] = {
#ifdef __aarch64__
        {HWCAP_ASIMD, "NEON"},
        {HWCAP_ASIMDDP, "dotprod"},
        {HWCAP_ASIMDHP, "fp16"},
        {HWCAP_SVE, "SVE"},
#elif defined(__arm__)
        {HWCAP_ARM_NEON, "NEON"},
        {HWCAP_ARM_VFPv4, "VFPv4"},
#endif
        {0, NULL},
    };
    const unsigned long has = getauxval(AT_HWCAP);
    size_t length = 0;
    *text = 0;
    for (size_t i = 0; known[i].name; i++)
        if (has & known[i].bit && length < size)
            length += (size_t)snprintf(text + length, size - length, ", %s", known[i].name);
}
