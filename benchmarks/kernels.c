/* The workloads in C: float64, one thread, weights d x m so that neurons lie side by side.
   Every function trains `runs` networks one after the other; arrays of all of them are stacked.
   W is m x d and a is m, as in Python; both are overwritten by the weights at the end. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifndef L /* numbers in a vector: 8, and 4 for networks that have no more neurons than that */
#define L 8
#endif
typedef double vec __attribute__((vector_size(8 * L)));
typedef long long mask __attribute__((vector_size(8 * L)));
#define INLINE static inline __attribute__((always_inline))

static long padded(long m) { return (m + L - 1) / L * L; }

static double *zeros(long count) {
    double *memory = aligned_alloc(64, (count * sizeof(double) + 127) / 64 * 64);
    return memset(memory, 0, count * sizeof(double));
}

INLINE vec choose(mask which, vec yes, vec no) {
    return (vec)((which & (mask)yes) | (~which & (mask)no));
}

INLINE vec positive(vec z, vec value) { return (vec)((mask)value & (mask)(z > 0)); }

/* C += A B for R rows and V vectors of columns, held in registers over the whole inner sum. */
INLINE void tile(int R, int V, long inner, const double *A, long ra, long ca, const vec *B,
                 vec *C, long M) {
    vec sum[6][4];
    for (int r = 0; r < R; r++)
        for (int v = 0; v < V; v++) sum[r][v] = C[r * M + v];
    for (long i = 0; i < inner; i++)
        for (int r = 0; r < R; r++)
            for (int v = 0; v < V; v++) sum[r][v] += A[r * ra + i * ca] * B[i * M + v];
    for (int r = 0; r < R; r++)
        for (int v = 0; v < V; v++) C[r * M + v] = sum[r][v];
}

#define TILE(r, v) case 4 * r + v: tile(r, v, inner, a, ra, ca, B + k, c, M); break;
#define TILES(r) TILE(r, 1) TILE(r, 2) TILE(r, 3) TILE(r, 4)

/* C (rows x M vectors) += A B; entry (r, i) of A is A[r ra + i ca], B is inner x M vectors. */
static void product(long rows, long inner, long M, const double *A, long ra, long ca,
                    const vec *B, vec *C) {
    for (long k = 0, V, left = (M + 3) / 4; k < M; k += V, left--) {
        V = (M - k + left - 1) / left;
        for (long r = 0, R, rest = (rows + 5) / 6; r < rows; r += R, rest--) {
            R = (rows - r + rest - 1) / rest;
            const double *a = A + r * ra;
            vec *c = C + r * M + k;
            switch (4 * R + V) { TILES(1) TILES(2) TILES(3) TILES(4) TILES(5) TILES(6) }
        }
    }
}

INLINE double total(vec v) {
    double sum = (v[0] + v[1]) + (v[2] + v[3]);
    return L == 8 ? sum + ((v[L - 4] + v[L - 3]) + (v[L - 2] + v[L - 1])) : sum;
}

/* Minus the step size times dL/df at one output, mean logistic loss over b examples. */
INLINE double push(double f, double y, double lr, long b) { return lr * y / b / (1 + exp(y * f)); }

INLINE double output(long M, const vec *Z, const vec *a) {
    vec sum = {0};
    for (long k = 0; k < M; k++) sum += positive(Z[k], Z[k] * a[k]);
    return total(sum);
}

/* Pre-activations become the pull on each neuron, push a_k [z > 0]; that on a is added to da. */
INLINE void pull(long M, vec *Z, const vec *a, vec *da, double g) {
    for (long k = 0; k < M; k++) {
        da[k] += positive(Z[k], g * Z[k]);
        Z[k] = positive(Z[k], g * a[k]);
    }
}

static void transpose(long m, long d, long pad, double *W, double *T, int back) {
    for (long k = 0; k < m; k++)
        for (long c = 0; c < d; c++)
            if (back) W[k * d + c] = T[c * pad + k];
            else T[c * pad + k] = W[k * d + c];
}

/* Two layers, ReLU, mean logistic loss: SGD by batches, gd where a batch is all of the data.
   `orders` (runs x epochs x n) are the examples' orders; NULL is their own order, always. */
void two_layer(long runs, long n, long d, long m, const double *X, const double *y,
               const int *orders, long epochs, long batch, double lr, int both, double *W,
               double *a) {
    long pad = padded(m), M = pad / L;
    double *T = zeros(d * pad), *A = zeros(pad), *dA = zeros(pad), *Z = zeros(batch * pad);
    double *rows = zeros(batch * d), *labels = zeros(batch);
    for (long run = 0; run < runs; run++, X += n * d, y += n, W += m * d, a += m) {
        transpose(m, d, pad, W, T, 0);
        memcpy(A, a, m * sizeof(double));
        for (long epoch = 0; epoch < epochs; epoch++, orders += orders ? n : 0)
            for (long first = 0; first < n; first += batch) {
                long b = n - first < batch ? n - first : batch;
                const double *points = X, *signs = y;
                if (orders) {
                    for (long i = 0; i < b; i++) {
                        memcpy(rows + i * d, X + orders[first + i] * d, d * sizeof(double));
                        labels[i] = y[orders[first + i]];
                    }
                    points = rows, signs = labels;
                }
                memset(Z, 0, b * pad * sizeof(double));
                memset(dA, 0, pad * sizeof(double));
                product(b, d, M, points, d, 1, (vec *)T, (vec *)Z);
                for (long i = 0; i < b; i++) {
                    vec *z = (vec *)Z + i * M;
                    double f = output(M, z, (vec *)A);
                    pull(M, z, (vec *)A, (vec *)dA, push(f, signs[i], lr, b));
                }
                product(d, b, M, points, 1, d, (vec *)Z, (vec *)T);
                if (both)
                    for (long k = 0; k < pad; k++) A[k] += dA[k];
            }
        transpose(m, d, pad, W, T, 1);
        memcpy(a, A, m * sizeof(double));
    }
    free(T), free(A), free(dA), free(Z), free(rows), free(labels);
}

/* The same with one example a step, through blocks: over a block the pre-activations are those of
   its beginning plus sums of products of its examples, so W is read and written once a block. */
void one_by_one(long runs, long n, long d, long m, const double *X, const double *y,
                const int *orders, long epochs, long block, double lr, int both, double *W,
                double *a) {
    long pad = padded(m), M = pad / L, wide = padded(d);
    double *T = zeros(d * pad), *A = zeros(pad), *dA = zeros(pad), *Z = zeros(block * pad);
    double *rows = zeros(block * wide), *gram = zeros(block * block);
    for (long run = 0; run < runs; run++, X += n * d, y += n, W += m * d, a += m) {
        transpose(m, d, pad, W, T, 0);
        memcpy(A, a, m * sizeof(double));
        for (long epoch = 0; epoch < epochs; epoch++, orders += n)
            for (long first = 0; first < n; first += block) {
                long b = n - first < block ? n - first : block;
                for (long i = 0; i < b; i++)
                    memcpy(rows + i * wide, X + orders[first + i] * d, d * sizeof(double));
                for (long i = 0; i < b; i++)
                    for (long j = 0; j < i; j++) {
                        vec sum = {0}, *u = (vec *)(rows + i * wide), *v = (vec *)(rows + j * wide);
                        for (long c = 0; c < wide / L; c++) sum += u[c] * v[c];
                        gram[i * block + j] = total(sum);
                    }
                memset(Z, 0, b * pad * sizeof(double));
                product(b, d, M, rows, wide, 1, (vec *)T, (vec *)Z);
                for (long i = 0; i < b; i++) {
                    vec *z = (vec *)Z + i * M;
                    product(1, i, M, gram + i * block, 0, 1, (vec *)Z, z);
                    memset(dA, 0, pad * sizeof(double));
                    double f = output(M, z, (vec *)A);
                    pull(M, z, (vec *)A, (vec *)dA, push(f, y[orders[first + i]], lr, 1));
                    if (both)
                        for (long k = 0; k < pad; k++) A[k] += dA[k];
                }
                product(d, b, M, rows, 1, wide, (vec *)Z, (vec *)T);
            }
        transpose(m, d, pad, W, T, 1);
        memcpy(a, A, m * sizeof(double));
    }
    free(T), free(A), free(dA), free(Z), free(rows), free(gram);
}

/* One step of the function below. Where M is a constant, all of it stays in registers. */
INLINE void pooled(long n, long d, long M, const double *X, const double *y, double lr, vec *w) {
    vec *u = w, *v = w + M, *a = w + 2 * M, *du = w + 3 * M, *dv = w + 4 * M, *z = w + 5 * M;
    vec *p = w + 6 * M, *q = w + 7 * M;
    for (long k = 0; k < 2 * M; k++) du[k] = (vec){0};
    for (long i = 0; i < n; i++, X += d) {
        vec f = {0}, none = {0};
        for (long k = 0; k < M; k++) {
            vec best = u[k] * X[0] + v[k] * X[1], px = X[0] + none, qx = X[1] + none;
            for (long c = 2; c < d; c += 2) {
                vec score = u[k] * X[c] + v[k] * X[c + 1];
                mask better = score > best;
                best = choose(better, score, best);
                px = choose(better, X[c] + none, px);
                qx = choose(better, X[c + 1] + none, qx);
            }
            z[k] = positive(best, a[k]), p[k] = px, q[k] = qx;
            f += z[k] * best;
        }
        double g = 1 - y[i] * total(f) > 0 ? lr * y[i] : 0;
        if (M > 1 && g == 0) continue;
        for (long k = 0; k < M; k++) du[k] += g * z[k] * p[k], dv[k] += g * z[k] * q[k];
    }
    for (long k = 0; k < 2 * M; k++) u[k] += du[k];
}

/* Convolution with patches of two coordinates, max-pooling, fixed signs; hinge loss, summed; gd.
   Of patches that tie the first one has the gradient. */
void conv_max_pool(long runs, long n, long d, long m, const double *X, const double *y,
                   long epochs, double lr, double *W, const double *a) {
    long pad = padded(m), M = pad / L;
    double *w = zeros(8 * pad);
    for (long run = 0; run < runs; run++, X += n * d, y += n, W += m * 2, a += m) {
        transpose(m, 2, pad, W, w, 0);
        memcpy(w + 2 * pad, a, m * sizeof(double));
        for (long epoch = 0; epoch < epochs; epoch++)
            if (M == 1) pooled(n, d, 1, X, y, lr, (vec *)w);
            else pooled(n, d, M, X, y, lr, (vec *)w);
        transpose(m, 2, pad, W, w, 1);
    }
    free(w);
}
