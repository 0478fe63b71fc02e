//! The distribution of an observation.

/// The distribution of an observation.
pub enum Law {
    /// Finitely many labels with their probabilities. The fields of several columns form one label, joined by
    /// commas.
    Labels(Vec<(String, f64)>),
    /// A distribution on the integers, given by its distribution function at integers.
    Integer(Box<dyn Fn(f64) -> f64 + Send + Sync>),
    /// A continuous distribution on the real line, given by its distribution function.
    Real(Box<dyn Fn(f64) -> f64 + Send + Sync>),
    /// Several columns, given by the marginal distribution of each.
    Coordinates(Vec<Law>),
    /// An unknown distribution, and why it is unknown.
    Unknown(&'static str),
}

/// (1 − rate)·without + rate·with.
pub(super) fn mixed(without: Law, with: Law, rate: f64) -> Law {
    match (without, with) {
        (Law::Real(one), Law::Real(other)) => {
            Law::Real(Box::new(move |x| (1.0 - rate) * one(x) + rate * other(x)))
        }
        (Law::Integer(one), Law::Integer(other)) => {
            Law::Integer(Box::new(move |x| (1.0 - rate) * one(x) + rate * other(x)))
        }
        (Law::Labels(one), Law::Labels(other)) => {
            let pairs = one.into_iter().zip(other);
            Law::Labels(
                pairs
                    .map(|((label, p), (_, q))| (label, (1.0 - rate) * p + rate * q))
                    .collect(),
            )
        }
        _ => Law::Unknown("it mixes observations of several columns"),
    }
}
