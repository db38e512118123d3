// SPDX-License-Identifier: LGPL-2.1-or-later
// The product itself of kernels on cooperative matrices, and their main(): whole
// subgroups multiply fragments of FRAG_M × FRAG_K by FRAG_K × FRAG_N values, halves with
// float32 sums. A workgroup makes TILE_M rows × TILE_N columns with GRID_M × GRID_N
// subgroups. Two tiles take turns: while one is multiplied, the next one comes.
//
// Before it come TILE_M, TILE_N, GRID_M, GRID_N, FRAG_M, FRAG_N, FRAG_K, LANES
// (invocations of a subgroup), STEPS, PARTS (of the steps, by workgroups of their own), and
//
//     CELL                 f16vec4 or uvec4: what comes from memory at once
//     CELL_HALVES, DEEP    halves of it; values of the sums in a step
//     A_CELLS, B_CELLS     that an invocation brings in a step
//     A_TURNED, B_TURNED   lines of the tile lie along the other dimension: those of a
//                          are its rows, those of b its columns, or turned
//     ALONG_ROWS           neighbours in memory are those of a row of the result
//
// and behind it
//
//     CELL bring_a(uint s, uint line, uint place)
//     CELL bring_b(uint s, uint line, uint place)
//     void write(uint row, uint column, vec4 v)    // four columns from that one on
//
// Loops over fragments are not nested: of nested ones whose bounds are specialization
// constants, drivers unroll none, and keep no matrix in registers.
CELL bring_a(uint s, uint line, uint place);
CELL bring_b(uint s, uint line, uint place);
void write(uint row, uint column, vec4 v);

const uint A_WIDTH = (A_TURNED ? TILE_M : DEEP) / CELL_HALVES;
const uint B_WIDTH = (B_TURNED ? DEEP : TILE_N) / CELL_HALVES;
const uint A_LINES = A_TURNED ? DEEP : TILE_M, B_LINES = B_TURNED ? TILE_N : DEEP;
// A line has a gap behind it that spreads lines over the banks.
const uint A_PITCH = A_WIDTH + 8 / CELL_HALVES, B_PITCH = B_WIDTH + 8 / CELL_HALVES;
const uint A_SIZE = A_LINES * A_PITCH, B_SIZE = B_LINES * B_PITCH;
const uint OWN_M = TILE_M / GRID_M / FRAG_M; // fragments of a subgroup
const uint OWN_N = TILE_N / GRID_N / FRAG_N;

shared CELL a_tile[2 * A_SIZE];
shared CELL b_tile[2 * B_SIZE];
shared vec4 stage[GRID_M * GRID_N * FRAG_M * FRAG_N / 4];

CELL a_next[A_CELLS], b_next[B_CELLS];

uint a_line(uint e) { return ALONG_ROWS ? e / A_WIDTH : e % A_LINES; }
uint a_place(uint e) { return ALONG_ROWS ? e % A_WIDTH : e / A_LINES; }

void load_step(uint s)
{
    [[unroll]] for (uint i = 0; i < A_CELLS; i++) {
        uint e = gl_LocalInvocationIndex + i * gl_WorkGroupSize.x;
        a_next[i] = bring_a(s, a_line(e), a_place(e));
    }
    [[unroll]] for (uint i = 0; i < B_CELLS; i++) {
        uint e = gl_LocalInvocationIndex + i * gl_WorkGroupSize.x;
        b_next[i] = bring_b(s, e / B_WIDTH, e % B_WIDTH);
    }
}

void store_step(uint s)
{
    uint a_at = s % 2 * A_SIZE, b_at = s % 2 * B_SIZE;
    [[unroll]] for (uint i = 0; i < A_CELLS; i++) {
        uint e = gl_LocalInvocationIndex + i * gl_WorkGroupSize.x;
        a_tile[a_at + a_line(e) * A_PITCH + a_place(e)] = a_next[i];
    }
    [[unroll]] for (uint i = 0; i < B_CELLS; i++) {
        uint e = gl_LocalInvocationIndex + i * gl_WorkGroupSize.x;
        b_tile[b_at + e / B_WIDTH * B_PITCH + e % B_WIDTH] = b_next[i];
    }
}

void main()
{
    coopmat<float, gl_ScopeSubgroup, FRAG_M, FRAG_N, gl_MatrixUseAccumulator> sum[OWN_M * OWN_N];
    uint part = gl_WorkGroupID.z % PARTS;
    uint first = part * STEPS / PARTS, end = (part + 1) * STEPS / PARTS;
    uint row = gl_SubgroupID % GRID_M * (TILE_M / GRID_M);
    uint column = gl_SubgroupID / GRID_M * (TILE_N / GRID_N);
    [[unroll]] for (uint i = 0; i < OWN_M * OWN_N; i++)
        sum[i] = coopmat<float, gl_ScopeSubgroup, FRAG_M, FRAG_N, gl_MatrixUseAccumulator>(0.0);
    load_step(first);
    store_step(first);
    barrier();
    [[dont_unroll]] for (uint s = first; s < end; s++) {
        uint a_at = s % 2 * A_SIZE, b_at = s % 2 * B_SIZE;
        if (s + 1 < end)
            load_step(s + 1);
        [[unroll]] for (uint k = 0; k < DEEP; k += FRAG_K) {
            coopmat<float16_t, gl_ScopeSubgroup, FRAG_M, FRAG_K, gl_MatrixUseA> a[OWN_M];
            coopmat<float16_t, gl_ScopeSubgroup, FRAG_K, FRAG_N, gl_MatrixUseB> b[OWN_N];
            [[unroll]] for (uint m = 0; m < OWN_M; m++) {
                const uint at = row + m * FRAG_M;
                if (A_TURNED)
                    coopMatLoad(a[m], a_tile, a_at + k * A_PITCH + at / CELL_HALVES, A_PITCH,
                                gl_CooperativeMatrixLayoutColumnMajor);
                else
                    coopMatLoad(a[m], a_tile, a_at + at * A_PITCH + k / CELL_HALVES, A_PITCH,
                                gl_CooperativeMatrixLayoutRowMajor);
            }
            [[unroll]] for (uint n = 0; n < OWN_N; n++) {
                const uint at = column + n * FRAG_N;
                if (B_TURNED)
                    coopMatLoad(b[n], b_tile, b_at + at * B_PITCH + k / CELL_HALVES, B_PITCH,
                                gl_CooperativeMatrixLayoutColumnMajor);
                else
                    coopMatLoad(b[n], b_tile, b_at + k * B_PITCH + at / CELL_HALVES, B_PITCH,
                                gl_CooperativeMatrixLayoutRowMajor);
            }
            [[unroll]] for (uint i = 0; i < OWN_M * OWN_N; i++)
                sum[i] = coopMatMulAdd(a[i / OWN_N], b[i % OWN_N], sum[i]);
        }
        if (s + 1 < end)
            store_step(s + 1);
        barrier();
    }
    // Fragment by fragment through shared memory: only there is it known which
    // value is whose.
    const uint WIDTH = FRAG_N / 4;
    uint own = gl_SubgroupID * (FRAG_M * WIDTH);
    [[unroll]] for (uint i = 0; i < OWN_M * OWN_N; i++) {
        uint m = i / OWN_N, n = i % OWN_N;
        coopMatStore(sum[i], stage, own, WIDTH, gl_CooperativeMatrixLayoutRowMajor);
        controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsShared,
                       gl_SemanticsAcquireRelease);
        [[unroll]] for (uint e = gl_SubgroupInvocationID; e < FRAG_M * WIDTH; e += LANES) {
            const uint x = ALONG_ROWS ? e % WIDTH : e / FRAG_M;
            const uint y = ALONG_ROWS ? e / WIDTH : e % FRAG_M;
            write(gl_WorkGroupID.x * TILE_M + row + m * FRAG_M + y,
                  gl_WorkGroupID.y * TILE_N + column + n * FRAG_N + x * 4,
                  stage[own + y * WIDTH + x]);
        }
        controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsShared,
                       gl_SemanticsAcquireRelease);
    }
}
