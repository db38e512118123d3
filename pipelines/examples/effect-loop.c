/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * An effect on a video, between three devices: a player has the frames, a
 * renderer draws, a third device runs the network. (The effect loop of WebNN's
 * MLTensor explainer.) For each frame:
 *
 *   player    decodes into its texture
 *   renderer  reads the texture, which it imported, into the network's input
 *             tensor, which it was lent; gives that back
 *   network   runs; lends its output tensor to the renderer
 *   renderer  draws the frame with the background replaced by blue
 *
 * No pixel passes through the CPU once the player has it, and where drivers
 * share semaphores no CPU waits in the loop either: the program says how often
 * it had to.
 *
 *     cc effect-loop.c $(pkg-config --cflags --libs tdl) -lm -o effect-loop
 */
#include <tdl/vulkan.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WIDTH = 96, HEIGHT = 64, FRAMES = 12, RADIUS = 14 };

#define CHECK(call)                                                                                \
    do {                                                                                           \
        if ((call) != TDL_OK) {                                                                    \
            fprintf(stderr, "%s\n", tdl_last_error());                                             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* ------------------------------------------------------------------- player */

struct player {
    struct tdl_context *context;
    struct tdl_batch *batch;
    struct tdl_composer *copier;
    struct tdl_frame decoded, texture;
};

/* The ball is here. */
static void ball(int frame, int *x, int *y)
{
    *x = 20 + 5 * frame;
    *y = HEIGHT / 2 + (int)(12 * sin(frame));
}

static void player_open(struct player *p)
{
    size_t size = tdl_frame_layout(&p->decoded, TDL_FORMAT_RGBA, WIDTH, HEIGHT, 256);

    p->texture = p->decoded;
    CHECK(tdl_context_create(NULL, &p->context));
    if (!tdl_context_device(p->context)->external_memory_fd) {
        printf("skipped: %s shares no memory\n", tdl_context_device(p->context)->name);
        exit(77);
    }
    CHECK(tdl_batch_create(p->context, &p->batch));
    CHECK(tdl_composer_create(p->context, &p->copier));
    CHECK(tdl_buffer_create(p->context, size, TDL_BUFFER_UPLOAD, &p->decoded.planes[0].buffer));
    CHECK(tdl_buffer_create_exportable(p->context, TDL_HANDLE_OPAQUE_FD, size,
                                       &p->texture.planes[0].buffer));
}

/* A red ball on grey. Like a camera's driver it hands the frame out when it is
 * finished: that is this program's one wait for each frame. */
static void player_decode(struct player *p, int frame)
{
    const struct tdl_plane *plane = &p->decoded.planes[0];
    int ball_x, ball_y;

    ball(frame, &ball_x, &ball_y);
    CHECK(tdl_buffer_wait(plane->buffer, true));
    for (int y = 0; y < HEIGHT; y++) {
        unsigned char *px = (unsigned char *)tdl_buffer_data(plane->buffer) + y * plane->stride;
        for (int x = 0; x < WIDTH; x++, px += 4) {
            int dx = x - ball_x, dy = y - ball_y, inside = dx * dx + dy * dy < RADIUS * RADIUS;
            px[0] = inside ? 220 : 128;
            px[1] = px[2] = inside ? 40 : 128;
            px[3] = 255;
        }
    }
    CHECK(tdl_batch_begin(p->batch));
    CHECK(tdl_compose(p->batch, p->copier, &p->decoded, NULL, &p->texture,
                      &(struct tdl_compose_params){.mode = TDL_MODE_PASSTHROUGH}));
    CHECK(tdl_batch_submit(p->batch, NULL));
    CHECK(tdl_buffer_wait(p->texture.planes[0].buffer, true));
}

/* ------------------------------------------------------------------ network */

struct network {
    struct tdl_context *context;
    struct tdl_graph *graph;
    struct tdl_tensor *picture, *mask;
};

static const struct tdl_tensor_params picture_params = {.dtype = TDL_FLOAT32,
                                                        .rank = 4,
                                                        .shape = {1, HEIGHT, WIDTH, 3},
                                                        .usage = TDL_TENSOR_EXPORTABLE,
                                                        .label = "picture"};
static const struct tdl_tensor_params mask_params = {.dtype = TDL_FLOAT32,
                                                     .rank = 4,
                                                     .shape = {1, HEIGHT, WIDTH, 1},
                                                     .usage = TDL_TENSOR_EXPORTABLE,
                                                     .label = "mask"};

/* As good as a network: 1 where red outweighs green and blue. */
static void network_open(struct network *n)
{
    const float weights[3] = {40, -20, -20}, bias = -8;
    const struct tdl_tensor_params filter = {.dtype = TDL_FLOAT32,
                                             .rank = 4,
                                             .shape = {1, 1, 1, 3}},
                                   one = {.dtype = TDL_FLOAT32, .rank = 1, .shape = {1}};
    struct tdl_builder *b;

    CHECK(tdl_context_create(NULL, &n->context));
    CHECK(tdl_builder_create(n->context, &b));
    struct tdl_operand *x = tdl_builder_input(b, "picture", &picture_params);
    struct tdl_operand *w = tdl_builder_constant(b, &filter, weights, sizeof(weights));
    const struct tdl_conv2d_params p = {.bias = tdl_builder_constant(b, &one, &bias, sizeof(bias)),
                                        .activation = TDL_ACTIVATION_SIGMOID,
                                        .input_layout = TDL_LAYOUT_NHWC};
    tdl_builder_output(b, "mask", tdl_builder_conv2d(b, x, w, &p));
    CHECK(tdl_builder_build(b, NULL, &n->graph));
    tdl_builder_destroy(&b);
    CHECK(tdl_tensor_create(n->context, &picture_params, &n->picture));
    CHECK(tdl_tensor_create(n->context, &mask_params, &n->mask));
}

/* ----------------------------------------------------------------- renderer */

struct renderer {
    struct tdl_context *context;
    struct tdl_batch *to_tensor, *draw;
    struct tdl_composer *composer;
    struct tdl_frame texture, screen;
    struct tdl_tensor *picture, *mask; /* the network's */
};

/* A tensor is shared once, at the start; each frame needs only semaphores. */
static struct tdl_tensor *borrow(struct renderer *r, struct tdl_tensor *theirs)
{
    struct tdl_rental rental;
    struct tdl_tensor *ours;

    CHECK(tdl_tensor_rent(theirs, TDL_HANDLE_OPAQUE_FD, &rental));
    CHECK(tdl_tensor_import(r->context, tdl_tensor_get_params(theirs), &rental, &ours));
    close(rental.memory_fd);
    if (rental.semaphore_fd >= 0)
        close(rental.semaphore_fd);
    return ours;
}

static void renderer_open(struct renderer *r, const struct player *player,
                          const struct network *network)
{
    struct tdl_buffer *texture = player->texture.planes[0].buffer;
    int fd;

    CHECK(tdl_context_create(NULL, &r->context));
    CHECK(tdl_batch_create(r->context, &r->to_tensor));
    CHECK(tdl_batch_create(r->context, &r->draw));
    CHECK(tdl_composer_create(r->context, &r->composer));
    r->texture = r->screen = player->texture;
    CHECK(tdl_buffer_export_fd(texture, &fd));
    CHECK(tdl_buffer_import_fd(r->context, TDL_HANDLE_OPAQUE_FD, fd, tdl_buffer_size(texture),
                               &r->texture.planes[0].buffer));
    close(fd);
    CHECK(tdl_buffer_create(r->context, tdl_buffer_size(texture), TDL_BUFFER_READBACK,
                            &r->screen.planes[0].buffer));
    r->picture = borrow(r, network->picture);
    r->mask = borrow(r, network->mask);
}

/* From one pair of hands into the other, on the GPU. */
static void hand_over(struct tdl_tensor *from, struct tdl_tensor *to)
{
    struct tdl_rental rental;

    CHECK(tdl_tensor_rent(from, TDL_HANDLE_KNOWN, &rental));
    CHECK(tdl_tensor_return(to, &rental));
}

static void renderer_tensorise(struct renderer *r)
{
    CHECK(tdl_batch_begin(r->to_tensor));
    CHECK(tdl_frame_to_tensor(r->to_tensor, &r->texture, r->picture, NULL));
    CHECK(tdl_batch_submit(r->to_tensor, NULL));
}

static void renderer_draw(struct renderer *r)
{
    const struct tdl_compose_params blue = {
        .mode = TDL_MODE_REPLACE, .background_color = {0, 0, 1, 1}, .threshold = 0.5f};

    CHECK(tdl_batch_begin(r->draw));
    CHECK(tdl_compose(r->draw, r->composer, &r->texture, r->mask, &r->screen, &blue));
    CHECK(tdl_batch_submit(r->draw, NULL));
}

/* Red where the ball is, blue elsewhere; edges are soft. */
static int wrong_pixels(const struct renderer *r, int frame)
{
    const struct tdl_plane *plane = &r->screen.planes[0];
    int ball_x, ball_y, wrong = 0;

    CHECK(tdl_buffer_wait(plane->buffer, false));
    ball(frame, &ball_x, &ball_y);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            const unsigned char *px =
                (unsigned char *)tdl_buffer_data(plane->buffer) + y * plane->stride + 4 * x;
            double distance = hypot(x - ball_x, y - ball_y);
            if (distance < RADIUS - 2)
                wrong += abs(px[0] - 220) > 2 || abs(px[2] - 40) > 2;
            if (distance > RADIUS + 2)
                wrong += px[0] > 2 || px[2] < 253;
        }
    return wrong;
}

/* --------------------------------------------------------------------- loop */

static void run(struct player *player, struct renderer *renderer, struct network *network,
                int *out_wrong)
{
    for (int i = 0; i < FRAMES; i++) {
        player_decode(player, i);
        renderer_tensorise(renderer);
        hand_over(renderer->picture, network->picture);
        /* The mask lies with the renderer still, from the frame before. */
        hand_over(renderer->mask, network->mask);
        CHECK(tdl_graph_dispatch(network->graph, &(struct tdl_binding){"picture", network->picture},
                                 1, &(struct tdl_binding){"mask", network->mask}, 1, NULL));
        hand_over(network->picture, renderer->picture);
        hand_over(network->mask, renderer->mask);
        renderer_draw(renderer);
        *out_wrong += wrong_pixels(renderer, i); /* a screen would not ask */
    }
}

int main(void)
{
    struct player player = {0};
    struct network network = {0};
    struct renderer renderer = {0};
    struct tdl_context_stats a, b;
    int wrong = 0;

    player_open(&player);
    network_open(&network);
    renderer_open(&renderer, &player, &network);
    run(&player, &renderer, &network, &wrong);
    tdl_context_get_stats(network.context, &a);
    tdl_context_get_stats(renderer.context, &b);
    printf("%d frames, %d wrong pixels; order by %s; waits of the CPU: network %llu, renderer "
           "%llu (%d to look at the screen)\n",
           FRAMES, wrong,
           tdl_context_device(network.context)->timeline_fd ? "timeline semaphores"
           : tdl_context_device(network.context)->sync_fd   ? "sync files"
                                                            : "the CPU",
           (unsigned long long)a.waits, (unsigned long long)b.waits, FRAMES);

    tdl_tensor_destroy(&renderer.picture);
    tdl_tensor_destroy(&renderer.mask);
    tdl_buffer_destroy(&renderer.texture.planes[0].buffer);
    tdl_buffer_destroy(&renderer.screen.planes[0].buffer);
    tdl_composer_destroy(&renderer.composer);
    tdl_batch_destroy(&renderer.to_tensor);
    tdl_batch_destroy(&renderer.draw);
    tdl_context_destroy(&renderer.context);
    tdl_tensor_destroy(&network.picture);
    tdl_tensor_destroy(&network.mask);
    tdl_graph_destroy(&network.graph);
    tdl_context_destroy(&network.context);
    tdl_buffer_destroy(&player.texture.planes[0].buffer);
    tdl_buffer_destroy(&player.decoded.planes[0].buffer);
    tdl_composer_destroy(&player.copier);
    tdl_batch_destroy(&player.batch);
    tdl_context_destroy(&player.context);
    return wrong != 0;
}
