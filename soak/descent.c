/* Gradient descent on the log of the loss of a two-layer network, step after step: float64, no
   events, no modes. A step moves the weights by `part` of their length, or by `longest` in
   loss-normalised time where that is less, so that it comes to rest where the flow does. */
#include <math.h>
#include <stdlib.h>

/* log of the loss; p gets |l'(q_i)| / L. */
static double log_loss(long n, const double *q, int exponential, double *p) {
    double top = -INFINITY, sum = 0, log_L;
    for (long i = 0; i < n; i++) {
        double l = exponential ? -q[i] : (q[i] > 35 ? -q[i] : log(log1p(exp(-q[i]))));
        if (!exponential && q[i] < -700) l = log(-q[i]);
        p[i] = l;
        if (l > top) top = l;
    }
    for (long i = 0; i < n; i++) sum += exp(p[i] - top);
    log_L = top + log(sum);
    for (long i = 0; i < n; i++) {
        double slope = exponential || q[i] > 35 ? -q[i] : -log1p(exp(q[i]));
        p[i] = exp(slope - log_L);
    }
    return log_L;
}

/* Descend for `most` steps at most. The weights where the loss first reaches each of the `wanted`
   logarithms (falling) go to `kept`, m (d + 1) numbers each; returns how many were reached. */
long descend(long n, long d, long m, const double *X, const double *y, double alpha, int both,
             int exponential, double part, double longest, long most, double *W, double *a,
             long wanted, const double *log_Ls, double *kept, double *end) {
    double *q = malloc(2 * n * sizeof(double)), *p = q + n;
    double *z = malloc(n * m * sizeof(double));
    double *g = malloc((m * d + m) * sizeof(double));
    long reached = 0, step = 0;
    for (;; step++) {
        for (long i = 0; i < n; i++) {
            q[i] = 0;
            for (long k = 0; k < m; k++) {
                double t = 0;
                for (long j = 0; j < d; j++) t += W[k * d + j] * X[i * d + j];
                z[i * m + k] = t;
                q[i] += y[i] * a[k] * (t > 0 ? t : alpha * t);
            }
        }
        *end = log_loss(n, q, exponential, p);
        for (; reached < wanted && *end <= log_Ls[reached]; reached++) {
            double *to = kept + reached * m * (d + 1);
            for (long r = 0; r < m * d; r++) to[r] = W[r];
            for (long k = 0; k < m; k++) to[m * d + k] = a[k];
        }
        if (step == most || reached == wanted) break;
        for (long r = 0; r < m * d + m; r++) g[r] = 0;
        for (long i = 0; i < n; i++)
            for (long k = 0; k < m; k++) {
                double t = z[i * m + k], pull = p[i] * y[i];
                double along = pull * a[k] * (t > 0 ? 1 : alpha);
                for (long j = 0; j < d; j++) g[k * d + j] += along * X[i * d + j];
                if (both) g[m * d + k] += pull * (t > 0 ? t : alpha * t);
            }
        double speed = 0, length = 0;
        for (long r = 0; r < m * d + m; r++) speed += g[r] * g[r];
        for (long r = 0; r < m * d; r++) length += W[r] * W[r];
        for (long k = 0; both && k < m; k++) length += a[k] * a[k];
        if (speed == 0) break;
        double h = fmin(part * sqrt(length / speed), longest);
        for (long r = 0; r < m * d; r++) W[r] += h * g[r];
        for (long k = 0; k < m; k++) a[k] += h * g[m * d + k];
    }
    free(q), free(z), free(g);
    return reached;
}
