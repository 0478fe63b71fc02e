//! Shannon mutual information of secret and observation at the prior.
//!
//! From below by what the certification rows gain, on the average, by a posterior that was settled before they were looked at;
//! from above, where the log is discrete, by the plug-in information of all rows. See [`leakgauge_stats::information`].

pub(crate) mod estimate;
pub(crate) mod judge;
