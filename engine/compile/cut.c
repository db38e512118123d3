/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The cheapest cut of a network, by the largest flow (Edmonds and Karp: along a shortest path
 * that has room, until there is none).
 */
#include "layout.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
/* Edges to look at: many times what graphs of models need, and a moment. */
#define MOST_VISITS (1u << 26)

bool tdl_cut_init(struct tdl_cut *cut, uint32_t node_count)
{
    *cut = (struct tdl_cut){.node_count = node_count};
    cut->first = malloc(node_count * sizeof(*cut->first));
    if (cut->first)
        memset(cut->first, 0xff, node_count * sizeof(*cut->first));
    return cut->first != NULL;
}

void tdl_cut_finish(struct tdl_cut *cut)
{
    free(cut->edges);
    free(cut->first);
    *cut = (struct tdl_cut){0};
}

static void add_half(struct tdl_cut *cut, uint32_t from, uint32_t to, uint64_t room)
{
    cut->edges[cut->edge_count] = (struct tdl_cut_edge){to, cut->first[from], room};
    cut->first[from] = cut->edge_count++;
}

void tdl_cut_add(struct tdl_cut *cut, uint32_t from, uint32_t to, uint64_t cost)
{
    if (from == to || !cost || cut->out_of_memory)
        return;
    if (cut->edge_count + 2 > cut->edge_capacity) {
        const uint32_t capacity = cut->edge_capacity ? cut->edge_capacity * 2 : 256;
        struct tdl_cut_edge *edges = realloc(cut->edges, capacity * sizeof(*edges));
        cut->out_of_memory = !edges || capacity > NONE / 4;
        cut->edges = edges ? edges : cut->edges;
        if (cut->out_of_memory)
            return;
        cut->edge_capacity = capacity;
    }
    add_half(cut, from, to, cost);
    add_half(cut, to, from, 0);
}

/* Nodes from `start` on, along edges with room, or, `back`, against them; `by` is the edge that
 * each was reached by. Ends at `end`. */
static uint32_t reach(const struct tdl_cut *cut, uint32_t start, uint32_t end, bool back,
                      uint32_t *by, uint32_t *queue)
{
    uint32_t count = 0, visits = 0;
    memset(by, 0xff, cut->node_count * sizeof(*by));
    queue[count++] = start;
    by[start] = NONE - 1;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t e = cut->first[queue[i]]; e != NONE; e = cut->edges[e].next, visits++) {
            const uint32_t to = cut->edges[e].to;
            if (by[to] != NONE || !cut->edges[back ? e ^ 1 : e].room)
                continue;
            by[to] = e;
            queue[count++] = to;
            if (to == end)
                return visits + 1;
        }
    return visits + 1;
}

/* As much as the path has room for. */
static void push(struct tdl_cut *cut, const uint32_t *by)
{
    uint64_t room = UINT64_MAX;
    for (uint32_t i = TDL_CUT_SECOND; i != TDL_CUT_FIRST; i = cut->edges[by[i] ^ 1].to)
        room = TDL_MIN(room, cut->edges[by[i]].room);
    for (uint32_t i = TDL_CUT_SECOND; i != TDL_CUT_FIRST; i = cut->edges[by[i] ^ 1].to) {
        cut->edges[by[i]].room -= room;
        cut->edges[by[i] ^ 1].room += room;
    }
}

bool tdl_cut_solve(struct tdl_cut *cut, bool *second)
{
    uint32_t *by = malloc(cut->node_count * sizeof(*by));
    uint32_t *queue = malloc(cut->node_count * sizeof(*queue));
    bool done = by && queue && !cut->out_of_memory;
    uint64_t visits = 0;
    while (done) {
        visits += reach(cut, TDL_CUT_FIRST, TDL_CUT_SECOND, false, by, queue);
        if (by[TDL_CUT_SECOND] == NONE)
            break;
        push(cut, by);
        done = visits < MOST_VISITS;
    }
    if (done) {
        reach(cut, TDL_CUT_SECOND, NONE, true, by, queue);
        for (uint32_t i = 0; i < cut->node_count; i++)
            second[i] = by[i] != NONE;
    }
    free(by);
    free(queue);
    return done;
}
