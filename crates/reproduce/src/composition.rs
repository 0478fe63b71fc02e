//! Proposition 1: the worst pair of a channel and of two uses of it.

use super::{Comparison, FigureOutput, ReproduceOptions};
use leakgauge_base::error::Result;
use leakgauge_exact::channel::Channel;
use leakgauge_plot::{Axis, Caption, Heatmap, heatmap};
use leakgauge_plot::{Figure, Table};

/// The channel that the paper prints.
const PRINTED: [[f64; 3]; 4] = [
    [0.9, 0.1, 0.0],
    [0.8, 0.2, 0.0],
    [0.5, 0.5, 0.0],
    [0.5, 0.1, 0.4],
];
/// A channel whose worst pairs are unique and disjoint.
const STRICT: [[f64; 3]; 4] = [
    [0.2, 0.1, 0.7],
    [0.6, 0.0, 0.4],
    [0.7, 0.2, 0.1],
    [0.3, 0.5, 0.2],
];

/// The Bayes security of all pairs, and the worst pairs.
pub(super) struct Pairs {
    secrets: usize,
    /// (a, b, Bayes security), a < b.
    pub all: Vec<(usize, usize, f64)>,
    pub least: f64,
    /// All pairs that attain it.
    pub worst: Vec<(usize, usize)>,
}

impl Pairs {
    pub fn of(channel: &Channel) -> Pairs {
        let n = channel.secrets().len();
        let pairs = (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b)));
        let all: Vec<_> = pairs
            .map(|(a, b)| (a, b, channel.pair_bayes_security(a, b)))
            .collect();
        let least = all.iter().map(|pair| pair.2).fold(f64::INFINITY, f64::min);
        // Sums of a few products of decimals: a difference this small is rounding.
        let worst = all
            .iter()
            .filter(|pair| pair.2 <= least + 1e-12)
            .map(|&(a, b, _)| (a, b))
            .collect();
        Pairs {
            secrets: n,
            all,
            least,
            worst,
        }
    }

    fn named(&self) -> String {
        let pairs: Vec<String> = self
            .worst
            .iter()
            .map(|(a, b)| format!("(s{}, s{})", a + 1, b + 1))
            .collect();
        pairs.join(", ")
    }

    fn table(&self) -> Table {
        let mut table = Table::new(&["secret_a", "secret_b", "bayes_security", "worst"]);
        for &(a, b, security) in &self.all {
            let worst = if self.worst.contains(&(a, b)) {
                "yes"
            } else {
                "no"
            };
            table.push([
                format!("s{}", a + 1).into(),
                format!("s{}", b + 1).into(),
                security.into(),
                worst.into(),
            ]);
        }
        table
    }

    fn picture(&self, what: &str) -> String {
        let n = self.secrets;
        let labels: Vec<String> = (1..=n).map(|k| format!("s{k}")).collect();
        let mut values = vec![None; n * n];
        for &(a, b, security) in &self.all {
            values[a * n + b] = Some(security);
            values[b * n + a] = Some(security);
        }
        heatmap(&Heatmap {
            caption: Caption::new(
                format!("Bayes security of all pairs, {what}"),
                format!(
                    "The smallest, {:.2}, is attained at {}.",
                    self.least,
                    self.named()
                ),
            ),
            rows: labels.clone(),
            columns: labels,
            values,
            scale: Axis::linear("Bayes security of the pair").from_to(0.0, 1.0),
            row_label: "secret".to_owned(),
            column_label: "secret".to_owned(),
            marked: self
                .worst
                .iter()
                .flat_map(|&(a, b)| [(a, b), (b, a)])
                .collect(),
            low_is_bright: true,
            same_labels: true,
        })
    }
}

/// Once and twice, of the printed channel and of a strict one.
pub(super) fn proposition_1(_: &ReproduceOptions) -> Result<FigureOutput> {
    let pairs = |rows: &[[f64; 3]; 4]| -> Result<[Pairs; 2]> {
        let channel = Channel::from_rows(rows)?;
        Ok([Pairs::of(&channel), Pairs::of(&channel.parallel(&channel)?)])
    };
    let ([once, twice], [strict_once, strict_twice]) = (pairs(&PRINTED)?, pairs(&STRICT)?);
    let picture = |file: &'static str, pairs: &Pairs, what: &str| Figure {
        file,
        table: pairs.table(),
        svg: pairs.picture(what),
    };
    Ok(FigureOutput {
        comparisons: compare(&once, &twice),
        notes: vec![format!(
            "A strict counterexample has rows (0.2, 0.1, 0.7), (0.6, 0, 0.4), (0.7, 0.2, 0.1), (0.3, 0.5, 0.2): the only worst pair is {} for one use, with {:.2}, and {} for two uses, with {:.2}.",
            strict_once.named(),
            strict_once.least,
            strict_twice.named(),
            strict_twice.least
        )],
        pictures: vec![
            picture(
                "bayes-security-proposition-1-once",
                &once,
                "one use of the printed channel",
            ),
            picture(
                "bayes-security-proposition-1-twice",
                &twice,
                "two uses of the printed channel",
            ),
            picture(
                "bayes-security-proposition-1-strict-once",
                &strict_once,
                "one use of the strict channel",
            ),
            picture(
                "bayes-security-proposition-1-strict-twice",
                &strict_twice,
                "two uses of the strict channel",
            ),
        ],
    })
}

/// What the proof prints.
pub(super) fn numbers_proposition_1() -> Result<Vec<Comparison>> {
    let channel = Channel::from_rows(&PRINTED)?;
    let twice = channel.parallel(&channel)?;
    Ok(compare(&Pairs::of(&channel), &Pairs::of(&twice)))
}

fn compare(once: &Pairs, twice: &Pairs) -> Vec<Comparison> {
    let place = "Proposition 1";
    let unique = |pairs: &Pairs, pair| pairs.worst == [pair];
    let reason = "every minimizer of C‖C is also a minimizer of C here; the printed matrix shows only that some minimizer of C is not one of C‖C";
    vec![
        Comparison::number(place, "β*(C)", "0.6", once.least),
        Comparison::statement(
            place,
            "β*(C) is reached at",
            "(s1, s3)",
            &once.named(),
            unique(once, (0, 2)),
        )
        .because(reason),
        Comparison::number(place, "β*(C‖C)", "0.36", twice.least),
        Comparison::statement(
            place,
            "β*(C‖C) is reached at",
            "(s2, s4)",
            &twice.named(),
            unique(twice, (1, 3)),
        )
        .because(reason),
    ]
}
