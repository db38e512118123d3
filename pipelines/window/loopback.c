/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "loopback.h"

#include <fcntl.h>
#include <linux/videodev2.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static bool is_loopback(const char *path)
{
    struct v4l2_capability has = {0};
    const int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    bool found;
    uint32_t can;

    if (fd < 0)
        return false;
    found = !ioctl(fd, VIDIOC_QUERYCAP, &has);
    close(fd);
    can = has.capabilities & V4L2_CAP_DEVICE_CAPS ? has.device_caps : has.capabilities;
    return found && can & V4L2_CAP_VIDEO_OUTPUT &&
           !strcmp((const char *)has.driver, "v4l2 loopback");
}

GStrv loopback_list(void)
{
    g_autoptr(GDir) folder = g_dir_open("/dev", 0, NULL);
    GPtrArray *list = g_ptr_array_new();
    const char *name;

    while (folder && (name = g_dir_read_name(folder))) {
        g_autofree char *path = g_build_filename("/dev", name, NULL);

        if (g_str_has_prefix(name, "video") && is_loopback(path))
            g_ptr_array_add(list, g_steal_pointer(&path));
    }
    g_ptr_array_add(list, NULL);
    return (GStrv)g_ptr_array_free(list, FALSE);
}
