/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What kinds of devices like: every guess about a device that is not among what
 * it says of itself (struct tdl_device_info). Who has to choose asks for a heuristic
 * by its name, and never for the kind of device.
 */
#ifndef TDL_HEURISTICS_H
#define TDL_HEURISTICS_H

#include "base.h"

#include <tdl/tdl.h>

struct tdl_heuristics {
    /* A dispatch costs more than some work done twice. */
    bool few_dispatches;
    /* Invocations that do much each, as neighbours in one share what they read,
     * and idle ones cost as much as busy ones. Else many with little work each. */
    bool few_invocations;
    /* Invocations that keep it busy: where several share the work on a result,
     * and where one may take several results. */
    uint32_t busy_teams, busy_alone;
    /* Invocations of a workgroup: whose members share the work on a result; that
     * works alone; on either side of one that multiplies matrices. */
    uint32_t team, lone_group, matrix_side;
    /* Packs that an invocation may read before it needs them. Each takes four registers,
     * and where these are few, invocations at work at once hide the wait better. */
    uint32_t read_ahead;
    /* Values of 32 bits that an invocation may hold, and bytes of shared memory for each
     * invocation of a workgroup, where more leave too few at work at once or are spilled.
     * 0: whatever the largest tiles take. */
    uint32_t registers, shared_each;
    /* Values of which compilers were seen to spill some, where an invocation holds more. 0: not
     * seen. */
    uint32_t unspilled;
    /* It compiles where it executes, on the one thread that serves a queue. */
    bool compiles_in_queue;
    /* Its clocks fall while it has nothing to do. */
    bool dozes;
    /* What it does at best: orders of magnitude, which is all that a choice
     * between algorithms needs. Multiply-accumulates and bytes in a ns, ns a
     * dispatch, workgroups at work at once; ns until a pack that an invocation loads
     * is there, where one waits for the next (0: not measured). */
    struct {
        double macs, bytes, dispatch, groups, load;
    } speed;
    /* Which share of these multiply-accumulates the kernels of conv2d reach, and that of
     * matmul; 0 where that depends on their tiles. */
    struct {
        double pointwise, depthwise, direct, direct_looped, grouped, gemm, cooperative, matmul;
    } efficiency;
};

/* What ends long work, by the type of device. */
struct tdl_watchdog {
    /* Longest that a submission shall take, in ms: half of what the most impatient driver
     * of Linux gives. 0: nothing ends it. */
    double submission_ms;
    struct {
        double macs, bytes; /* in a ns: what the slowest does */
    } slowest;
};

/* A row of the table: nothing to free. */
const struct tdl_watchdog *tdl_watchdog_of(const struct tdl_device_info *device);
/* A row of the table: nothing to free. */
const struct tdl_heuristics *tdl_heuristics_of(const struct tdl_device_info *device);

/* Does an invocation that holds so many values of 32 bits leave room for others? */
bool tdl_fits_registers(const struct tdl_device_info *device, uint32_t values);
/* Does its compiler keep some of so many values in memory, as far as was seen? Such a way to
 * compute is not offered. */
bool tdl_spills(const struct tdl_device_info *device, uint32_t values);
/* How much longer it takes, as a guess: 1 where it does. */
double tdl_crowding(const struct tdl_device_info *device, uint32_t values);
/* Packs that an invocation may sum at once: they take a quarter of its registers. */
uint32_t tdl_most_sums(const struct tdl_device_info *device);
/* Bytes of shared memory that a workgroup of so many invocations takes at best: at most what
 * the device allows. */
uint32_t tdl_shared_room(const struct tdl_device_info *device, uint32_t invocations);
/* May twice as many invocations of a workgroup have more of it, so that they share its work? */
bool tdl_more_share(const struct tdl_device_info *device, uint32_t invocations);

#endif
