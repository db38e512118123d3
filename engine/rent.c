/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rent.h"

#include <stdlib.h>

enum tdl_result tdl_lease_check_locked(const struct tdl_buffer *b)
{
    if (!b->lease || !b->lease->rented)
        return TDL_OK;
    return tdl_fail(TDL_ERROR_INVALID_STATE,
                    "%s is rented out: nobody here can use it before tdl_tensor_return",
                    b->lease->label);
}

enum tdl_result tdl_lease_check(const struct tdl_buffer *b)
{
    if (!b->lease)
        return TDL_OK;
    pthread_mutex_lock(&b->ctx->lock);
    enum tdl_result r = tdl_lease_check_locked(b);
    pthread_mutex_unlock(&b->ctx->lock);
    return r;
}

enum tdl_result tdl_lease_wait(const struct tdl_buffer *b, struct tdl_sync *sync)
{
    if (!b->lease || !b->lease->wait.semaphore)
        return TDL_OK;
    for (uint32_t i = 0; i < sync->wait_count; i++)
        if (sync->waits[i].semaphore == b->lease->wait.semaphore)
            return TDL_OK;
    return tdl_sync_wait(sync, b->lease->wait.semaphore, b->lease->wait.value);
}

void tdl_lease_used(struct tdl_buffer *b, bool gave)
{
    if (!b->lease)
        return;
    b->lease->wait = (struct tdl_semaphore_op){VK_NULL_HANDLE, 0};
    b->lease->away = false;
    b->lease->rented |= gave;
}

void tdl_lease_free(struct tdl_buffer *b)
{
    if (!b->lease)
        return;
    vkDestroySemaphore(b->ctx->device, b->lease->timeline, NULL);
    vkDestroySemaphore(b->ctx->device, b->lease->import, NULL);
    free(b->lease);
    b->lease = NULL;
}
