/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A device that computes by the operators' references, in plain memory: what the
 * table of functions (core/device.h) needs at least. It does its work when a batch
 * is submitted, has no images, no timestamps and no frames.
 */
#ifndef NULL_DEVICE_H
#define NULL_DEVICE_H

#include <core/core.h>

extern const struct tdl_device null_device;

/* A context on it with one reference; NULL when out of memory. */
struct tdl_context *null_context_create(void);
/* Buffers that there are now, in all contexts. */
uint32_t null_count_buffers(void);

#endif
