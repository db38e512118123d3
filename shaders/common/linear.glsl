// SPDX-License-Identifier: LGPL-2.1-or-later
// Values in linear memory: row-major, elements of one type without gaps.
//
// A kernel is compiled once per class of elements that it computes with:
//
//     TDL_FLOAT  float      float32, float16
//     TDL_INT    int        int32, int8
//     TDL_UINT   uint       uint32, uint8
//     TDL_I64    int64_t    int64    (only on devices with shaderInt64)
//     TDL_U64    uint64_t   uint64
//
// and gets the types of its operands as specialization constants that hold
// enum tdl_dtype. Memory is seen as 32-bit words, so that no device needs 8-
// and 16-bit storage. One invocation makes one word of the output (with 64-bit
// types, two words: an element), so that no two write to the same.
//
//     LINEAR_IN(0, a)              // binding 0; a_at(TYPE, i) is element i as ELEMENT
//     LINEAR_OUT(1, result)
//     ELEMENT value(uint i) {…}    // of element i of the output
//     void main() { LINEAR_MAIN(result, TYPE, COUNT, value) }
//
// a_float, a_int, a_uint(type, i) read elements of a type that is not of the
// kernel's class (they convert nothing: type must be of that class).
// a_bits(bytes, i, upper) is the raw memory of an element, for kernels that only
// move; upper 1 is the upper word of an 8-byte one.
#if defined(TDL_I64) || defined(TDL_U64)
#define TDL_64BIT
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#endif

const uint FLOAT32 = 0, FLOAT16 = 1, INT32 = 2, UINT32 = 3, INT8 = 4, UINT8 = 5, INT64 = 6,
           UINT64 = 7;

#if defined(TDL_FLOAT)
#define ELEMENT float
#define LINEAR_READ(WORDS, TYPE, I) linear_float(TYPE, WORDS[(I) / linear_lanes(TYPE)], I)
#elif defined(TDL_INT)
#define ELEMENT int
#define LINEAR_READ(WORDS, TYPE, I) linear_int(TYPE, WORDS[(I) / linear_lanes(TYPE)], I)
#elif defined(TDL_I64)
#define ELEMENT int64_t
#define LINEAR_READ(WORDS, TYPE, I) packInt2x32(ivec2(WORDS[2 * (I)], WORDS[2 * (I) + 1]))
#elif defined(TDL_U64)
#define ELEMENT uint64_t
#define LINEAR_READ(WORDS, TYPE, I) packUint2x32(uvec2(WORDS[2 * (I)], WORDS[2 * (I) + 1]))
#else
#define ELEMENT uint
#define LINEAR_READ(WORDS, TYPE, I) linear_uint(TYPE, WORDS[(I) / linear_lanes(TYPE)], I)
#endif

// Elements in a word.
uint linear_lanes(uint type)
{
    return type == FLOAT16 ? 2 : type == INT8 || type == UINT8 ? 4 : 1;
}

// Element `i` of a value, given the word that it is in.
float linear_float(uint type, uint word, uint i)
{
    return type == FLOAT16 ? unpackHalf2x16(word >> 16 * (i & 1)).x : uintBitsToFloat(word);
}
int linear_int(uint type, uint word, uint i)
{
    return type == INT8 ? bitfieldExtract(int(word), int(i & 3) * 8, 8) : int(word);
}
uint linear_uint(uint type, uint word, uint i)
{
    return type == UINT8 ? bitfieldExtract(word, int(i & 3) * 8, 8) : word;
}
uint linear_bits(uint bytes, uint word, uint i)
{
    return bytes == 1 ? bitfieldExtract(word, int(i & 3) * 8, 8)
         : bytes == 2 ? bitfieldExtract(word, int(i & 1) * 16, 16) : word;
}

// The bits that an element puts into its word as number `lane`. Integers that
// do not fit wrap.
uint linear_encode(uint type, float v, uint lane)
{
    return type == FLOAT16 ? (packHalf2x16(vec2(v, 0.0)) & 0xffff) << 16 * lane
                           : floatBitsToUint(v);
}
uint linear_encode(uint type, uint v, uint lane)
{
    return type == INT8 || type == UINT8 ? (v & 0xff) << 8 * lane : v;
}
uint linear_encode(uint type, int v, uint lane) { return linear_encode(type, uint(v), lane); }

// Here, too: newer compilers want it ahead of any use of gl_WorkGroupSize.
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;

// The word, or with 64-bit types the element, that this invocation makes;
// tdl_plan_linear_groups() dispatches them.
uint linear_word()
{
    return gl_GlobalInvocationID.x +
           gl_GlobalInvocationID.y * (gl_NumWorkGroups.x * gl_WorkGroupSize.x);
}

// Element `I` of a type of 4 or 8 bytes to memory.
#if defined(TDL_I64)
#define LINEAR_PUT(NAME, TYPE, I, V)                                                               \
    {                                                                                              \
        const ivec2 linear_bits = unpackInt2x32(V);                                                \
        NAME##_words[2 * (I)] = uint(linear_bits.x);                                               \
        NAME##_words[2 * (I) + 1] = uint(linear_bits.y);                                           \
    }
#elif defined(TDL_U64)
#define LINEAR_PUT(NAME, TYPE, I, V)                                                               \
    {                                                                                              \
        const uvec2 linear_bits = unpackUint2x32(V);                                               \
        NAME##_words[2 * (I)] = linear_bits.x;                                                     \
        NAME##_words[2 * (I) + 1] = linear_bits.y;                                                 \
    }
#else
#define LINEAR_PUT(NAME, TYPE, I, V) NAME##_words[I] = linear_encode(TYPE, V, 0);
#endif

#define LINEAR_IN(BINDING, NAME)                                                                   \
    layout(std430, set = 0, binding = BINDING) readonly buffer NAME##_memory                       \
    {                                                                                              \
        uint NAME##_words[];                                                                       \
    };                                                                                             \
    ELEMENT NAME##_at(uint type, uint i) { return LINEAR_READ(NAME##_words, type, i); }            \
    float NAME##_float(uint type, uint i)                                                          \
    {                                                                                              \
        return linear_float(type, NAME##_words[i / linear_lanes(type)], i);                        \
    }                                                                                              \
    int NAME##_int(uint type, uint i)                                                              \
    {                                                                                              \
        return linear_int(type, NAME##_words[i / linear_lanes(type)], i);                          \
    }                                                                                              \
    uint NAME##_uint(uint type, uint i)                                                            \
    {                                                                                              \
        return linear_uint(type, NAME##_words[i / linear_lanes(type)], i);                         \
    }                                                                                              \
    uint NAME##_bits(uint bytes, uint i, uint upper)                                                \
    {                                                                                              \
        return linear_bits(bytes, NAME##_words[bytes == 8 ? 2 * i + upper : i / (4 / bytes)], i);   \
    }

#define LINEAR_OUT(BINDING, NAME)                                                                  \
    layout(std430, set = 0, binding = BINDING) writeonly buffer NAME##_memory                      \
    {                                                                                              \
        uint NAME##_words[];                                                                       \
    };

// Elements VALUE(i) of a 4-byte or smaller type, which may be of any class
// that linear_encode() takes. The last ones of a word past COUNT repeat.
#define LINEAR_MAIN_32(NAME, TYPE, COUNT, VALUE)                                                   \
    uint linear_at = linear_word(), linear_first = linear_at * linear_lanes(TYPE), linear_bits = 0;\
    if (linear_first >= COUNT)                                                                     \
        return;                                                                                    \
    [[unroll]] for (uint lane = 0; lane < linear_lanes(TYPE); lane++)                              \
        linear_bits |= linear_encode(TYPE, VALUE(min(linear_first + lane, COUNT - 1)), lane);      \
    NAME##_words[linear_at] = linear_bits;

#if defined(TDL_I64)
#define LINEAR_MAIN(NAME, TYPE, COUNT, VALUE)                                                      \
    uint linear_at = linear_word();                                                                \
    if (linear_at >= COUNT)                                                                        \
        return;                                                                                    \
    ivec2 linear_bits = unpackInt2x32(VALUE(linear_at));                                           \
    NAME##_words[2 * linear_at] = uint(linear_bits.x);                                             \
    NAME##_words[2 * linear_at + 1] = uint(linear_bits.y);
#elif defined(TDL_U64)
#define LINEAR_MAIN(NAME, TYPE, COUNT, VALUE)                                                      \
    uint linear_at = linear_word();                                                                \
    if (linear_at >= COUNT)                                                                        \
        return;                                                                                    \
    uvec2 linear_bits = unpackUint2x32(VALUE(linear_at));                                          \
    NAME##_words[2 * linear_at] = linear_bits.x;                                                   \
    NAME##_words[2 * linear_at + 1] = linear_bits.y;
#else
#define LINEAR_MAIN(NAME, TYPE, COUNT, VALUE) LINEAR_MAIN_32(NAME, TYPE, COUNT, VALUE)
#endif
