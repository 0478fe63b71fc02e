//! The pictures of an audit.

use crate::audit::{Distributions, Findings, Pair, PairFigures, Shape, TradeOff, Verdict};
use crate::report::block_pictures;
use crate::report::columns;
use crate::report::numbers::confidence_percent;
use crate::report::pairs::by_lower_limit;
use crate::report::words::column_title;
use leakgauge_base::error::shorten;
use leakgauge_base::rounding::allowance;
use leakgauge_exact::claim::{ClaimKind, Guarantee};
use leakgauge_plot::{
    self as plot, Axis, Caption, Chart, Dot, Dots, Heatmap, Layer, Mark, Picture,
};

/// Names of all pictures of an audit, and what they show. A log that has nothing for one goes without.
pub const PICTURES: [(&str, &str); 8] = [
    (
        "distributions",
        "what is observed under the two secrets of the worst pair",
    ),
    (
        "bayes-security",
        "Bayes security of every pair as colors, similar secrets side by side; 3 to 200 secrets",
    ),
    (
        "pairs",
        "total variation of the worst pairs with confidence limits; 3 or more secrets",
    ),
    (
        "trade-off",
        "true against false positive rate of the attack, with its band and a claimed (epsilon, delta)",
    ),
    (
        "convergence",
        "Bayes risk and advantage against the number of training rows, with certified limits",
    ),
    (
        "columns",
        "how each column of numbers depends on the secret, with the threshold of all; 10 columns and more",
    ),
    (
        "differences",
        "of times in blocks: how much longer one secret takes than another inside a block",
    ),
    (
        "times",
        "of times in blocks: a box for the times of each secret",
    ),
];

/// Pairs in the picture of worst pairs.
const MAX_PAIRS: usize = 20;

/// Draws what there is to draw, in the order of [`PICTURES`].
pub fn pictures(audit: &Findings) -> Vec<Picture> {
    let drawn = [
        audit
            .worst_pair
            .distributions
            .as_ref()
            .map(|found| distributions(audit, found)),
        heatmap(audit),
        pairs(audit),
        audit
            .worst_pair
            .trade_off
            .as_ref()
            .map(|found| trade_off(audit, found)),
        convergence(audit),
        columns::picture(audit),
        block_pictures::differences(audit),
        block_pictures::times(audit),
    ];
    let named = PICTURES.into_iter().zip(drawn);
    named
        .filter_map(|((name, _), svg)| Some(Picture { name, svg: svg? }))
        .collect()
}

fn distributions(audit: &Findings, found: &Distributions) -> String {
    let names = audit.worst_pair.secrets.labels().map(str::to_owned);
    let [a, b] = names.each_ref().map(|label| shorten(label));
    let column = shorten(&column_title(&found.column));
    let caption = Caption::new(
        format!("{column} under {a} and {b}"),
        format!("Share of the rows of {a} and of {b} at each value of {column}; the two overlap."),
    );
    let y_label = "share of rows".to_owned();
    match &found.shape {
        Shape::Numbers {
            edges,
            logarithmic,
            shares,
            outside,
            ..
        } => plot::histograms(&plot::Histograms {
            caption,
            x: if *logarithmic {
                Axis::log(column)
            } else {
                Axis::linear(column)
            },
            y_label,
            names,
            edges: edges.clone(),
            heights: shares.clone(),
            outside: *outside,
        }),
        Shape::Labels { labels, shares } => plot::label_bars(&plot::LabelBars {
            caption,
            x_label: column,
            y_label,
            names,
            labels: labels
                .iter()
                .map(|label| {
                    if label.is_empty() {
                        "all others"
                    } else {
                        label
                    }
                    .to_owned()
                })
                .collect(),
            heights: shares.clone(),
        }),
    }
}

fn heatmap(audit: &Findings) -> Option<String> {
    let order = audit
        .secrets_by_likeness
        .as_ref()
        .filter(|order| order.len() > 2)?;
    let label = |&secret: &u32| audit.input.secrets[secret as usize].clone();
    let labels: Vec<String> = order.iter().map(label).collect();
    let n = labels.len();
    let mut place = vec![0; n];
    for (at, &secret) in order.iter().enumerate() {
        place[secret as usize] = at;
    }
    let cells = |pair: &Pair| {
        let [a, b] = pair.secrets().map(|secret| place[secret as usize]);
        [(a, b), (b, a)]
    };
    let mut values = vec![None; n * n];
    for pair in &audit.pairs {
        for (row, column) in cells(&pair.secrets) {
            values[row * n + column] = pair.bayes_security().point;
        }
    }
    let marked = cells(&audit.worst_pair.secrets).to_vec();
    Some(plot::heatmap(&Heatmap {
        caption: Caption::new(
            "Bayes security of all pairs",
            format!(
                "Estimated Bayes security of each pair of {n} secrets. 0 (bright): told apart without error; 1 (dark): cannot be told apart. \
                 Secrets that are hard to tell apart are side by side; the worst pair has a frame."
            ),
        ),
        rows: labels.clone(),
        columns: labels,
        values,
        scale: Axis::linear("Bayes security, estimate").from_to(0.0, 1.0),
        row_label: "secret".to_owned(),
        column_label: "secret".to_owned(),
        marked,
        low_is_bright: true,
        same_labels: true,
    }))
}

fn pairs(audit: &Findings) -> Option<String> {
    if audit.pairs.len() < 2 {
        return None;
    }
    let order = by_lower_limit(audit, MAX_PAIRS);
    let shown = order.len();
    let labels = plot::told_apart(&audit.input.secrets);
    Some(plot::dots(&Dots {
        caption: Caption::new(
            "Pairs that are easiest to tell apart",
            format!(
                "Estimated total variation of {shown} of {} pairs, with confidence limits that hold for all pairs together.",
                audit.pairs.len()
            ),
        ),
        x: Axis::linear("total variation").from_to(0.0, 1.0),
        name: "estimate, with limits".to_owned(),
        reference_name: String::new(),
        rows: order.into_iter().map(|pair| dot(pair, &labels)).collect(),
    }))
}

fn dot(pair: &PairFigures, labels: &[String]) -> Dot {
    let total_variation = &pair.total_variation;
    let short = |secret: u32| part(&labels[secret as usize]);
    Dot {
        label: pair.secrets.secrets().map(short).join(" | "),
        title: pair.secrets.labels().map(shorten).join(" | "),
        point: total_variation.point,
        lower: total_variation.lower,
        upper: total_variation.upper,
        reference: None,
    }
}

/// As much of a label as leaves room for the other.
fn part(label: &str) -> String {
    const LONGEST: usize = 14;
    if label.chars().count() <= LONGEST {
        return label.to_owned();
    }
    label.chars().take(LONGEST - 1).chain(['…']).collect()
}

/// The trade-off on logarithmic axes, where few false positives are seen; for the page.
pub(super) fn few_false_positives(audit: &Findings) -> Option<String> {
    let found = audit.worst_pair.trade_off.as_ref()?;
    Some(plot::trade_off_log(&rates(audit, found)))
}

fn trade_off(audit: &Findings, found: &TradeOff) -> String {
    plot::trade_off(&rates(audit, found))
}

fn rates(audit: &Findings, found: &TradeOff) -> plot::TradeOff {
    let curve = &found.curve;
    let [detects, against] = curve.secrets.labels().map(shorten);
    let points: Vec<(f64, f64)> = curve
        .type_1
        .iter()
        .zip(&curve.type_2)
        .map(|(&x, &y)| (x, 1.0 - y))
        .collect();
    let radius = (found.band.type_1_radius, found.band.type_2_radius);
    let claim = claimed(audit);
    plot::TradeOff {
        caption: Caption::new(
            format!("Telling {detects} from {against}"),
            "True positive rate against false positive rate of the attack at every threshold. The true curve of the attack \
             lies in the band. The diagonal is a coin flip; a shaded region is what a claim allows.",
        ),
        name: "attack found".to_owned(),
        band: band(&points, radius),
        curve: points,
        band_name: format!("{} band", confidence_percent(found.band.confidence)),
        claim_name: claim.map_or(String::new(), |(epsilon, delta)| match delta {
            0.0 => format!("claim: ε = {}", allowance(epsilon)),
            _ => format!(
                "claim: ε = {}, δ = {}",
                allowance(epsilon),
                allowance(delta)
            ),
        }),
        claim,
    }
}

/// The (ε, δ) of the claim that decides, if it is the same for all pairs.
fn claimed(audit: &Findings) -> Option<(f64, f64)> {
    let promises = audit.claims.iter().filter_map(|claim| {
        let ClaimKind::Promise(promise) = &claim.claim.kind else {
            return None;
        };
        let region = match promise.requirement().guarantee()? {
            Guarantee::Dp { epsilon, delta } => (epsilon, delta),
            Guarantee::Gaussian { .. }
            | Guarantee::Concentrated { .. }
            | Guarantee::Renyi { .. } => {
                return None;
            }
        };
        let is_same_for_all = promise.unit().is_none();
        is_same_for_all.then_some((claim.verdict != Verdict::Violated, region))
    });
    // Of several the first that is violated, else the first.
    promises
        .min_by_key(|(is_kept, _)| *is_kept)
        .map(|(_, region)| region)
}

/// What lies within the radii of the curve: (false positive rate, lowest, highest true positive rate).
///
/// Only some thresholds are listed; between two of them both rates lie between theirs, so the band goes
/// in steps that stay outside of every threshold's.
fn band(curve: &[(f64, f64)], (across, up): (f64, f64)) -> Vec<(f64, f64, f64)> {
    let mut xs = vec![0.0, 1.0];
    for &(x, _) in curve {
        xs.extend(
            [x - across, x + across]
                .into_iter()
                .filter(|x| (0.0..=1.0).contains(x)),
        );
    }
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    let lowest = |x: f64, with: bool| {
        let left = curve.partition_point(|point| {
            let end = point.0 + across;
            end < x || (with && end == x)
        });
        left.checked_sub(1)
            .map_or(0.0, |at| (curve[at].1 - up).clamp(0.0, 1.0))
    };
    let highest = |x: f64, with: bool| {
        let right = curve.partition_point(|point| {
            let end = point.0 - across;
            end < x || (!with && end == x)
        });
        curve
            .get(right)
            .map_or(1.0, |point| (point.1 + up).clamp(0.0, 1.0))
    };
    // At a step, what holds to the left of it and what holds to the right.
    xs.into_iter()
        .flat_map(|x| {
            [
                (x, lowest(x, false), highest(x, true)),
                (x, lowest(x, true), highest(x, false)),
            ]
        })
        .collect()
}

fn convergence(audit: &Findings) -> Option<String> {
    let found = audit
        .convergence
        .as_ref()
        .filter(|found| found.points.len() > 1)?;
    let of = |y: fn(&crate::audit::ConvergencePoint) -> f64| -> Vec<(f64, f64)> {
        found
            .points
            .iter()
            .map(|point| (point.rows as f64, y(point)))
            .collect()
    };
    let curves = [
        ("Bayes risk of the attack", of(|point| point.bayes_risk)),
        (
            "its advantage for the worst pair",
            of(|point| point.total_variation),
        ),
    ];
    let limits = [
        ("Bayes risk at most", audit.overall.bayes_risk.upper),
        ("advantage at least", audit.worst_pair.total_variation.lower),
    ];
    let mut layers = Vec::new();
    for (series, (name, points)) in curves.into_iter().enumerate() {
        let spots = points.iter().map(|&(x, y)| plot::Spot {
            x,
            y: Some(y),
            ..plot::Spot::default()
        });
        layers.push(Layer::new("", series, Mark::Points(spots.collect())));
        layers.push(Layer::new(name, series, Mark::Line(points)));
    }
    let ends = |points: &[crate::audit::ConvergencePoint]| {
        let rows = points.iter().map(|point| point.rows as f64);
        (
            rows.clone().fold(f64::INFINITY, f64::min),
            rows.fold(0.0, f64::max),
        )
    };
    let (from, to) = ends(&found.points);
    for (at, (name, limit)) in limits.into_iter().enumerate() {
        if let Some(limit) = limit {
            layers.push(Layer::new(
                name,
                at + 2,
                Mark::Line(vec![(from, limit), (to, limit)]),
            ));
        }
    }
    Some(plot::chart(&Chart {
        caption: Caption::new(
            "Would more rows help?",
            "Bayes risk of the attack and its advantage for the worst pair against the number of training rows, with \
             certified limits. If a curve still changes at its right end, more rows would help.",
        ),
        x: Axis::log("training rows"),
        y: Axis::linear("Bayes risk, advantage"),
        layers,
        aspect: 0.6,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_alone_names_no_axis() {
        assert_eq!(column_title("2"), "column 2");
        assert_eq!(column_title("time 2"), "time 2");
    }

    #[test]
    fn the_band_holds_every_threshold_with_its_radii() {
        let curve = [(0.0, 0.0), (0.1, 0.4), (0.3, 0.7), (0.6, 0.95), (1.0, 1.0)];
        let (across, up) = (0.05, 0.1);
        let band = band(&curve, (across, up));
        assert!(band.windows(2).all(|two| two[0].0 <= two[1].0));
        assert!(band.iter().all(|&(_, lowest, highest)| lowest <= highest));
        // A true curve through any corner of a threshold's rectangle stays inside.
        for (x, y) in curve {
            for (dx, dy) in [(across, -up), (-across, up), (across, up), (-across, -up)] {
                let at = x + dx;
                let true_rate = (y + dy).clamp(0.0, 1.0);
                let here: Vec<_> = band.iter().filter(|part| part.0 == at).collect();
                assert!(
                    here.is_empty()
                        || here
                            .iter()
                            .any(|part| part.1 <= true_rate && true_rate <= part.2),
                    "{at} {true_rate} {here:?}"
                );
            }
        }
        // Where the two corners meet exactly.
        let at = |x: f64| {
            band.iter()
                .filter(|part| part.0 == x)
                .copied()
                .collect::<Vec<_>>()
        };
        let step = at(0.1 + across);
        assert_eq!(step[0].1, 0.0);
        assert!((step[1].1 - 0.3).abs() < 1e-12);
    }
}
