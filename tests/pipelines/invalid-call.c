/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Breaks Vulkan's rules on purpose (a buffer of no bytes), and still exits 0:
 * the run under the validation layers must notice it, else it notices nothing.
 */
#include <stdio.h>
#include <vulkan/vulkan.h>

#define EXIT_SKIP 77

int main(void)
{
    VkApplicationInfo app = { .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                              .apiVersion = VK_API_VERSION_1_1 };
    VkInstanceCreateInfo info = { .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                  .pApplicationInfo = &app };
    VkDeviceQueueCreateInfo queue = { .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                      .queueCount = 1, .pQueuePriorities = &(float){ 1.0f } };
    VkDeviceCreateInfo device_info = { .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                       .queueCreateInfoCount = 1, .pQueueCreateInfos = &queue };
    VkBufferCreateInfo wrong = { .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                 .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT };
    VkInstance instance;
    VkPhysicalDevice gpu;
    VkDevice device;
    VkBuffer buffer;
    uint32_t count = 1;

    if (vkCreateInstance(&info, NULL, &instance) != VK_SUCCESS)
        return EXIT_SKIP;
    VkResult result = vkEnumeratePhysicalDevices(instance, &count, &gpu);
    if (result < 0 || !count || vkCreateDevice(gpu, &device_info, NULL, &device) != VK_SUCCESS) {
        vkDestroyInstance(instance, NULL);
        return EXIT_SKIP;
    }
    if (vkCreateBuffer(device, &wrong, NULL, &buffer) == VK_SUCCESS)
        vkDestroyBuffer(device, buffer, NULL);
    vkDestroyDevice(device, NULL);
    vkDestroyInstance(instance, NULL);
    return 0;
}
