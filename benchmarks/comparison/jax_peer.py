"""Puts jax-privacy's own pieces together as its documentation does: the clipped gradient of one record and a privatizer
with a noising matrix, in one compiled loop."""

import functools


def matrices(fits):
    """The noising matrices C⁻¹ by name, in single precision, which is jax's default."""
    import jax.numpy as jnp
    from jax_privacy.matrix_factorization import buffered_toeplitz, streaming_matrix, toeplitz
    blt = buffered_toeplitz.BufferedToeplitz.build(buf_decay=fits["blt"]["buf_decay"],
                                                   output_scale=fits["blt"]["output_scale"], dtype=jnp.float32)
    banded = toeplitz.inverse_as_streaming_matrix(jnp.asarray(fits["banded, 32"]["c"], dtype=jnp.float32))
    return {"independent": streaming_matrix.identity(),
            f"BLT of {len(fits['blt']['buf_decay'])} buffers": blt.inverse_as_streaming_matrix(),
            "32 bands": banded}


def noise(matrix, dimension, steps):
    """Makes a function that draws `steps` correlated vectors and waits for them."""
    import jax
    import jax.numpy as jnp
    from jax_privacy import noise_addition
    privatizer = noise_addition.matrix_factorization_privatizer(matrix, stddev=1.0, prng_key=1)
    zero = jnp.zeros(dimension, dtype=jnp.float32)

    @jax.jit
    def draw(state):
        def step(carried, _):
            z, carried = privatizer.update(zero, carried)
            return carried, z
        return jax.lax.scan(step, state, None, length=steps)

    state = privatizer.init(zero)
    return lambda: jax.block_until_ready(draw(state))


def descent(matrix, x, y, step_size, clip_norm):
    """Makes a function that takes one private step for each row of `x` and waits for the last iterate."""
    import jax
    import jax.numpy as jnp
    from jax_privacy import clipping, noise_addition
    privatizer = noise_addition.matrix_factorization_privatizer(matrix, stddev=clip_norm, prng_key=1)

    def loss(theta, row, target):  # the loss of a batch of one row, which keeps its first axis
        return 0.5 * jnp.sum((row @ theta - target) ** 2)

    gradient = clipping.clipped_grad(loss, l2_clip_norm=clip_norm, batch_argnums=(1, 2))

    @functools.partial(jax.jit)
    def run(theta, state, x, y):
        def step(carried, record):
            theta, state = carried
            row, target = record
            noisy, state = privatizer.update(gradient(theta, row[None], target[None]), state)
            return (theta - step_size * noisy, state), None
        return jax.lax.scan(step, (theta, state), (x, y))[0][0]

    theta = jnp.zeros(x.shape[1], dtype=jnp.float32)
    state = privatizer.init(theta)
    x, y = jnp.asarray(x, dtype=jnp.float32), jnp.asarray(y, dtype=jnp.float32)
    return lambda: jax.block_until_ready(run(theta, state, x, y))
