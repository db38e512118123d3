/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Marks of a TensorFlow.js model from outside, with its reader and without. */
#ifndef TDL_TFJS_RECOGNISE_H
#define TDL_TFJS_RECOGNISE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* JSON with an object in it. */
static inline bool tfjs_recognises(const void *head, size_t size)
{
    const char *text = head;
    size_t i = 0;

    while (i < size && text[i] && strchr(" \t\r\n", text[i]))
        i++;
    if (i == size || text[i++] != '{')
        return false;
    while (i < size && text[i] && strchr(" \t\r\n", text[i]))
        i++;
    return i >= size || text[i] == '"';
}

#endif
