/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Breaks Vulkan's rules on purpose (a buffer of no bytes), and still exits 0:
 * the run under the validation layers must notice it, else it notices nothing.
 * With an argument it breaks a small device's limits alone (more storage buffers than eight).
 */
#include <stdio.h>
#include <vulkan/vulkan.h>

#define EXIT_SKIP 77

/* Sixteen storage buffers in a kernel. */
static void exceed_limits(VkDevice device)
{
    VkDescriptorSetLayoutBinding many = { .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                          .descriptorCount = 16,
                                          .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT };
    VkDescriptorSetLayoutCreateInfo set_info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 1, .pBindings = &many };
    VkDescriptorSetLayout set;
    VkPipelineLayout layout;

    if (vkCreateDescriptorSetLayout(device, &set_info, NULL, &set) != VK_SUCCESS)
        return;
    VkPipelineLayoutCreateInfo info = { .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                        .setLayoutCount = 1, .pSetLayouts = &set };
    if (vkCreatePipelineLayout(device, &info, NULL, &layout) == VK_SUCCESS)
        vkDestroyPipelineLayout(device, layout, NULL);
    vkDestroyDescriptorSetLayout(device, set, NULL);
}

static void make_empty_buffer(VkDevice device)
{
    VkBufferCreateInfo wrong = { .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                 .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT };
    VkBuffer buffer;

    if (vkCreateBuffer(device, &wrong, NULL, &buffer) == VK_SUCCESS)
        vkDestroyBuffer(device, buffer, NULL);
}

int main(int argc, char **argv)
{
    VkApplicationInfo app = { .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                              .apiVersion = VK_API_VERSION_1_1 };
    VkInstanceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                  .pApplicationInfo = &app };
    VkDeviceQueueCreateInfo queue = { .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                      .queueCount = 1, .pQueuePriorities = &(float){ 1.0f } };
    VkDeviceCreateInfo device_info = { .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                       .queueCreateInfoCount = 1, .pQueueCreateInfos = &queue };
    VkInstance instance;
    VkPhysicalDevice gpu;
    VkDevice device;
    uint32_t count = 1;

    (void)argv;
    if (vkCreateInstance(&info, NULL, &instance) != VK_SUCCESS)
        return EXIT_SKIP;
    VkResult result = vkEnumeratePhysicalDevices(instance, &count, &gpu);
    if (result < 0 || !count || vkCreateDevice(gpu, &device_info, NULL, &device) != VK_SUCCESS) {
        vkDestroyInstance(instance, NULL);
        return EXIT_SKIP;
    }
    if (argc > 1)
        exceed_limits(device);
    else
        make_empty_buffer(device);
    vkDestroyDevice(device, NULL);
    vkDestroyInstance(instance, NULL);
    return 0;
}
