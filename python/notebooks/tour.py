# ---
# A notebook as text: cells begin with `# %%`. Editors open it as it is; `jupytext --to ipynb` makes a file of it.
# The tests execute it.
# ---

# %% [markdown]
# # What does it leak?
#
# Three things to audit: a function, a frame, and the scores of a membership attack.

# %%
import leakgauge
import numpy as np

rng = np.random.default_rng(1)

# %% [markdown]
# ## A function
#
# Laplace noise of scale 0.5 on a number that one person changes by 1: ε is 2, and 1 is claimed. The audit draws until it
# knows.

# %%
def mechanism(x, n):
    return x + rng.laplace(scale=0.5, size=n)


found = leakgauge.audit(mechanism, inputs=[0.0, 1.0], claims="dp(epsilon=1)")
found

# %%
assert found.verdict == "violated" and found.epsilon.lower >= 1.0

# %% [markdown]
# With enough noise nothing is found, and the audit says which leak it would have seen.

# %%
enough = leakgauge.audit(lambda x, n: x + rng.laplace(size=n), [0.0, 1.0], "dp(epsilon=1)", max_samples=20_000)
enough.verdict, enough.samples_to_find(1.5)

# %% [markdown]
# ## A frame
#
# Response times of a service with two code paths. A frame of pandas, polars or pyarrow does as well as this dict.

# %%
secret = rng.integers(0, 2, size=4_000)
log = {
    "secret": np.where(secret == 1, "admin", "guest"),
    "time": rng.normal(10.0 + 0.5 * secret, 1.0),
}
frame = leakgauge.audit_log(log, claims="advantage(0.1)")
frame

# %%
assert frame.verdict == "violated"

# %% [markdown]
# ## Scores of a membership attack
#
# One score for each record that was in the training set, and for each that was not.

# %%
members, others = rng.normal(0.5, 1.0, size=3_000), rng.normal(0.0, 1.0, size=3_000)
scores = leakgauge.audit_scores(members, others)
scores

# %%
assert scores.epsilon.lower > 0.0
