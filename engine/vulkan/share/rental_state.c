/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rental_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void forget(struct tdl_buffer *b)
{
    /* A driver that keeps timelines on the CPU (Mesa's software one) lets go of what
     * a submission waited for after it has signalled that one's end: only the end of
     * a later submission tells that it has. */
    if (tdl_vkb(b)->rental->timeline)
        tdl_context_defer_semaphore(b->ctx, tdl_context_last_point(b->ctx) + 1,
                                    tdl_vkb(b)->rental->timeline);
    vkDestroySemaphore(tdl_vk(b->ctx)->device, tdl_vkb(b)->rental->import, NULL);
    free(tdl_vkb(b)->rental);
    tdl_vkb(b)->rental = NULL;
}

enum tdl_result tdl_rental_create(struct tdl_buffer *b, const char *label, bool waits)
{
    tdl_vkb(b)->rental = calloc(1, sizeof(*tdl_vkb(b)->rental));
    if (!tdl_vkb(b)->rental)
        return tdl_fail(TDL_ERROR_OUT_OF_MEMORY, "out of memory while creating a tensor");
    tdl_vkb(b)->forget = forget;
    tdl_vkb(b)->rental->waits = waits;
    snprintf(tdl_vkb(b)->rental->label, sizeof(tdl_vkb(b)->rental->label), "%s", label);
    return TDL_OK;
}

enum tdl_result tdl_rental_check_locked(const struct tdl_buffer *b)
{
    if (!tdl_vkb(b)->rental || !tdl_vkb(b)->rental->rented)
        return TDL_OK;
    return tdl_fail(TDL_ERROR_INVALID_STATE,
                    "%s is rented out: nobody here can use it before tdl_tensor_return",
                    tdl_vkb(b)->rental->label);
}

/* Nobody tells those who wait that the device is lost: they look now and then. */
bool tdl_rental_await_locked(const struct tdl_buffer *b)
{
    const struct tdl_rental_state *state = tdl_vkb(b)->rental;
    struct tdl_vk_context *vk = tdl_vk(b->ctx);
    bool waited = false;
    while (state && state->waits && state->rented && !atomic_load(&b->ctx->lost)) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec++;
        waited = true;
        pthread_cond_timedwait(&vk->returned, &vk->lock, &until);
    }
    return waited;
}

enum tdl_result tdl_rental_check(const struct tdl_buffer *b)
{
    if (!tdl_vkb(b)->rental)
        return TDL_OK;
    pthread_mutex_lock(&tdl_vk(b->ctx)->lock);
    tdl_rental_await_locked(b);
    enum tdl_result r = tdl_rental_check_locked(b);
    pthread_mutex_unlock(&tdl_vk(b->ctx)->lock);
    return r;
}

enum tdl_result tdl_rental_wait(const struct tdl_buffer *b, struct tdl_sync *sync)
{
    if (!tdl_vkb(b)->rental || !tdl_vkb(b)->rental->wait.semaphore)
        return TDL_OK;
    for (uint32_t i = 0; i < sync->wait_count; i++)
        if (sync->waits[i].semaphore == tdl_vkb(b)->rental->wait.semaphore)
            return TDL_OK;
    return tdl_sync_wait(sync, tdl_vkb(b)->rental->wait.semaphore, tdl_vkb(b)->rental->wait.value);
}

void tdl_rental_used(struct tdl_buffer *b, uint32_t gave)
{
    if (!tdl_vkb(b)->rental)
        return;
    tdl_vkb(b)->rental->wait = (struct tdl_semaphore_op){VK_NULL_HANDLE, 0};
    tdl_vkb(b)->rental->away = false;
    if (gave) {
        tdl_vkb(b)->rental->rented = true;
        tdl_vkb(b)->rental->family = gave;
    }
}
