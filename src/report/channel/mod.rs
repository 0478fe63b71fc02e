//! The report about a channel.

mod figures;
mod number;
pub mod optimal;
mod questions;
mod refinement;

use self::figures::{DIGITS, Figure, between, prior_figures, single};
use self::number::number;
use crate::report::document::Document;
use crate::report::numbers::{plain_above, plain_below};
use leakgauge_exact::channel::{Analysis, AtLeast, CapacityBracket, Composition, MatrixForm};

/// The number of pairs in the table of worst pairs.
const LISTED_PAIRS: usize = 10;
/// The number of vertices of a trade-off curve that are listed.
const LISTED_CORNERS: usize = 20;

/// The whole report.
pub fn analysis(analysis: &Analysis) -> Document {
    let mut document = Document::default();
    let files: Vec<&str> = analysis.input.iter().map(|i| i.file.as_str()).collect();
    document.opening(&files.join(", "));
    document.heading("Summary");
    summary(&mut document, analysis);
    if let Some(refinement) = &analysis.refinement {
        refinement::witness(&mut document, refinement, &analysis.secrets);
    }
    document.heading("Figures");
    match &analysis.at_least {
        Some(least) => sides(&mut document, analysis, least),
        None => document.table(vec!["figure", "", "value"], 2, figures(analysis)),
    }
    if let (Some(matrix), 3..) = (&analysis.total_variation_matrix, analysis.secrets.len()) {
        document.heading("Worst pairs");
        pairs(&mut document, &analysis.secrets, matrix);
    }
    if !analysis.deltas.is_empty() {
        document.heading("Approximate differential privacy");
        let row = |at: &leakgauge_exact::channel::DeltaAt| {
            let [a, b] = at.secrets.clone();
            vec![a, b, number(at.epsilon), number(at.delta)]
        };
        let rows = analysis.deltas.iter().map(row).collect();
        document.table(
            vec!["more likely", "less likely", "epsilon", "delta"],
            2,
            rows,
        );
    }
    profile(&mut document, analysis);
    family(&mut document, analysis);
    trade_off(&mut document, analysis);
    payoffs(&mut document, analysis);
    questions::all(&mut document, analysis);
    document.heading("Input and method");
    document.list(method(analysis));
    document
}

fn summary(document: &mut Document, analysis: &Analysis) {
    let [a, b] = &analysis.worst_pair.secrets;
    let observations = match form(analysis) {
        MatrixForm::Whole => format!("{} observations", analysis.observations),
        MatrixForm::Between => "infinitely many observations".to_owned(),
        MatrixForm::Counted => "observations that are counted together".to_owned(),
    };
    document.paragraph(format!(
        "{} secrets, {observations}. {a} and {b} are the worst pair, the easiest to tell apart: Bayes \
         security {}, advantage of the optimal adversary {}.",
        analysis.secrets.len(),
        number(analysis.bayes_security),
        number(analysis.total_variation)
    ));
    let epsilon = match analysis.epsilon {
        Some(epsilon) => format!("The channel is {}-LDP.", number(epsilon)),
        None if form(analysis) == MatrixForm::Between
            || analysis.input.iter().any(|input| input.merged_probability > 0.0) =>
        {
            "The channel has no finite epsilon of local differential privacy: its likelihood ratios have no limit."
                .to_owned()
        }
        None => "The channel has no finite epsilon of local differential privacy: some observation is impossible \
                 under one secret and possible under another."
            .to_owned(),
    };
    document.paragraph(epsilon);
    if let Some(composition) = &analysis.composition {
        document.paragraph(composed(composition, analysis.bayes_security));
        document.paragraph(format!(
            "The multiplicative capacities of its parts guarantee at most {}; it has {}.",
            number(composition.guaranteed_capacity),
            number(analysis.capacity)
        ));
    }
    if let Some(refinement) = &analysis.refinement {
        document.paragraph(refinement::refined(refinement));
    }
}

fn composed(composition: &Composition, reached: f64) -> String {
    let parts = &composition.parts_bayes_security;
    let parts: Vec<String> = parts.iter().map(|x| number(*x)).collect();
    let what = match composition.kind {
        Some(kind) => format!("{kind} composition"),
        None => "channel".to_owned(),
    };
    let times = match composition.repeat {
        1 => String::new(),
        n => format!(", repeated {n} times"),
    };
    format!(
        "These are the figures of the {what}{times}. Its parts have Bayes security {}, which guarantees at \
         least {}; it has {}{}.",
        parts.join(", "),
        number(composition.guaranteed_bayes_security),
        number(reached),
        if composition.tight {
            ", so the guarantee is tight"
        } else {
            ""
        }
    )
}

fn form(analysis: &Analysis) -> MatrixForm {
    analysis
        .input
        .first()
        .map_or(MatrixForm::Whole, |input| input.form)
}

fn figures(analysis: &Analysis) -> Vec<Vec<String>> {
    let rows = prior_figures(&analysis.at_prior)
        .into_iter()
        .chain(channel_figures(analysis))
        .chain(limits(&analysis.shannon_capacity))
        .chain([epsilon(analysis)]);
    rows.map(single).collect()
}

/// Figures between those of two matrices, rounded outward, and the others on both sides.
fn sides(document: &mut Document, analysis: &Analysis, least: &AtLeast) {
    let most = prior_figures(&analysis.at_prior).into_iter();
    let row = |(one, other)| between(one, other);
    let mut rows: Vec<Vec<String>> = most.zip(prior_figures(&least.at_prior)).map(row).collect();
    rows.extend(channel_figures(analysis).map(|figure| row((figure, figure))));
    rows.push(vec![
        "Shannon capacity".to_owned(),
        "bits".to_owned(),
        plain_below(least.shannon_capacity.lower_bits, DIGITS),
        plain_above(analysis.shannon_capacity.upper_bits, DIGITS),
    ]);
    rows.push(row((epsilon(analysis), epsilon(analysis))));
    document.table(vec!["figure", "", "at least", "at most"], 2, rows);
}

fn channel_figures(analysis: &Analysis) -> [Figure; 4] {
    [
        (
            "Bayes security",
            "smallest over all priors",
            Ok(analysis.bayes_security),
        ),
        (
            "total variation",
            "largest of all pairs",
            Ok(analysis.total_variation),
        ),
        (
            "multiplicative capacity",
            "largest over all priors",
            Ok(analysis.capacity),
        ),
        (
            "min-entropy capacity",
            "bits",
            Ok(analysis.min_entropy_capacity_bits),
        ),
    ]
}

fn epsilon(analysis: &Analysis) -> Figure {
    let value = analysis.epsilon.ok_or("infinite");
    ("epsilon", "LDP, natural logarithm", value)
}

fn limits(shannon: &CapacityBracket) -> [Figure; 2] {
    [
        (
            "Shannon capacity at least",
            "bits, certified",
            Ok(shannon.lower_bits),
        ),
        (
            "Shannon capacity at most",
            "bits, certified",
            Ok(shannon.upper_bits),
        ),
    ]
}

fn pairs(document: &mut Document, secrets: &[String], matrix: &[Vec<f64>]) {
    let above = |a: usize| (a + 1..secrets.len()).map(move |b| (matrix[a][b], a, b));
    let mut pairs: Vec<(f64, usize, usize)> = (0..secrets.len()).flat_map(above).collect();
    pairs.sort_by(|x, y| y.0.total_cmp(&x.0));
    let rows = pairs.iter().take(LISTED_PAIRS);
    let rows = rows.map(|&(tv, a, b)| vec![secrets[a].clone(), secrets[b].clone(), number(tv)]);
    document.table(
        vec!["secret", "secret", "total variation"],
        2,
        rows.collect(),
    );
    if pairs.len() > LISTED_PAIRS {
        document.paragraph(format!("The first {LISTED_PAIRS} of {}.", pairs.len()));
    }
}

fn profile(document: &mut Document, analysis: &Analysis) {
    let infinite = |figure: Option<f64>| figure.map_or("infinite".to_owned(), number);
    let at = analysis.reconstruction.iter();
    let mut rows: Vec<Vec<String>> = at
        .map(|at| {
            let without = format!("without the secret {}", number(at.without));
            let what = "success of a reconstruction, at most".to_owned();
            vec![what, without, number(at.success)]
        })
        .collect();
    if let Some(found) = &analysis.profile {
        for (what, name, figure) in [
            (
                "zero-concentrated differential privacy",
                "rho",
                found.zcdp_rho,
            ),
            ("Gaussian differential privacy", "mu", found.gdp_mu),
        ] {
            rows.push(vec![what.to_owned(), name.to_owned(), infinite(figure)]);
        }
    }
    if !rows.is_empty() {
        document.heading("Worst ordered pairs of secrets");
        document.table(vec!["figure", "", "value"], 2, rows);
    }
}

fn family(document: &mut Document, analysis: &Analysis) {
    let found = &analysis.leakage_family;
    if found.tries.is_empty() && found.orders.is_empty() {
        return;
    }
    document.heading("Leakage family");
    let bits = |nats: f64| number(nats / std::f64::consts::LN_2);
    let mut rows = vec![
        vec![
            "maximal leakage".to_owned(),
            "bits".to_owned(),
            bits(found.maximal_leakage),
        ],
        vec![
            "largest pointwise maximal leakage".to_owned(),
            format!("bits, of observation {}", found.most_leaking_observation),
            bits(found.largest_pointwise_leakage),
        ],
        vec![
            "expected guesses".to_owned(),
            "without observation".to_owned(),
            number(found.prior_guesswork),
        ],
        vec![
            "expected guesses".to_owned(),
            "with observation".to_owned(),
            number(found.guesswork),
        ],
    ];
    rows.extend(found.tries.iter().map(|at| {
        vec![
            super::requested::right_in(at.tries),
            format!("without observation {}", number(at.prior_vulnerability)),
            number(at.vulnerability),
        ]
    }));
    for at in &found.orders {
        let order = if at.order.is_finite() {
            number(at.order)
        } else {
            "infinity".to_owned()
        };
        rows.push(vec![
            format!("Sibson information of order {order}"),
            "bits".to_owned(),
            bits(at.sibson_information),
        ]);
        let limits = at.maximal_alpha_leakage.iter();
        rows.extend(limits.map(|limits| {
            vec![
                format!("maximal alpha-leakage of order {order}"),
                format!("bits, at least {}", bits(limits.lower)),
                bits(limits.upper),
            ]
        }));
        if at.order >= 1.0 {
            rows.push(vec![
                format!("Rényi divergence of order {order}"),
                "nats, largest of all pairs".to_owned(),
                at.renyi_divergence.map_or("infinite".to_owned(), number),
            ]);
        }
    }
    document.table(vec!["figure", "", "value"], 2, rows);
}

fn trade_off(document: &mut Document, analysis: &Analysis) {
    let Some(pair) = &analysis.pair else { return };
    let [a, b] = &pair.figures.secrets;
    document.heading(format!("Distinguishing {a} from {b}"));
    document.paragraph(format!(
        "Bayes security {}, total variation {}, epsilon {}. The optimal tests, where positive means {b}:",
        number(pair.figures.bayes_security),
        number(pair.figures.total_variation),
        pair.figures.epsilon.map_or("infinite".to_owned(), number)
    ));
    let points = &pair.trade_off.points;
    let rows = points.iter().take(LISTED_CORNERS);
    let rows = rows.map(|p| vec![number(p.false_positive), number(p.false_negative)]);
    document.table(
        vec!["false positives", "false negatives"],
        0,
        rows.collect(),
    );
    if points.len() > LISTED_CORNERS {
        document.paragraph(format!(
            "The first {LISTED_CORNERS} of {} vertices.",
            points.len()
        ));
    }
}

fn payoffs(document: &mut Document, analysis: &Analysis) {
    let ratio = |value: Option<f64>| value.map_or("n/a".to_owned(), number);
    if let Some(gain) = &analysis.gain {
        document.heading("Under the given gain");
        document.list(vec![
            format!("Without observation: {}.", number(gain.prior_vulnerability)),
            format!("With observation: {}.", number(gain.vulnerability)),
            format!(
                "Multiplicative g-leakage: {}.",
                ratio(gain.multiplicative_leakage)
            ),
        ]);
    }
    if let Some(loss) = &analysis.loss {
        document.heading("Under the given loss");
        document.list(vec![
            format!("Without observation: {}.", number(loss.prior_risk)),
            format!("With observation: {}.", number(loss.risk)),
            format!("Ratio: {}.", ratio(loss.risk_leakage)),
        ]);
    }
}

fn method(analysis: &Analysis) -> Vec<String> {
    let mut items = Vec::new();
    for input in &analysis.input {
        if input.written_out {
            let mut text = format!("{}: {}", input.file, written_out(input.form));
            if input.merged_probability > 0.0 {
                text += &format!(
                    " The observations on either side of a range count as one, so that figures are lower limits of the \
                     leakage; no probability of an event differs by more than {}.",
                    number(input.merged_probability)
                );
            }
            items.push(text);
            continue;
        }
        let header = if input.header {
            "row 1 names the columns"
        } else {
            "row 1 is data"
        };
        let labels = if input.labels {
            "column 1 names the rows"
        } else {
            "column 1 is data"
        };
        let mut text = format!("{}: {header}, {labels}.", input.file);
        if input.normalized_rows > 0 {
            text.push_str(&format!(" {} rows were normalized.", input.normalized_rows));
        }
        items.push(text);
    }
    let search = &analysis.search;
    items.push(format!(
        "The {} algorithm found the worst pair: of {} pairs, {} were compared exactly, {} of them completely \
         ({:.3} % of all entries).",
        match search.method {
            leakgauge_exact::channel::SearchMethod::Embedding => "embedding",
            leakgauge_exact::channel::SearchMethod::Pruned => "pruned",
            _ => "direct",
        },
        search.pairs,
        search.pairs_evaluated,
        search.pairs_evaluated_in_full,
        100.0 * search.share_of_entries
    ));
    let mean = &analysis.bayes_security_bounds.mean_row;
    items.push(format!(
        "The mean row alone (Proposition 5) shows that Bayes security is between {} and {}.",
        number(mean.lower.max(0.0)),
        mean.upper.map_or("1".to_owned(), number)
    ));
    items.push(
        match form(analysis) {
            MatrixForm::Whole => "All figures are exact for this matrix, not estimates.",
            MatrixForm::Between => {
                "Figures of pairs of secrets and the multiplicative capacity are exact. Those at the prior, of the leakage \
                 family, of a gain or a loss lie between the figures of both matrices: where one value is shown, it is that \
                 of the matrix that leaks at least as much."
            }
            MatrixForm::Counted => "All figures are exact for the uniform prior, not estimates.",
        }
        .to_owned(),
    );
    items
}

/// How the matrix of a mechanism was made.
fn written_out(form: MatrixForm) -> &'static str {
    match form {
        MatrixForm::Whole => "probabilities computed from the mechanism.",
        MatrixForm::Between => {
            "two matrices computed from the mechanism. One tells only in which cell of the line, or of the likelihood \
             ratio, the observation is, and leaks at most as much; from the other the observation can be drawn, so that it \
             leaks at least as much."
        }
        MatrixForm::Counted => {
            "observations that name as many labels are alike, so that a matrix with a few of them has the same figures."
        }
    }
}
