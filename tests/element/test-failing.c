/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A case that fails in the middle of a pipeline: its program ends by itself, and says so. */
#include "util.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

GST_START_TEST(fails)
{
    GstElement *pipeline =
        gst_parse_launch("videotestsrc ! tdlfilter ! fakesink sync=true", NULL);

    gst_element_set_state(pipeline, GST_STATE_PAUSED);
    fail_unless_equals_int(gst_element_get_state(pipeline, NULL, NULL, GST_CLOCK_TIME_NONE),
                           GST_STATE_CHANGE_SUCCESS);
    fail("as it is meant to");
}
GST_END_TEST;

static int fail_alone(int argc, char **argv)
{
    Suite *s = suite_create("failing");
    TCase *tc = tcase_create("failing");

    tcase_add_test(tc, fails);
    suite_add_tcase(s, tc);
    return util_main_one_device(argc, argv, s, "failing");
}

int main(int argc, char **argv)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        alarm(UTIL_HANG / GST_SECOND);
        return fail_alone(argc, argv);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("failing");
        return EXIT_FAILURE;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        return 77;
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_FAILURE)
        return EXIT_SUCCESS;
    g_printerr("a program with a failed case %s %d\n",
               WIFSIGNALED(status) ? "was still there: signal" : "ended with",
               WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return EXIT_FAILURE;
}
