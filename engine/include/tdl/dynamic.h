/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * @file dynamic.h
 * Graphs of many sizes: dimensions of inputs that are dynamic, with a name and a range
 * (WebNN's MLDynamicDimension). Their sizes are those of the tensors that a dispatch is given.
 *
 * A graph is built once. For each set of sizes it has a plan: kernels, their order, and the
 * memory between them. The plan of the sizes that the inputs were added with is made by
 * tdl_builder_build(), and stays. Others are made when they are first dispatched, or before
 * that by tdl_graph_prepare(). A graph keeps tdl_build_params.max_plans of them; then that
 * which was dispatched longest ago goes, once what is queued of it has run. Plans share the
 * weights that are the same bytes, as graphs of one context do.
 *
 * Sizes are checked at every dispatch: dimensions against their range, and those of one name
 * against each other. What operators say of the sizes is known when a plan is made, or by
 * tdl_graph_compute_shapes(). A plan that cannot be made is the error of that dispatch; all
 * that there are stay as they are.
 */
#ifndef TDL_DYNAMIC_H
#define TDL_DYNAMIC_H

#include <tdl/tdl.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A dimension whose size comes with the tensors (WebNN's MLDynamicDimension). */
struct tdl_dynamic_dimension {
    /** All dimensions of a graph with this name have one size; NULL: it is a size of its own,
     *  named "input:dimension". In graphs never NULL. */
    const char *name;
    uint32_t min;         /**< least size (minSize); 0: 1 */
    uint32_t max;         /**< largest size (maxSize); 0: 2^31 - 1 */
    uint64_t reserved[4]; /**< 0: room for later versions */
};

/**
 * Let a dimension of an input be dynamic. The size that the input was added with is that of
 * the graph's first plan. Dimensions that are told twice have what was said last.
 * For builders whose operators' options hold for every size (tdl_builder_resize()), and those
 * with tdl_builder_set_remake(); for others building is TDL_ERROR_UNSUPPORTED. Models read
 * with tdl_model_more.dynamic have all that it takes. Constants' data must then stay valid
 * until the graphs are destroyed, too.
 * @param input      the input's name
 * @param dimension  its number, from 0 on
 * @param dynamic    name and range; copied. NULL: any size
 * @return of a builder that has failed, its first error, with its text
 */
TDL_API enum tdl_result tdl_builder_set_dynamic(struct tdl_builder *builder, const char *input,
                                                uint32_t dimension,
                                                const struct tdl_dynamic_dimension *dynamic);
/**
 * Adds to an empty builder of the same context what another one holds, for inputs of other
 * sizes: with the same names, types and numbers of dimensions of inputs and outputs. Called on
 * the thread that makes the plan: that of tdl_graph_dispatch(), tdl_graph_prepare() or
 * tdl_graph_compute_shapes(), or one of the library's (tdl_build_params.plans_in_background);
 * several calls at once, where several threads make plans.
 * @param sizes  of all inputs, in the order of the graph. A dimension of 0 is one whose size
 *               nobody has said: where it follows from the others it is made so, as the states
 *               of a recurrent model may be; else the function fails, and is asked again with
 *               the first plan's size
 */
typedef enum tdl_result (*tdl_remake_fn)(void *data, struct tdl_builder *builder,
                                         const struct tdl_input_size *sizes, uint32_t count);
/**
 * Say how what the builder holds now is made for other sizes, where shapes were computed when
 * it was made. To be called behind the last operator. tdl_model_load() does it where
 * sizes are dynamic; who adds operators behind that calls this, too, with a function that reads
 * the model and adds them.
 * @param remake   called as long as the builder or a graph of it lives; NULL: nothing does
 * @param release  called with `data` when neither does; may be NULL
 */
TDL_API void tdl_builder_set_remake(struct tdl_builder *builder, tdl_remake_fn remake, void *data,
                                    void (*release)(void *));

/** Name and range of a dimension of input number `index`; NULL where it is fixed, and past the
 *  end. `min` and `max` are never 0 in it. Owned by the graph. Thread-safe, never blocks. */
TDL_API const struct tdl_dynamic_dimension *tdl_graph_input_dimension(const struct tdl_graph *graph,
                                                                      uint32_t index,
                                                                      uint32_t dimension);
/**
 * All inputs, where some have these sizes: type, shape and packing. Those that are not named
 * have the size of a named one in dimensions of the same name, else what follows from the model
 * file where it says so (states in TensorFlow.js), else that of the first plan.
 * @param sizes        of inputs, as tdl_graph_input() counts their dimensions
 * @param out_inputs   in the order of tdl_graph_input()
 * @param input_count  inputs that there is room for; those of the graph
 * @return as tdl_graph_compute_shapes()
 * Thread-safe. Blocking: may read a model file anew; does not wait for the device.
 */
TDL_API enum tdl_result tdl_graph_compute_inputs(struct tdl_graph *graph,
                                                 const struct tdl_input_size *sizes, uint32_t count,
                                                 struct tdl_tensor_params *out_inputs,
                                                 uint32_t input_count);
/**
 * The outputs that inputs of these sizes give (WebNN's computeShapes()): type, shape and
 * packing, as tdl_graph_output() has them for the first plan. Makes no plan. Where there is one
 * it is at once, else shapes are inferred, and a model file is read anew.
 * @param sizes         of inputs, as tdl_graph_compute_inputs() has them
 * @param out_outputs   in the order of tdl_graph_output()
 * @param output_count  outputs that there is room for; those of the graph
 * @return TDL_ERROR_INVALID_ARGUMENT for sizes that are out of range; else what operators say
 * Thread-safe. Blocking: does not wait for the device.
 */
TDL_API enum tdl_result tdl_graph_compute_shapes(struct tdl_graph *graph,
                                                 const struct tdl_input_size *sizes, uint32_t count,
                                                 struct tdl_tensor_params *out_outputs,
                                                 uint32_t output_count);
/**
 * Have the plan for inputs of these sizes ready, so that the first dispatch takes no longer
 * than later ones; on a thread of the caller's this is how plans are made in the background.
 * Waits for one that is being made. Of a graph without dynamic dimensions it is
 * tdl_graph_compile().
 * @param sizes   as tdl_graph_compute_inputs() has them
 * @param params  of compiling; NULL: with defaults
 * Thread-safe. Blocking: as tdl_builder_build(), and with a model file as reading it.
 */
TDL_API enum tdl_result tdl_graph_prepare(struct tdl_graph *graph,
                                          const struct tdl_input_size *sizes, uint32_t count,
                                          const struct tdl_compile_params *params);

/** Counters since the graph was built. */
struct tdl_plan_stats {
    uint32_t plans;       /**< plans now; 1 of a graph without dynamic dimensions */
    uint32_t max_plans;   /**< bound of these */
    uint64_t made;        /**< with the first */
    uint64_t dropped;     /**< plans that went to make room */
    uint64_t failed;      /**< plans that could not be made */
    uint64_t made_ns;     /**< time that making the last one took, wall clock */
    uint64_t reserved[4]; /**< 0: room for later versions */
};
/** Thread-safe; waits for nothing that takes long. */
TDL_API void tdl_graph_get_plan_stats(struct tdl_graph *graph, struct tdl_plan_stats *out);

#ifdef __cplusplus
}
#endif
#endif
