/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Two threads count without a lock while Vulkan is loaded: ThreadSanitizer must
 * say so, whatever tests/tsan.supp suppresses. */
#include <tdl/tdl.h>

#include <pthread.h>
#include <stdio.h>

static int count;

static void *count_up(void *data)
{
    uint32_t devices;
    (void)data;
    count++;
    return tdl_device_list(NULL, 0, &devices) == TDL_OK ? &count : NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, count_up, NULL))
            return 77;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("counted to %d\n", count);
    return 0;
}
