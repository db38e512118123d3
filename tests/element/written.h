/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* For tests of the element with networks that they write themselves. */
#ifndef TDL_TESTS_ELEMENT_WRITTEN_H
#define TDL_TESTS_ELEMENT_WRITTEN_H

#include "onnx-writer.h"
#include "util.h"

/* Masks as the network gives them, with sharp borders; properties behind these take their
 * place. */
#define PLAIN_MASK \
    "mode=mask threshold=0.5 feather=1 refine=false smoothing=0 close-holes=false "

/* The graph as a file, to be unlinked; the graph is emptied. */
gchar *written_model(struct onnx_bytes *graph);
/* A tdlfilter of that model with PLAIN_MASK and more properties. */
void written_start(struct filter *filter, const gchar *model, const gchar *properties,
                   const gchar *caps);

#endif
