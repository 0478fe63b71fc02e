//! Pictures of times: differences inside blocks, and the times of each secret.

use crate::audit::{Difference, Findings, SecretTimes};
use crate::report::numbers::{percent, plain, time_scale as scale};
use crate::report::sentences::differences::located;
use leakgauge_base::error::shorten;
use leakgauge_plot::{self as plot, Axis, BoxRow, Boxes, Caption, Chart, Layer, Mark};

/// Steps of the distribution of differences.
const STEPS: u32 = 200;
/// Secrets in the picture of times.
const MAX_SECRETS: usize = 30;
/// The shares of the blocks between which differences are drawn: a few interrupted measurements would hide all else.
const SHOWN: (f64, f64) = (0.02, 0.98);

/// The differences inside blocks of the pair that differs most: the share of the blocks up to each.
pub fn differences(audit: &Findings) -> Option<String> {
    let found = audit.differences.as_ref()?;
    let pair = found.pairs.first()?;
    let [a, b] = pair.secrets.labels().map(shorten);
    let limits = pair.median;
    let size = pair
        .quantile(SHOWN.0)?
        .abs()
        .max(pair.quantile(SHOWN.1)?.abs());
    let (factor, unit) = scale(size, found.unit);
    let curve = distribution(pair).into_iter();
    let curve = curve.map(|(difference, share)| (factor * difference, share));
    let curve = Layer::new("blocks", 0, Mark::Step(curve.collect()));
    let spot = plot::Spot {
        x: factor * limits.point,
        y: Some(0.5),
        ..plot::Spot::default()
    };
    let [point, lower, upper] = located(&limits, found.unit);
    let mut layers = vec![curve];
    let name = if limits.lower.is_finite() && limits.upper.is_finite() {
        let [from, to] = [limits.lower, limits.upper].map(|limit| factor * limit);
        let band = vec![(from, 0.0), (from, 1.0), (to, 1.0), (to, 0.0)];
        layers.push(Layer::new("", 1, Mark::Region(band)));
        format!("median {point}, {lower} to {upper}")
    } else {
        format!("median {point}")
    };
    layers.push(Layer::new(name, 1, Mark::Points(vec![spot])));
    layers.push(Layer::new("", 2, Mark::Rule((0.0, 0.0), (0.0, 1.0))));
    Some(plot::chart(&Chart {
        caption: Caption::new(
            format!("How much longer {b} takes than {a}, inside blocks"),
            format!(
                "Share of {} blocks in which the difference is at most that of the horizontal axis, between 2 % and 98 %. \
                 The upright band reaches from limit to limit of the median; they hold for all pairs together. The vertical line is no difference.",
                pair.blocks()?
            ),
        ),
        x: Axis::linear(axis_of("difference", unit)),
        y: Axis::linear("share of blocks").from_to(0.0, 1.0),
        layers,
        aspect: 0.6,
    }))
}

/// What lies beyond the ends of the curve, which leaves a few blocks out on either side.
pub fn beyond(audit: &Findings) -> Option<String> {
    let found = audit.differences.as_ref()?;
    let pair = found.pairs.first()?;
    let written = |share: f64| {
        let value = pair.quantile(share)?;
        let (factor, unit) = scale(value.abs(), found.unit);
        Some(format!("{}{unit}", plain(factor * value, 3)))
    };
    Some(format!(
        "The curve leaves out {} of the blocks at either end: differences below {} (the smallest is {}) and above {} (the \
         largest is {}).",
        percent(SHOWN.0),
        written(SHOWN.0)?,
        written(0.0)?,
        written(SHOWN.1)?,
        written(1.0)?
    ))
}

/// The empirical distribution function of the differences, at so many quantiles.
fn distribution(pair: &Difference) -> Vec<(f64, f64)> {
    let (from, to) = SHOWN;
    let shares = (0..=STEPS).map(|step| from + (to - from) * f64::from(step) / f64::from(STEPS));
    let at = |share| Some((pair.quantile(share)?, share));
    shares.filter_map(at).collect()
}

/// A box for the times of each secret.
pub fn times(audit: &Findings) -> Option<String> {
    let found = audit.differences.as_ref()?;
    let mut order: Vec<&SecretTimes> = found.times.iter().collect();
    if order.len() > MAX_SECRETS {
        // Those of the pairs that differ most.
        let rank = |one: &&SecretTimes| {
            let is_of = |pair: &Difference| pair.secrets.secrets().contains(&one.secret);
            found.pairs.iter().position(is_of)
        };
        order.sort_by_key(rank);
        order.truncate(MAX_SECRETS);
        order.sort_by_key(|one| one.secret);
    }
    let shown = order.len();
    let ends = order.iter().flat_map(|one| one.quantiles);
    let size = ends.fold(0.0, |size: f64, end| size.max(end.abs()));
    let (factor, unit) = scale(size, found.unit);
    let rows = order.into_iter().map(|one| BoxRow {
        label: shorten(&audit.input.secrets[one.secret as usize]),
        quantiles: one.quantiles.map(|time| factor * time),
    });
    Some(plot::boxes(&Boxes {
        caption: Caption::new(
            "Times of each secret",
            format!(
                "Times of {shown} of {} secrets, all rows. A box holds the middle half, its line is the median, whiskers \
                 reach from 5 % to 95 %.{}",
                found.times.len(),
                match found.blocks {
                    Some(_) => " What drifts widens boxes, and not the differences inside blocks.",
                    None => "",
                }
            ),
        ),
        x: Axis::linear(axis_of("time", unit)),
        name: "5, 25, 50, 75 and 95 %".to_owned(),
        rows: rows.collect(),
    }))
}

/// The label of an axis; `unit` begins with a blank if it is known.
fn axis_of(what: &str, unit: &str) -> String {
    match unit {
        "" => format!("{what}, unit of the log"),
        unit => format!("{what},{unit}"),
    }
}
