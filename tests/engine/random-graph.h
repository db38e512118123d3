/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Random graphs in the manner of segmentation nets: bottlenecks, gates,
 * residuals and decoders' merges, with the odd operator, second reader or
 * second output in between, so that fusions meet what they want and what they
 * must leave alone.
 */
#ifndef TEST_RANDOM_GRAPH_H
#define TEST_RANDOM_GRAPH_H

#include "subject.h"

/* Builds a random graph; one seed always makes the same graph. */
void random_graph(struct tdl_builder *b, uint64_t seed);

#endif
