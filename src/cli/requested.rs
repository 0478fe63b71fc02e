//! The options of `estimate` and `audit` for figures that are reported on request.

use clap::Args;
use leakgauge::audit::RequestedFigures;
use leakgauge::base::error::Result;
use leakgauge::input::matrix::{self, MatrixOptions};
use leakgauge::log::{self, ReadMeter};

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
    /// Test products of two columns besides the columns, as masked implementations leak: 2. 1 is the columns alone
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u8).range(1..=2),
        help_heading = "Figures on request"
    )]
    order: Option<u8>,
    /// Report the expected gain of an attacker by this gain function: a matrix with one row per guess and one column per
    /// secret, by name or in the order of the secrets
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "loss",
        help_heading = "Figures on request"
    )]
    gain: Option<String>,
    /// The same of a loss function, which an attacker makes small
    #[arg(long, value_name = "FILE", help_heading = "Figures on request")]
    loss: Option<String>,
}

impl RequestedOptions {
    /// What was asked for.
    pub fn figures(&self) -> Result<RequestedFigures> {
        let gain = self.gain.iter().map(|file| (file, false));
        let mut payoffs = gain.chain(self.loss.iter().map(|file| (file, true)));
        let payoff = payoffs.next().map(|(file, is_loss)| {
            let input = log::open(file, &ReadMeter::default())?;
            let table = matrix::payoff(file, input, &MatrixOptions::default())?;
            Ok((table, is_loss))
        });
        Ok(RequestedFigures {
            payoff: payoff.transpose()?,
            reconstruction: self.reconstruction.clone(),
            tries: self.tries.clone(),
            orders: self.at_order.clone(),
            order: self.order.unwrap_or(0),
        })
    }
}
