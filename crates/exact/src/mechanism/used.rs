//! A mechanism bound to secrets without and with a record that is used with a certain probability.

use libm::{expm1, log, log1p};
use rand::{Rng, RngExt};

use super::law::mixed;
use super::observed::texts;
use super::{BoundMechanism, Law, Observed};
use crate::extreme::Extreme;
use crate::profile::{Cell, Pair};

#[derive(Debug)]
pub(super) struct Used {
    base: Box<dyn BoundMechanism>,
    /// The secrets of the mechanism without and with the record.
    pair: (usize, usize),
    rate: f64,
    /// Whether each secret is the one with the record.
    uses: Vec<bool>,
}

impl Used {
    pub fn new(
        base: Box<dyn BoundMechanism>,
        pair: (usize, usize),
        rate: f64,
        uses: Vec<bool>,
    ) -> Used {
        Used {
            base,
            pair,
            rate,
            uses,
        }
    }
}

impl BoundMechanism for Used {
    fn secret_count(&self) -> usize {
        self.uses.len()
    }

    fn total_variation(&self, a: usize, b: usize) -> f64 {
        if self.uses[a] == self.uses[b] {
            0.0
        } else {
            self.rate * self.base.total_variation(self.pair.0, self.pair.1)
        }
    }

    fn bayes_security(&self, a: usize, b: usize) -> f64 {
        if self.uses[a] == self.uses[b] {
            1.0
        } else {
            (1.0 - self.rate) + self.rate * self.base.bayes_security(self.pair.0, self.pair.1)
        }
    }

    fn law(&self, secret: usize) -> Law {
        let without = self.base.law(self.pair.0);
        if self.uses[secret] {
            mixed(without, self.base.law(self.pair.1), self.rate)
        } else {
            without
        }
    }

    fn subsampled(&self) -> Option<(&dyn BoundMechanism, (usize, usize), f64)> {
        Some((&*self.base, self.pair, self.rate))
    }

    /// ln(1 − q + q·e^ε).
    fn epsilon(&self) -> f64 {
        let epsilon = self.base.epsilon();
        if self
            .worst_pair()
            .is_none_or(|(a, b)| self.uses[a] == self.uses[b])
        {
            0.0
        } else if epsilon > 700.0 {
            epsilon + log(self.rate)
        } else {
            log1p(self.rate * expm1(epsilon))
        }
    }

    fn columns(&self) -> &'static [&'static str] {
        self.base.columns()
    }

    fn draw(&self, secret: usize, rng: &mut dyn Rng) -> Vec<Observed> {
        let used = self.uses[secret] && rng.random::<f64>() < self.rate;
        let (without, with) = self.pair;
        self.base.draw(if used { with } else { without }, rng)
    }

    fn sample(&self, secret: usize, rng: &mut dyn Rng) -> Vec<String> {
        texts(self.draw(secret, rng))
    }

    fn pair(&self, a: usize, b: usize) -> Option<Pair> {
        if self.uses[a] == self.uses[b] {
            return Some(Pair::Cells(vec![Cell::new(1.0, 1.0)]));
        }
        let (without, with) = self.pair;
        Some(Pair::Subsampled {
            base: Box::new(self.base.pair(with, without)?),
            rate: self.rate,
            reversed: self.uses[b],
        })
    }

    /// Both orders.
    fn pairs(&self) -> Option<Vec<Pair>> {
        let (a, b) = self.worst_pair()?;
        Some(vec![self.pair(a, b)?, self.pair(b, a)?])
    }

    fn capacity(&self) -> Option<f64> {
        Some(
            1.0 + self
                .worst_pair()
                .map_or(0.0, |(a, b)| self.total_variation(a, b)),
        )
    }

    fn delta(&self, epsilon: f64) -> Option<f64> {
        if self
            .worst_pair()
            .is_none_or(|(a, b)| self.uses[a] == self.uses[b])
        {
            return Some(0.0);
        }
        let raised = if epsilon > 700.0 {
            epsilon - log(self.rate)
        } else {
            log1p(expm1(epsilon) / self.rate)
        };
        let present = self.rate * self.base.delta(raised)?;
        // 1 − e^ε(1 − q) is q times 1 − less; of a rate of 1 the other order of the pair is the same.
        let less = expm1(epsilon) * (1.0 - self.rate) / self.rate;
        let absent = if less < 1.0 {
            self.rate * (1.0 - less) * self.base.delta((epsilon - log1p(-less)).at_least(0.0))?
        } else {
            0.0
        };
        Some(present.at_least(absent))
    }
}
