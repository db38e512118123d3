/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gsttdlfile.h"

#include "gsttdldetached.h"

#include <fcntl.h>
#include <gst/tag/tag.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ANSWER_TIMEOUT (10 * G_USEC_PER_SEC)

gchar *gst_tdl_file_path(const gchar *text, GError **error)
{
    g_autofree gchar *scheme = g_uri_parse_scheme(text);

    if (!scheme || !strstr(text, "://"))
        return g_strdup(text);
    if (!g_ascii_strcasecmp(scheme, "file"))
        return g_filename_from_uri(text, NULL, error);
    g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                "\"%s\" is no file: give a path or a file:// URI.", text);
    return NULL;
}

/* -------------------------------------------------------------------- check */

struct look {
    gchar *path;
    gboolean opened;
    mode_t mode;
};

static void look_free(gpointer data)
{
    g_free(((struct look *)data)->path);
    g_free(data);
}

/* O_NONBLOCK: a FIFO without a writer does not hold us up. */
static void look_at(gpointer data)
{
    struct look *look = data;
    gint fd = open(look->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    struct stat st;
    gchar byte;

    if (fd < 0)
        return;
    if (!fstat(fd, &st)) {
        look->opened = TRUE;
        look->mode = st.st_mode;
        if (S_ISREG(st.st_mode) && read(fd, &byte, 1) < 0)
            look->opened = FALSE; /* whoever reads it will say why */
    }
    close(fd);
}

static const gchar *kind_of(mode_t mode)
{
    return S_ISFIFO(mode)   ? "a FIFO"
           : S_ISDIR(mode)  ? "a directory"
           : S_ISSOCK(mode) ? "a socket"
                            : "a device";
}

gboolean gst_tdl_file_check(const gchar *path, GError **error)
{
    struct look *look = g_new0(struct look, 1);
    gboolean ok;

    look->path = g_strdup(path);
    if (!gst_tdl_detached_run("tdl-file", look_at, look, look_free, ANSWER_TIMEOUT)) {
        g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ,
                    "the file system does not answer, and it is given up. Copy the file to a disk "
                    "of this machine.");
        return FALSE;
    }
    ok = !look->opened || S_ISREG(look->mode);
    if (!ok)
        g_set_error(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ,
                    "it is %s, not a file. Give the file's own path.", kind_of(look->mode));
    look_free(look);
    return ok;
}

/* -------------------------------------------------------------- orientation */

static const gchar *const orientations[] = {
    /* EXIF's 1 to 8 */
    "rotate-0",        "flip-rotate-0", "rotate-180",     "flip-rotate-180",
    "flip-rotate-270", "rotate-90",     "flip-rotate-90", "rotate-270",
};

guint gst_tdl_file_orientation_of_tag(const gchar *tag)
{
    for (guint i = 0; i < G_N_ELEMENTS(orientations); i++)
        if (!g_strcmp0(tag, orientations[i]))
            return i + 1;
    return 1;
}

static guint read_exif(const guint8 *tiff, gsize size)
{
    GstBuffer *buffer = gst_buffer_new_memdup(tiff, size);
    GstTagList *tags = gst_tag_list_from_exif_buffer_with_tiff_header(buffer);
    gchar *tag = NULL;
    guint result;

    if (tags)
        gst_tag_list_get_string(tags, GST_TAG_IMAGE_ORIENTATION, &tag);
    result = gst_tdl_file_orientation_of_tag(tag);
    g_free(tag);
    g_clear_pointer(&tags, gst_tag_list_unref);
    gst_buffer_unref(buffer);
    return result;
}

/* A JPEG file begins with application segments and comments: marker, length with
 * itself, data. */
guint gst_tdl_file_orientation(const gchar *path)
{
    static const guint8 exif[6] = "Exif\0";
    FILE *file = fopen(path, "rbe");
    guint8 head[4], *data = NULL;
    guint result = 1;

    if (file && fread(head, 1, 2, file) == 2 && head[0] == 0xff && head[1] == 0xd8)
        data = g_malloc(G_MAXUINT16);
    while (data && fread(head, 1, 4, file) == 4 && head[0] == 0xff && head[1] >= 0xe0 &&
           (head[1] <= 0xef || head[1] == 0xfe)) {
        gsize size = GST_READ_UINT16_BE(head + 2);

        if (size < 2 || fread(data, 1, size - 2, file) != size - 2)
            break;
        if (head[1] == 0xe1 && size - 2 > sizeof(exif) && !memcmp(data, exif, sizeof(exif))) {
            result = read_exif(data + sizeof(exif), size - 2 - sizeof(exif));
            break;
        }
    }
    g_free(data);
    if (file)
        fclose(file);
    return result;
}
