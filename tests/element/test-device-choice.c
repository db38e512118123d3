/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* device=auto by measuring, with devices that are not there: which one is taken, what is kept,
 * and that none that is slow or silent holds anybody up. */
#include "loading/gsttdldevicechoice.h"

#include "base/gsttdlerror.h"

#include <gst/check/gstcheck.h>
#include <string.h>

#define PATIENCE (200 * G_TIME_SPAN_MILLISECOND)
#define LONG (20 * G_TIME_SPAN_SECOND) /* what nothing here comes near to */

/* What the fakes answer and what they saw. */
static struct {
    struct tdl_auto found;
    guint64 gpu_ns, cpu_ns;
    enum gst_tdl_trial_phase stuck; /* where the GPU stays, if it is */
    gboolean is_stuck, deaf, cpu_is_stuck;
    const gchar *fault;
    gint measured, kept, released; /* atomic */
    guint64 kept_gpu, kept_cpu;
    gchar *kept_model;
} fake;

static enum tdl_result fake_find(const struct tdl_auto_params *params, struct tdl_auto *out)
{
    fail_unless_equals_string(params->model, "the model");
    *out = fake.found;
    return TDL_OK;
}

static enum tdl_result fake_keep(const struct tdl_auto_params *params, uint64_t gpu_ns,
                                 uint64_t cpu_ns)
{
    fake.kept_gpu = gpu_ns;
    fake.kept_cpu = cpu_ns;
    g_free(fake.kept_model);
    fake.kept_model = g_strdup(params->model);
    g_atomic_int_inc(&fake.kept);
    return TDL_OK;
}

static gchar *fake_name(const struct gst_tdl_sources *sources)
{
    (void)sources;
    return g_strdup("the model");
}

static void stay(const struct gst_tdl_trial *trial)
{
    while ((fake.deaf || !trial->cancelled(trial->data)) && !g_atomic_int_get(&fake.released))
        g_usleep(1000);
}

static guint64 fake_measure(const struct gst_tdl_trial *trial, GError **error)
{
    const gboolean cpu = !strcmp(trial->device, "cpu");

    g_atomic_int_inc(&fake.measured);
    if (cpu && fake.cpu_is_stuck)
        stay(trial);
    for (gint p = GST_TDL_TRIAL_OPENING; !cpu && p <= GST_TDL_TRIAL_RUNNING; p++) {
        trial->reached(trial->data, p);
        if (fake.is_stuck && p == (gint)fake.stuck) {
            stay(trial);
            return 0;
        }
    }
    if (!cpu && fake.fault)
        g_set_error_literal(error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_FAILED, fake.fault);
    return cpu ? fake.cpu_ns : fake.fault ? 0 : fake.gpu_ns;
}

static const struct gst_tdl_device_choice_ops fakes = { fake_find, fake_keep, fake_name,
                                                        fake_measure };

static void setup(void)
{
    g_free(fake.kept_model);
    memset(&fake, 0, sizeof(fake));
    fake.found = (struct tdl_auto){ .measures = TRUE, .type = TDL_DEVICE_INTEGRATED_GPU };
    fake.gpu_ns = 9 * GST_MSECOND;
    fake.cpu_ns = 4 * GST_MSECOND;
}

static struct gst_tdl_device_choice *begin(gint64 patience)
{
    struct gst_tdl_settings settings;
    struct gst_tdl_device_choice *choice;

    memset(&settings, 0, sizeof(settings));
    gst_tdl_settings_init(&settings);
    choice = gst_tdl_device_choice_begin(&fakes, &settings.sources, patience);
    gst_tdl_settings_finish(&settings); /* it has a copy */
    return choice;
}

static void expect(struct gst_tdl_device_choice *choice, const gchar *device, const gchar *reason)
{
    struct gst_tdl_device_chosen chosen;

    fail_unless(choice != NULL);
    chosen = gst_tdl_device_choice_get(choice);
    fail_unless_equals_string(chosen.device, device);
    fail_unless_equals_string(chosen.reason, reason);
}

GST_START_TEST(test_nothing_to_measure)
{
    fake.found.measures = FALSE;
    fail_unless(begin(LONG) == NULL);
    fail_unless_equals_int(fake.measured, 0);
}
GST_END_TEST;

GST_START_TEST(test_kept)
{
    static const struct {
        guint64 gpu, cpu;
        const gchar *device;
    } rows[] = { { 10, 5, "cpu" }, { 5, 10, "gpu" }, { 10, 10, "gpu" } };

    for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct gst_tdl_device_choice *choice;

        fake.found.gpu_ns = rows[i].gpu;
        fake.found.cpu_ns = rows[i].cpu;
        choice = begin(LONG);
        expect(choice, rows[i].device, "kept");
        fail_unless_equals_int(gst_tdl_device_choice_get(choice).gpu_ns, rows[i].gpu);
        fail_if(gst_tdl_device_choice_wants_gpu(choice));
        gst_tdl_device_choice_end(&choice);
        fail_unless(choice == NULL);
    }
    fail_unless_equals_int(fake.measured, 0);
    fail_unless_equals_int(fake.kept, 0);
}
GST_END_TEST;

GST_START_TEST(test_measured)
{
    struct gst_tdl_device_choice *choice = begin(LONG);

    expect(choice, "cpu", "measured");
    fail_unless_equals_int(fake.kept, 1);
    fail_unless_equals_string(fake.kept_model, "the model");
    fail_unless_equals_uint64(fake.kept_gpu, fake.gpu_ns);
    fail_unless_equals_uint64(fake.kept_cpu, fake.cpu_ns);
    gst_tdl_device_choice_end(&choice);
    fake.gpu_ns = 3 * GST_MSECOND;
    choice = begin(LONG);
    expect(choice, "gpu", "measured");
    fail_unless_equals_int(fake.kept, 2);
    fail_if(gst_tdl_device_choice_wants_gpu(choice));
    gst_tdl_device_choice_end(&choice);
}
GST_END_TEST;

/* A GPU that stays somewhere, and what is taken when the time is up. */
static void check_stuck(enum gst_tdl_trial_phase phase, const gchar *device, const gchar *reason)
{
    const gint64 start = g_get_monotonic_time();
    struct gst_tdl_device_choice *choice;

    fake.is_stuck = TRUE;
    fake.stuck = phase;
    choice = begin(PATIENCE);
    fail_unless(g_get_monotonic_time() - start >= PATIENCE);
    fail_unless(g_get_monotonic_time() - start < LONG);
    expect(choice, device, reason);
    fail_unless_equals_int(fake.kept, 0);
    gst_tdl_device_choice_end(&choice);
    fail_unless(g_get_monotonic_time() - start < LONG);
    g_atomic_int_set(&fake.released, TRUE);
}

GST_START_TEST(test_silent)
{
    check_stuck(GST_TDL_TRIAL_OPENING, "cpu", "silent");
}
GST_END_TEST;

/* Its driver does not even come back to be asked. */
GST_START_TEST(test_hanging)
{
    fake.deaf = TRUE;
    check_stuck(GST_TDL_TRIAL_OPENING, "cpu", "silent");
    g_usleep(G_TIME_SPAN_SECOND / 10); /* for the thread that was left behind */
}
GST_END_TEST;

GST_START_TEST(test_slow)
{
    check_stuck(GST_TDL_TRIAL_RUNNING, "cpu", "slow");
}
GST_END_TEST;

GST_START_TEST(test_compiling)
{
    check_stuck(GST_TDL_TRIAL_COMPILING, "gpu", "timing");
}
GST_END_TEST;

/* … and its network is timed when it works, for the next start. */
GST_START_TEST(test_told)
{
    struct gst_tdl_device_choice *choice;

    fake.is_stuck = TRUE;
    fake.stuck = GST_TDL_TRIAL_COMPILING;
    choice = begin(PATIENCE);
    fail_unless(gst_tdl_device_choice_wants_gpu(choice));
    gst_tdl_device_choice_tell_gpu(choice, 7 * GST_MSECOND);
    fail_if(gst_tdl_device_choice_wants_gpu(choice));
    gst_tdl_device_choice_end(&choice);
    fail_unless(fake.kept >= 1);
    fail_unless_equals_uint64(fake.kept_gpu, 7 * GST_MSECOND);
    fail_unless_equals_uint64(fake.kept_cpu, fake.cpu_ns);
}
GST_END_TEST;

/* A model that is long to read, or that the CPU computes for seconds. */
GST_START_TEST(test_slow_cpu)
{
    struct gst_tdl_device_choice *choice;

    fake.cpu_is_stuck = TRUE;
    choice = begin(PATIENCE);
    expect(choice, "gpu", "timing");
    gst_tdl_device_choice_tell_gpu(choice, 7 * GST_MSECOND);
    fail_unless_equals_int(fake.kept, 0);
    g_atomic_int_set(&fake.released, TRUE);
    while (!g_atomic_int_get(&fake.kept)) /* when the CPU's time is there */
        g_usleep(1000);
    gst_tdl_device_choice_end(&choice);
    fail_unless_equals_uint64(fake.kept_gpu, 7 * GST_MSECOND);
    fail_unless_equals_uint64(fake.kept_cpu, fake.cpu_ns);
    fail_unless_equals_int(fake.measured, 1);
}
GST_END_TEST;

GST_START_TEST(test_failing)
{
    struct gst_tdl_device_choice *choice;

    fake.fault = "it is broken";
    choice = begin(LONG);
    expect(choice, "cpu", "failed");
    fail_unless_equals_string(gst_tdl_device_choice_fault(choice), "it is broken");
    fail_unless_equals_int(fake.kept, 0);
    gst_tdl_device_choice_end(&choice);
    fake.cpu_ns = 0; /* nor does the model run there: the GPU says why */
    choice = begin(LONG);
    expect(choice, "gpu", "failed");
    gst_tdl_device_choice_end(&choice);
}
GST_END_TEST;

/* Nobody waits long for what compiles on the CPU. */
GST_START_TEST(test_software)
{
    struct gst_tdl_device_choice *choice;

    fake.found.type = TDL_DEVICE_SOFTWARE;
    fake.is_stuck = TRUE;
    fake.stuck = GST_TDL_TRIAL_COMPILING;
    choice = begin(PATIENCE);
    expect(choice, "cpu", "timing");
    fail_if(gst_tdl_device_choice_wants_gpu(choice));
    gst_tdl_device_choice_end(&choice);
    fake.is_stuck = FALSE;
    fake.gpu_ns = 1 * GST_MSECOND;
    choice = begin(LONG);
    expect(choice, "vulkan", "measured");
    gst_tdl_device_choice_end(&choice);
}
GST_END_TEST;

static Suite *choice_suite(void)
{
    Suite *suite = suite_create("choice");
    TCase *cases = tcase_create("fakes");

    gst_tdl_error_init();
    tcase_set_timeout(cases, 120);
    suite_add_tcase(suite, cases);
    tcase_add_checked_fixture(cases, setup, NULL);
    tcase_add_test(cases, test_nothing_to_measure);
    tcase_add_test(cases, test_kept);
    tcase_add_test(cases, test_measured);
    tcase_add_test(cases, test_silent);
    tcase_add_test(cases, test_hanging);
    tcase_add_test(cases, test_slow);
    tcase_add_test(cases, test_compiling);
    tcase_add_test(cases, test_told);
    tcase_add_test(cases, test_slow_cpu);
    tcase_add_test(cases, test_failing);
    tcase_add_test(cases, test_software);
    return suite;
}

GST_CHECK_MAIN(choice);
