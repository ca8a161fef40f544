// Full-batch gradient descent on many two-layer networks: one block trains one network.
//
// Data and weights of a network stay in shared memory and registers for all its steps, so device
// memory is read once and written once. Both large products go through the double-precision matrix
// units: Z = W X^T (forward) and V = S X (backward), where S is the slope of the loss at a point
// where the neuron is active there and ALPHA times it elsewhere. The step is
//     W -= lr a V,   a -= lr sum_d W V   (phi is homogeneous, so sum_i g_i phi(z_i) = w . v).
// A warp owns BLOCKS times 8 neurons. In the fragments of the matrix units, lane = 4 i + q holds row i
// of a result and its columns 2q and 2q + 1; as the order of points in a sum is free, what a lane has
// computed in the forward product is just what it must supply to the backward one.
//
// Given when it is compiled: N points, D coordinates, M neurons, WARPS, RESIDENT (blocks that should
// find room on a multiprocessor), ALPHA, BOTH (layers that are trained), LOSS (0 logistic, 1
// exponential).

#define POINT_BLOCKS ((N + 7) / 8)
#define POINTS (8 * POINT_BLOCKS)
#define STEPS_K ((D + 3) / 4)
#define COLUMN_BLOCKS ((D + 7) / 8)
#define ROW (8 * ((D + 3) / 8) + 4) /* odd multiple of 4: no two lanes meet in a bank */
#define BLOCKS (2 * ((M + 16 * WARPS - 1) / (16 * WARPS)))
#define NEURONS (8 * BLOCKS * WARPS)

// c += a b for 16 x 4 times 4 x 8.
__device__ __forceinline__ void multiply(double (&c)[4], double a0, double a1, double b) {
#if __CUDA_ARCH__ >= 900
  asm volatile(
      "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 "
      "{%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
      : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3])
      : "d"(a0), "d"(a1), "d"(b));
#else
  const double a[2] = {a0, a1};
  for (int half = 0; half < 2; ++half)
    asm volatile(
        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
        : "+d"(c[2 * half]), "+d"(c[2 * half + 1])
        : "d"(a[half]), "d"(b));
#endif
}

extern "C" __global__ void __launch_bounds__(32 * WARPS, RESIDENT)
    train(const double* Xs, const double* ys, const int* which, const double* Ws, const double* as,
          const double* numbers, double* W_out, double* a_out) {
  extern __shared__ double shared[];  // as large as shared_bytes in fused.py says
  double* const X = shared;
  double* const W = X + POINTS * ROW + 8;
  double* const y = W + NEURONS * ROW + 8;
  double* const g = y + POINTS;
  double* const f = g + POINTS;                                  // WARPS x POINTS
  unsigned char* const active = (unsigned char*)(f + WARPS * POINTS);  // POINT_BLOCKS x threads
  const int thread = threadIdx.x, lane = thread & 31, warp = thread >> 5;
  const int i = lane >> 2, q = lane & 3;
  const int point = i ^ (i >> 2);  // so that both products read X without bank conflicts
  const double lr = numbers[0];
  const long steps = (long)numbers[1];
  const long run = blockIdx.x, set = which[run];

  for (int k = thread; k < POINTS * ROW + 8; k += 32 * WARPS) {
    const int p = k / ROW, c = k % ROW;
    X[k] = p < N && c < D ? Xs[(set * N + p) * D + c] : 0.0;
  }
  for (int k = thread; k < NEURONS * ROW + 8; k += 32 * WARPS) {
    const int m = k / ROW, c = k % ROW;
    W[k] = m < M && c < D ? Ws[(run * M + m) * D + c] : 0.0;
  }
  for (int p = thread; p < POINTS; p += 32 * WARPS) y[p] = p < N ? ys[set * N + p] : 0.0;
  const int first = 8 * BLOCKS * warp + i;  // this lane's neurons are first + 8 b
  double a[BLOCKS];
  for (int b = 0; b < BLOCKS; ++b) a[b] = first + 8 * b < M ? as[run * M + first + 8 * b] : 0.0;
  __syncthreads();

  for (long step = 0; step < steps; ++step) {
    double w[BLOCKS][STEPS_K];
    for (int b = 0; b < BLOCKS; ++b)
      for (int k = 0; k < STEPS_K; ++k) w[b][k] = W[(first + 8 * b) * ROW + 4 * k + q];
#pragma unroll 1
    for (int n = 0; n < POINT_BLOCKS; ++n) {
      double x[STEPS_K], sum0 = 0.0, sum1 = 0.0;
      unsigned bits = 0;
      for (int k = 0; k < STEPS_K; ++k) x[k] = X[(8 * n + point) * ROW + 4 * k + q];
#pragma unroll
      for (int b = 0; b < BLOCKS; b += 2) {
        double z[4] = {0.0, 0.0, 0.0, 0.0};
        for (int k = 0; k < STEPS_K; ++k) multiply(z, w[b][k], w[b + 1][k], x[k]);
        for (int e = 0; e < 4; ++e) {
          const bool on = z[e] > 0.0;
          const double h = on ? z[e] : ALPHA * z[e];
          bits |= on ? 1u << (2 * b + e) : 0u;
          (e & 1 ? sum1 : sum0) += a[b + (e >> 1)] * h;
        }
      }
      active[32 * WARPS * n + thread] = bits;
      for (int far = 4; far < 32; far *= 2) {
        sum0 += __shfl_xor_sync(~0u, sum0, far);
        sum1 += __shfl_xor_sync(~0u, sum1, far);
      }
      if (i < 2) {
        const int column = 2 * q + i;
        f[warp * POINTS + 8 * n + (column ^ (column >> 2))] = i ? sum1 : sum0;
      }
    }
    __syncthreads();
    for (int p = thread; p < POINTS; p += 32 * WARPS) {
      double output = 0.0;
      for (int other = 0; other < WARPS; ++other) output += f[other * POINTS + p];
      const double c = y[p];  // the label times its coefficient in the loss
      const double margin = c > 0.0 ? output : -output;
      g[p] = LOSS ? -c * exp(-margin) : -c / (1.0 + exp(margin));
    }
    __syncthreads();
    double v[BLOCKS / 2][COLUMN_BLOCKS][4] = {};
#pragma unroll 1
    for (int n = 0; n < POINT_BLOCKS; ++n) {
      const unsigned bits = active[32 * WARPS * n + thread];
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int column = 2 * q + e, at = 8 * n + (column ^ (column >> 2));
        const double pull = g[at];
        double x[COLUMN_BLOCKS];
        for (int c = 0; c < COLUMN_BLOCKS; ++c) x[c] = X[at * ROW + 8 * c + i];
        for (int b = 0; b < BLOCKS; b += 2) {
          const double s0 = bits >> (2 * b + e) & 1 ? pull : ALPHA * pull;
          const double s1 = bits >> (2 * b + 2 + e) & 1 ? pull : ALPHA * pull;
          for (int c = 0; c < COLUMN_BLOCKS; ++c) multiply(v[b / 2][c], s0, s1, x[c]);
        }
      }
    }
    for (int b = 0; b < BLOCKS; ++b) {
      double change = 0.0;
      for (int c = 0; c < COLUMN_BLOCKS; ++c)
        for (int e = 0; e < 2; ++e) {
          const int column = 8 * c + 2 * q + e;
          if (column >= D) continue;
          const double move = v[b / 2][c][2 * (b & 1) + e];
          double& weight = W[(first + 8 * b) * ROW + column];
          change += weight * move;
          weight -= lr * a[b] * move;
        }
      if (BOTH) {
        change += __shfl_xor_sync(~0u, change, 1);
        change += __shfl_xor_sync(~0u, change, 2);
        a[b] -= lr * change;
      }
    }
    __syncwarp();
  }

  for (int b = 0; b < BLOCKS; ++b) {
    const int m = first + 8 * b;
    if (m >= M) continue;
    if (q == 0) a_out[run * M + m] = a[b];
    for (int c = q; c < D; c += 4) W_out[(run * M + m) * D + c] = W[m * ROW + c];
  }
}
