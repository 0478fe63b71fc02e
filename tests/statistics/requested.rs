//! Do the limits of the figures on request cover: reconstructions and the leakage family of a log whose channel is
//! known?

use leakgauge::audit::{AuditOptions, Findings, PriorChoice, RequestedFigures, audit};
use leakgauge::estimate::Estimate;
use leakgauge::exact::channel::{Channel, Prior};
use leakgauge::log::{ReadOptions, read_from};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::quick::Rates;

const ALPHA: f64 = 0.05;
const KAPPAS: [f64; 2] = [0.03, 0.4];
const TRIES: [u64; 2] = [1, 2];
const ORDERS: [f64; 3] = [0.5, 2.0, f64::INFINITY];
const PRIOR: [f64; 4] = [0.4, 0.3, 0.2, 0.1];

/// Four secrets and six observations: one rare observation that speaks for the last secret; and secrets that look
/// alike.
fn channels() -> [(&'static str, Channel); 2] {
    let leaky = [
        [0.35, 0.25, 0.2, 0.1, 0.1, 0.0],
        [0.2, 0.35, 0.2, 0.15, 0.09, 0.01],
        [0.2, 0.2, 0.3, 0.2, 0.1, 0.0],
        [0.2, 0.2, 0.2, 0.2, 0.1, 0.1],
    ];
    let flat = [[0.3, 0.25, 0.2, 0.15, 0.07, 0.03]; 4];
    [
        ("leaky", Channel::from_rows(&leaky).expect("a channel")),
        ("no leak", Channel::from_rows(&flat).expect("a channel")),
    ]
}

fn found(channel: &Channel, rows: usize, replicate: u64) -> Findings {
    let mut rng = ChaCha8Rng::seed_from_u64(replicate);
    let mut csv = "secret,seen\n".to_owned();
    for _ in 0..rows {
        let secret = rng.random_range(0..4usize);
        let mut left = rng.random::<f64>();
        let at = channel.row(secret).iter().position(|p| {
            left -= p;
            left < 0.0
        });
        csv.push_str(&format!("s{secret},o{}\n", at.unwrap_or(0)));
    }
    let log = read_from(
        "log.csv",
        std::io::Cursor::new(csv),
        &ReadOptions::default(),
    );
    let prior = PRIOR.iter().enumerate();
    let options = AuditOptions {
        quick: true,
        prior: PriorChoice::Given(prior.map(|(at, p)| (format!("s{at}"), *p)).collect()),
        requested: RequestedFigures {
            payoff: None,
            reconstruction: KAPPAS.to_vec(),
            tries: TRIES.to_vec(),
            orders: ORDERS.to_vec(),
            order: 1,
        },
        ..AuditOptions::default()
    };
    audit(&log.expect("a log"), &options).expect("an audit")
}

/// Each figure with its exact value.
fn figures(channel: &Channel, found: &Findings) -> Vec<(String, Estimate, f64)> {
    let prior = Prior::new(PRIOR.to_vec()).expect("a prior");
    let mut all = Vec::new();
    for at in &found.reconstruction {
        let exact = channel
            .reconstruction(at.without)
            .expect("a success")
            .success;
        all.push((
            format!("reconstruction {}", at.without),
            at.success.clone(),
            exact,
        ));
    }
    let family = found.leakage_family.as_ref().expect("it was asked for");
    let mut add = |name: String, figure: &Estimate, exact: leakgauge::base::error::Result<f64>| {
        all.push((name, figure.clone(), exact.expect("an exact figure")));
    };
    add(
        "maximal leakage".into(),
        &family.maximal_leakage,
        channel.maximal_leakage(&prior),
    );
    let pointwise = channel.pointwise_maximal_leakage(&prior);
    let largest = pointwise.map(|all| all.into_iter().fold(0.0, f64::max));
    add(
        "pointwise".into(),
        &family.largest_pointwise_leakage,
        largest,
    );
    add(
        "guesswork".into(),
        &family.guesswork,
        channel.guesswork(&prior),
    );
    for at in &family.tries {
        let exact = channel.tries_vulnerability(&prior, at.tries);
        add(format!("{} tries", at.tries), &at.vulnerability, exact);
    }
    for at in &family.orders {
        let exact = channel.sibson_information(&prior, at.order);
        add(
            format!("Sibson {}", at.order),
            &at.sibson_information,
            exact,
        );
        if let Some(figure) = &at.maximal_alpha_leakage {
            let exact = channel.maximal_alpha_leakage(&prior, at.order);
            add(
                format!("alpha {}", at.order),
                figure,
                exact.map(|exact| exact.lower),
            );
        }
    }
    all
}

/// Whether each limit of each figure is wrong, beyond rounding; each holds at the level by itself.
fn wrong(channel: &Channel, found: &Findings) -> Vec<(String, bool)> {
    let rounding = 1e-9;
    let figures = figures(channel, found).into_iter();
    figures
        .flat_map(|(name, figure, exact)| {
            let above = figure.lower.is_some_and(|lower| lower > exact + rounding);
            let below = figure.upper.is_some_and(|upper| upper < exact - rounding);
            [
                (format!("{name}, at least"), above),
                (format!("{name}, at most"), below),
            ]
        })
        .collect()
}

#[test]
fn limits_on_request_cover_in_few_logs() {
    const LOGS: u64 = 40;
    // Three binomial standard deviations above the nominal rate.
    let n = LOGS as f64;
    let most = (n * ALPHA + 3.0 * (n * ALPHA * (1.0 - ALPHA)).sqrt()) as usize;
    for (name, channel) in channels() {
        let logs: Vec<_> = (0..LOGS)
            .into_par_iter()
            .map(|replicate| wrong(&channel, &found(&channel, 1_500, replicate)))
            .collect();
        for at in 0..logs[0].len() {
            let errors = logs.iter().filter(|log| log[at].1).count();
            println!("{name}: {} {errors} of {LOGS}", logs[0][at].0);
            assert!(
                errors <= most,
                "{name}: {} {errors} of {LOGS}",
                logs[0][at].0
            );
        }
    }
}

/// On a large log the limits are near the exact figures, and each estimate is between its limits.
#[test]
fn limits_on_request_close_in_on_the_exact_figures() {
    let (_, channel) = &channels()[0];
    let found = found(channel, 60_000, 7);
    for (name, figure, exact) in figures(channel, &found) {
        let (least, most) = (figure.lower, figure.upper);
        println!("{name}: {exact} {:?} [{least:?}, {most:?}]", figure.point);
        assert!(least.is_some_and(|least| least <= exact), "{name}");
        assert!(figure.point >= least, "{name}");
        let near = |limit: f64, by: f64| (limit - exact).abs() <= by;
        if ["reconstruction", "2 tries", "maximal leakage"]
            .iter()
            .any(|near| name.starts_with(near))
        {
            assert!(near(least.unwrap(), 0.06), "{name}");
            assert!(near(most.unwrap(), 0.06), "{name}");
        }
        if name == "pointwise" {
            assert!(near(least.unwrap(), 0.2) && most.is_none());
        }
        if name == "guesswork" {
            assert!(near(least.unwrap(), 0.06) && near(most.unwrap(), 0.06));
        }
    }
}

/// The rates of the quick suite.
pub fn quick() -> Vec<Rates> {
    let all = channels().into_iter();
    all.map(|(name, channel)| {
        let first = wrong(&channel, &found(&channel, 1_500, 0));
        Rates {
            case: format!("on request, {name}"),
            names: first.into_iter().map(|one| one.0).collect(),
            nominal: ALPHA,
            wrong: Box::new(move |seed| {
                let found = found(&channel, 1_500, seed);
                wrong(&channel, &found)
                    .into_iter()
                    .map(|one| one.1)
                    .collect()
            }),
        }
    })
    .collect()
}
