/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A build without the bundled models: what is said to who asks for them. The
 * table below takes the place of the generated one. */
#include "network/gsttdlmodel.h"
#include "model/gsttdlbundled.h"

#include <gst/check/gstcheck.h>
#include <glib/gstdio.h>

const struct gst_tdl_bundled_model gst_tdl_bundled_models[] = { { NULL, NULL, 0 } };
const size_t gst_tdl_bundled_model_count = 0;

static struct gst_tdl_model_params of_model(struct gst_tdl_settings *settings, const char *model)
{
    gst_tdl_settings_init(settings);
    g_free(settings->sources.model);
    settings->sources.model = g_strdup(model);
    return (struct gst_tdl_model_params){ .sources = &settings->sources };
}

static const char *const bundled[] = { "", "person", "person-landscape" };

GST_START_TEST(says_what_to_do)
{
    struct gst_tdl_settings settings;
    const struct gst_tdl_model_params params = of_model(&settings, bundled[__i__]);
    gchar *follows;
    GError *error = NULL;

    fail_unless(gst_tdl_model_acquire(&params, &follows, &error) == NULL);
    fail_unless(g_error_matches(error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND));
    fail_unless(strstr(error->message, __i__ == 2 ? "tdl-fetch-models person-landscape "
                                                  : "tdl-fetch-models person ") != NULL,
                "%s", error->message);
    fail_unless(strstr(error->message, "model=FILE") != NULL, "%s", error->message);
    fail_unless(strstr(error->message, __i__ == 2 ? "\"person-landscape\"" : "\"person\"") != NULL,
                "%s", error->message);
    g_error_free(error);
    gst_tdl_settings_finish(&settings);
}
GST_END_TEST;

/* A path is another matter: what becomes of it does not depend on the bundle. */
GST_START_TEST(leaves_files_alone)
{
    struct gst_tdl_settings settings;
    const struct gst_tdl_model_params params = of_model(&settings, "/no-such-file.tflite");
    gchar *follows;
    GError *error = NULL;

    fail_unless(gst_tdl_model_acquire(&params, &follows, &error) == NULL);
    fail_unless(error && !strstr(error->message, "fetch-models.sh"), "%s",
                error ? error->message : "no error");
    g_error_free(error);
    gst_tdl_settings_finish(&settings);
}
GST_END_TEST;

static Suite *no_models_suite(void)
{
    Suite *suite = suite_create("no-models");
    TCase *tcase = tcase_create("general");

    suite_add_tcase(suite, tcase);
    tcase_add_loop_test(tcase, says_what_to_do, 0, G_N_ELEMENTS(bundled));
    tcase_add_test(tcase, leaves_files_alone);
    return suite;
}

GST_CHECK_MAIN(no_models);
