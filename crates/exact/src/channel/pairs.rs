//! Figures of the likelihood ratio of pairs of secrets of a channel.

use crate::extreme::Extreme;
use serde::Serialize;

use crate::channel::Channel;
use crate::profile::{Cell, Pair};
use leakgauge_base::error::{Error, Result};
use leakgauge_base::naming::setting;
use leakgauge_base::parallel;

/// Figures of the ordered pairs of secrets that have the largest ones.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChannelProfile {
    /// The smallest ρ of zero-concentrated differential privacy; null if infinite.
    pub zcdp_rho: Option<f64>,
    /// The smallest μ of Gaussian differential privacy; null if infinite.
    pub gdp_mu: Option<f64>,
}

/// One success of a reconstruction.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReconstructionAt {
    /// κ, the success without the secret.
    pub without: f64,
    /// sup P(E) over the events E with Q(E) ≤ κ, of all ordered pairs of secrets.
    pub success: f64,
}

impl Channel {
    /// The distributions of the observation under two secrets.
    pub fn pair(&self, a: usize, b: usize) -> Pair {
        let cells = self.row(a).iter().zip(self.row(b)).enumerate();
        let cell = |(o, (&p, &q)): (usize, (&f64, &f64))| Cell::of(p, q, self.difference(a, b, o));
        Pair::Cells(cells.map(cell).collect())
    }

    /// The largest Rényi divergence of order α ≥ 1 between two secrets, infinite if one excludes an observation that
    /// the other allows; see [`Pair::renyi_divergence`].
    ///
    /// # Errors
    /// The order is below 1.
    pub fn renyi_divergence(&self, order: f64) -> Result<f64> {
        if order.is_nan() || order < 1.0 {
            return Err(Error::parameter(
                setting("at_order", order),
                "must be at least 1 for Rényi divergences",
            ));
        }
        Ok(self.largest_of_pairs(|pair| pair.renyi_divergence(order)))
    }

    /// sup P(E) over the events E with Q(E) ≤ κ and all ordered pairs of secrets; see [`Pair::reconstruction`].
    ///
    /// # Errors
    /// κ is not between 0 and 1.
    pub fn reconstruction(&self, kappa: f64) -> Result<ReconstructionAt> {
        if !(kappa > 0.0 && kappa < 1.0) {
            return Err(Error::parameter(
                setting("reconstruction", kappa),
                "must be above 0 and below 1",
            ));
        }
        Ok(ReconstructionAt {
            without: kappa,
            success: self.largest_of_pairs(|pair| pair.reconstruction(kappa)),
        })
    }

    /// The smallest ρ and μ; see [`Pair::concentrated_rho`] and [`Pair::gaussian_mu`].
    pub fn profile(&self) -> ChannelProfile {
        let finite = |figure: f64| Some(figure).filter(|figure| figure.is_finite());
        ChannelProfile {
            zcdp_rho: finite(self.largest_of_pairs(Pair::concentrated_rho)),
            gdp_mu: finite(self.largest_of_pairs(Pair::gaussian_mu)),
        }
    }

    fn largest_of_pairs(&self, figure: impl Fn(&Pair) -> Option<f64> + Sync) -> f64 {
        let n = self.secrets.len();
        let of = |a: usize| {
            let others = (0..n).filter(|&b| b != a);
            let figures = others.filter_map(|b| figure(&self.pair(a, b)));
            figures.fold(0.0, f64::at_least)
        };
        parallel::map(n, of).into_iter().fold(0.0, f64::at_least)
    }
}
