//! The options of `estimate` and `audit` for figures that are reported on request.

use clap::Args;
use leakgauge::audit::RequestedFigures;

/// Figures on request.
#[derive(Args)]
pub struct RequestedOptions {
    /// Report the success of a reconstruction whose success without the observation is K: sup P(E) with Q(E) at most K,
    /// the largest of all ordered pairs of secrets
    #[arg(
        long,
        value_name = "K,…",
        value_delimiter = ',',
        help_heading = "Figures on request"
    )]
    reconstruction: Vec<f64>,
    /// Report whether one of so many guesses is right, and the leakage family
    #[arg(
        long,
        value_name = "K,…",
        value_delimiter = ',',
        help_heading = "Figures on request"
    )]
    tries: Vec<u64>,
    /// Report Sibson's information and maximal α-leakage of these orders, and the leakage family; `inf` is an order
    #[arg(
        long,
        value_name = "A,…",
        value_delimiter = ',',
        allow_negative_numbers = true,
        help_heading = "Figures on request"
    )]
    at_order: Vec<f64>,
}

impl RequestedOptions {
    /// What was asked for.
    pub fn figures(&self) -> RequestedFigures {
        RequestedFigures {
            reconstruction: self.reconstruction.clone(),
            tries: self.tries.clone(),
            orders: self.at_order.clone(),
        }
    }
}
